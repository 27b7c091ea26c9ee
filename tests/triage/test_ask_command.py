"""The command itself, in a process of its own: where its text comes from, what it prints, when it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sleuth.triage import KINDS

ERROR = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x10 and 20x5)"
PRINT_MODULES = "import sys; from sleuth.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"


def sleuth(*arguments: str, text: str | bytes = "", folder: Path | None = None, **variables: str) -> Any:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **variables}
    data = text if isinstance(text, bytes) else text.encode()
    command = [sys.executable, "-m", "sleuth", "ask", *arguments]
    return subprocess.run(command, input=data, env=environment, cwd=folder, capture_output=True, check=False)


def answer(*arguments: str, text: str = "", folder: Path | None = None) -> Any:
    done = sleuth("--format", "json", *arguments, text=text, folder=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def test_the_text_is_an_argument_a_file_or_standard_input(tmp_path: Path) -> None:
    (tmp_path / "error.log").write_text(ERROR)
    told = [
        answer(ERROR),
        answer(*ERROR.split()),
        answer("error.log", folder=tmp_path),
        answer("-", text=ERROR),
        answer(text=ERROR),
    ]
    assert all(one == told[0] for one in told)
    assert told[0]["diagnoses"][0]["name"] == "linear-size-mismatch"


def test_the_json_has_the_fields_that_others_rely_on() -> None:
    data = answer(ERROR)
    assert data["schema"] == 1
    assert data["kind"] == "program-crash"
    assert set(data["probabilities"]) == set(KINDS)
    assert set(data["diagnoses"][0]) == {"name", "title", "why", "score", "matched", "page"}
    assert data["diagnoses"][0]["page"] == "sleuth explain linear-size-mismatch"
    assert set(data["next"][0]) == {"command", "why"}
    assert data["signature"]["name"] == "matmul-shapes"


def test_a_path_of_windows_in_a_line_has_no_new_line_in_it(tmp_path: Path) -> None:
    frame = r'File "C:\nets\new.py", line 3, in forward'
    library = r'File "C:\env\lib\site-packages\torch\nn\functional.py", line 9, in linear'
    (tmp_path / "lines").write_text(rf"Traceback (most recent call last):\n  {frame}\n  {library}\n{ERROR}" + "\n")
    done = sleuth("--lines", "lines", folder=tmp_path)
    assert json.loads(done.stdout)["place"] == {"path": r"C:\nets\new.py", "line": 3}


def test_for_a_person_it_says_what_why_and_what_next() -> None:
    shown = sleuth(ERROR).stdout.decode()
    for words in (
        "Kind: program-crash",
        "(64x10 and 20x5)",
        "rows of 20",
        "linear-size-mismatch",
        "sleuth dry train.py",
    ):
        assert words in shown
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_colours_come_only_when_asked_for() -> None:
    done = sleuth(ERROR, NO_COLOR="", FORCE_COLOR="1")
    assert b"\x1b[" in done.stdout


def test_nothing_that_fits_is_said_plainly() -> None:
    assert b"No diagnosis fits" in sleuth("How do I slice a tensor by another tensor?").stdout


def test_a_text_about_something_else_gets_one_line_and_no_kind() -> None:
    shown = sleuth("What is the best pizza in Rome?", COLUMNS="200").stdout
    assert shown.startswith(b"This does not seem to be about a deep-learning program")
    assert shown.count(b"\n") == 1
    assert answer("What is the best pizza in Rome?")["off_topic"] is True


def test_lines_give_an_answer_each_blank_ones_too(tmp_path: Path) -> None:
    lines = ["my loss is nan", "", ERROR.replace("RuntimeError", r"Traceback (most recent call last):\nRuntimeError")]
    (tmp_path / "texts.txt").write_text("\n".join(lines) + "\n")
    for done in (sleuth("--lines", str(tmp_path / "texts.txt")), sleuth("--lines", "-", text="\n".join(lines) + "\n")):
        assert done.returncode == 0
        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(told) == 3
        assert told[0]["signature"]["name"] == "nan-loss"
        assert told[1]["diagnoses"] == []
        assert told[2]["signature"]["name"] == "matmul-shapes"


@pytest.mark.parametrize(
    ("arguments", "text", "words"),
    [
        (["no/such/file.log"], "", "No such file"),
        (["--lines", "nothing.txt"], "", "No such file"),
        (["   "], "", "no text"),
        (["-"], "", "no text"),
        ([], "", "no text"),
        (["--lines", "a.txt", "more"], "", "leave the other text out"),
    ],
)
def test_without_a_text_it_refuses_in_one_line(arguments: list[str], text: str, words: str, tmp_path: Path) -> None:
    done = sleuth(*arguments, text=text, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert words in done.stderr.decode()


def test_a_folder_and_a_binary_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(b"PK\x03\x04\x00\x00\x00")
    for name, words in ((str(tmp_path), "is a folder"), (str(tmp_path / "model.pt"), "is not text")):
        done = sleuth(name)
        assert done.returncode == 2
        assert words in done.stderr.decode()


def test_text_of_windows_and_text_that_is_not_utf8_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(ERROR.encode("utf-16"))
    (tmp_path / "b.log").write_bytes(b"\xff\xfa caf\xe9\r\n" + ERROR.encode())
    for name in ("a.log", "b.log"):
        assert answer(name, folder=tmp_path)["signature"]["name"] == "matmul-shapes"


def test_what_steers_a_terminal_is_not_passed_on() -> None:
    shown = sleuth("KeyError: 'a\x1b]0;title\x07\x1b[31m'").stdout
    assert b"\x1b" not in shown


def test_neither_a_framework_nor_numpy_nor_rich_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_MODULES, "ask", ERROR], capture_output=True, text=True, check=True
    )
    assert not {"torch", "numpy", "rich", "jax", "keras"} & set(done.stderr.split())


def test_a_program_is_for_another_command(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n")
    done = sleuth("train.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"sleuth check train.py" in done.stderr
    assert done.stderr.count(b"\n") == 1
