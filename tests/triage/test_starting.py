"""What to run is started as the program was: a module as one, ranks by their launcher, a notebook by itself."""

from __future__ import annotations

import pytest

from sleuth.triage import ask

RUNPY = """\
Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
  File "<frozen runpy>", line 88, in _run_code
"""
OLD_RUNPY = RUNPY.replace("<frozen runpy>", "/usr/lib/python3.10/runpy.py")
ERROR = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (16x4608 and 9216x256)\n"
RELATIVE = "ImportError: attempted relative import with no known parent package\n"


def commands(text: str) -> list[str]:
    return [step.command for step in ask(text).next]


def frame(path: str, function: str = "<module>") -> str:
    return f'  File "{path}", line 8, in {function}\n    main()\n'


@pytest.mark.parametrize("beginning", [RUNPY, OLD_RUNPY])
def test_a_traceback_through_runpy_is_that_of_a_module(beginning: str) -> None:
    text = beginning + frame("/w/nets/fit.py") + frame("/w/nets/model.py", "forward") + ERROR
    assert commands(text) == ["sleuth check /w/nets/model.py", "sleuth dry -m nets.fit"]


def test_the_module_is_found_from_the_folder_that_its_files_share() -> None:
    assert "sleuth dry -m a.b.fit" in commands(RUNPY + frame("/w/a/b/fit.py") + frame("/w/c/net.py", "forward") + ERROR)
    assert "sleuth dry -m nets" in commands(RUNPY + frame("/w/nets/__main__.py") + ERROR)


def test_a_tool_that_is_a_module_is_not_the_program() -> None:
    tool = frame("/venv/lib/python3.11/site-packages/pytest/__main__.py")
    assert not any(" -m " in line for line in commands(RUNPY + tool + frame("/w/tests/test_x.py", "test_x") + ERROR))
    assert commands("$ python -m pip install torch\n$ python -m nets.fit\nloss: nan") == ["sleuth run -m nets.fit"]


def test_the_command_that_was_typed_says_more_than_the_traceback() -> None:
    text = f"$ python -m src.nets.fit --lr 3\n{OLD_RUNPY}{frame('/w/src/nets/fit.py')}{ERROR}"
    assert "sleuth dry -m src.nets.fit --lr 3" in commands(text)


def test_words_after_a_command_in_a_sentence_are_not_its_arguments() -> None:
    assert (
        commands("I run python tools/fit.py --fast and the loss is nan after 10 steps")[0] == "sleuth run tools/fit.py"
    )


def test_a_script_with_a_relative_import_is_started_as_a_module() -> None:
    assert commands(f"Traceback (most recent call last):\n{frame('/w/nets/fit.py')}{RELATIVE}") == [
        "python -m nets.fit",
        "sleuth run -m nets.fit",
    ]


def test_a_launcher_stays_in_front() -> None:
    started = "$ torchrun --standalone --nproc_per_node=4 train.py --lr 3\n"
    assert commands(f"{started}loss: nan") == ["sleuth run torchrun --standalone --nproc_per_node=4 train.py --lr 3"]
    assert "sleuth dry --ranks 4 train.py --lr 3" in commands(
        f"{started}Traceback (most recent call last):\n{frame('/w/train.py')}{ERROR}"
    )


@pytest.mark.parametrize(
    "cell", ["Cell In[3], line 4", "/tmp/ipykernel_33/85.py in <module>", "<ipython-input-3-a> in f"]
)
def test_in_a_notebook_the_cell_is_watched_and_the_notebook_read(cell: str) -> None:
    text = f"ValueError      Traceback (most recent call last)\n{cell}\n----> 4 fit()\n\n"
    nan = ask(f"{text}RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.\n")
    assert [step.command for step in nan.next] == ["with sleuth.watch():"]
    assert "sleuth check notebook.ipynb" in commands(text + ERROR)
    assert not any("ipykernel" in line or "Cell" in line or "ipython-input" in line for line in commands(text + ERROR))
