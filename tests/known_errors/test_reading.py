"""What terminals, launchers and notebooks put around an error is taken off, and the user's own lines are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.known_errors import Frame
from sleuth.known_errors.reading import cleaned, read

ERROR = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"
TRACEBACK = f"""\
Traceback (most recent call last):
  File "train.py", line 31, in <module>
    main()
  File "/home/me/project/net.py", line 7, in forward
    return self.fc(x)
  File "/home/me/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 117, in forward
    return F.linear(input, self.weight, self.bias)
{ERROR}
"""


def test_the_users_own_lines_are_found_and_those_of_libraries_are_not() -> None:
    assert read(TRACEBACK).frames == (
        Frame("train.py", 31, "<module>"),
        Frame("/home/me/project/net.py", 7, "forward"),
    )


@pytest.mark.parametrize(
    "path",
    [
        "/usr/lib/python3.10/runpy.py",
        r"C:\Users\me\anaconda3\lib\site-packages\keras\engine\training.py",
        r"C:\Python311\Lib\multiprocessing\spawn.py",
        r"C:\Users\me\anaconda3\envs\nets\lib\multiprocessing\reduction.py",
        r"D:\Python37\lib\threading.py",
        "/opt/conda/lib/python3.9/threading.py",
        "<frozen importlib._bootstrap>",
        "<string>",
        "/home/me/venv/bin/torchrun",
        "/usr/local/lib/python3.7/dist-packages/tensorflow/python/eager/execute.py",
    ],
)
def test_a_line_of_a_library_is_not_the_users(path: str) -> None:
    assert read(f'Traceback (most recent call last):\n  File "{path}", line 3, in run\n{ERROR}\n').frames == ()


@pytest.mark.parametrize(
    "prefix",
    ["[rank0]: ", "[default0]:", "(RayTrainWorker pid=123) ", "> ", "E   ", "2024-05-01 10:00:00,123 - ERROR - "],
)
def test_what_launchers_put_before_each_line_is_taken_off(prefix: str) -> None:
    text = "".join(prefix + line for line in TRACEBACK.splitlines(keepends=True))
    reading = read(text)
    assert reading.frames == read(TRACEBACK).frames
    assert reading.text[slice(*reading.statements[-1])].startswith("RuntimeError: mat1")


def test_colours_and_windows_line_ends_are_taken_off() -> None:
    assert cleaned("\x1b[1;31mRuntimeError\x1b[0m: boom\r\n") == "RuntimeError: boom\n"


def test_what_web_pages_make_of_quotes_is_undone() -> None:
    assert cleaned("can\u2019t convert &lt;class &#39;str&#39;&gt;\u00a0x") == "can't convert <class 'str'> x"


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("Cell In[3], line 5\n      3 a\n----> 5 model(x)\n", Frame("In[3]", 5)),
        (
            "<ipython-input-14-978ff02f3639> in <module>()\n      4   a\n----> 5     train_step(x)\n",
            Frame("<ipython-input-14-978ff02f3639>", 5, "<module>"),
        ),
        (
            "File ~/project/net.py:12, in Net.forward(self, x)\n---> 12 return self.fc(x)\n",
            Frame("~/project/net.py", 12, "Net.forward"),
        ),
        (
            "File c:\\work\\net.py:12, in Net.forward(self, x)\n---> 12 return self.fc(x)\n",
            Frame("c:\\work\\net.py", 12, "Net.forward"),
        ),
    ],
)
def test_the_frames_of_a_notebook_are_found(text: str, frame: Frame) -> None:
    assert read(f"{text}\n{ERROR}\n").frames == (frame,)


def test_the_frames_that_rich_draws_are_found() -> None:
    text = f"""\
[rank0]: ╭───────────── Traceback (most recent call last) ─────────────╮
[rank0]: │ /home/ann/finetune.py:470 in main                            │
[rank0]: │                                                              │
[rank0]: │   469 │   model.train()                                      │
[rank0]: │ ❱ 470 │   trainer.train()                                    │
[rank0]: │                                                              │
[rank0]: │ /venv/lib/python3.10/site-packages/transformers/trainer.py:7 in train │
[rank0]: │ ❱ 7 │   return inner_training_loop(                          │
[rank0]: ╰──────────────────────────────────────────────────────────────╯
[rank0]: {ERROR}
"""
    reading = read(text)
    assert reading.frames == (Frame("/home/ann/finetune.py", 470, "main"),)
    assert reading.has_traceback
    assert reading.text[slice(*reading.statements[-1])].startswith("RuntimeError: mat1")


def test_the_traceback_of_a_notebook_is_one() -> None:
    assert read("OddError                 Traceback (most recent call last)\nIn[3]\nOddError: boom\n").has_traceback


def test_the_last_traceback_with_a_line_of_the_user_is_the_one() -> None:
    worker = f"""\
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    for x in loader:
Original Traceback (most recent call last):
  File "/x/site-packages/torch/utils/data/_utils/worker.py", line 1, in _worker_loop
  File "data.py", line 4, in __getitem__
{ERROR}
"""
    assert read(worker).frames[-1] == Frame("data.py", 4, "__getitem__")


@given(st.text(max_size=300))
def test_no_text_is_too_strange_to_read(text: str) -> None:
    reading = read(text)
    assert all(0 <= start < end <= len(reading.text) for start, end in reading.statements)


def test_of_a_very_long_log_the_end_is_kept() -> None:
    text = "step 1 loss 0.5\n" * 500_000 + ERROR
    assert cleaned(text).endswith(ERROR)
    assert len(cleaned(text)) < len(text)


def test_a_file_below_the_folder_one_is_in_is_named_as_one_would_type_it(tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    text = (
        "Traceback (most recent call last):\n"
        f'  File "{tmp_path}/train.py", line 3, in <module>\n    step()\n'
        f'  File "{tmp_path}/gone.py", line 9, in step\n    x\n'
        "ValueError: no\n"
    )
    assert [frame.path for frame in read(text).frames] == ["train.py", f"{tmp_path}/gone.py"]
