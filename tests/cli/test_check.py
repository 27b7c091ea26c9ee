"""`sleuth check` as a command: real processes, real files, a pretend engine behind it."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[1] / "source" / "pretend_engine.py"
BOOT = """\
import importlib.util, sys
sys.argv[0], engine, pages = "sleuth", sys.argv.pop(1), sys.argv.pop(1)
spec = importlib.util.spec_from_file_location("pretend_engine", engine)
pretend = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pretend)
pretend.install()
import sleuth.handbook
sleuth.handbook.PAGES = pages
from sleuth.cli import main
sys.exit(main())
"""
BOTH = "import x\nold(1)\nrisky(2)\nadvice(3)\n"


@pytest.fixture(scope="module")
def handbook_pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name in (
        "advice-call",
        "old-call",
        "risky-call",
        "spoilt-call",
        "stubborn-call",
        "swinging-call",
        "wrapped-call",
    ):
        matter = f'+++\ntitle = "a call of {name[:-5]}"\nkind = "implementation"\nroot_cause = "api-misuse"\n'
        matter += 'stage = "model-training"\neffect = "crash"\nengines = ["source"]\nreferences = []\n+++\n'
        (folder / f"{name}.md").write_text(matter + "## What it means\n\nSomething.\n")
    (folder / "seen-in-a-run.md").write_text(matter + "## What it means\n\nSomething.\n")
    return folder


@pytest.fixture
def words(handbook_pages):
    """The words that start `sleuth check`."""
    return lambda *arguments: [sys.executable, "-c", BOOT, str(ENGINE), str(handbook_pages), "check", *arguments]


@pytest.fixture
def check(words, environment, tmp_path):
    """Runs `sleuth check` with these arguments in a folder of its own."""

    def run(*arguments, cwd=tmp_path, input=None, text=True, **variables):
        encoding = {"encoding": "utf-8"} if text else {}
        return subprocess.run(
            words(*arguments),
            cwd=cwd,
            env={**environment, **variables},
            input=input,
            capture_output=True,
            timeout=600,
            **encoding,
        )

    return run


@pytest.fixture
def write(tmp_path):
    def write(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")

    return write


def test_a_fault_is_told_in_a_few_lines_and_the_status_is_1(check, write):
    write(a=BOTH)
    shown = check()
    assert shown.returncode == 1
    assert shown.stderr == ""
    assert shown.stdout == (
        "-- Certain -----------------------------------------------------------------------------------------\n"
        "\n"
        "error[old-call]: old is called\n"
        "  --> a.py:2:1\n"
        "  2 | old(1)\n"
        "    | ^^^^^^\n"
        "    `- a.py:2:1  old(1)\n"
        "       it is called here\n"
        "  Try: write new\n"
        "    -old(1)\n"
        "    +new(1)\n"
        "\n"
        "-- Likely ------------------------------------------------------------------------------------------\n"
        "\n"
        "warning[risky-call]: risky is called\n"
        "  --> a.py:3:1\n"
        "  3 | risky(2)\n"
        "    | ^^^^^^^^\n"
        "    `- a.py:3:1  risky(2)\n"
        "       it is called here\n"
        "  Try: write calm (not tried)\n"
        "    -risky(2)\n"
        "    +calm(2)\n"
        "\n"
        "1 error, 1 warning, 0 notes in 1 file; 1 can be fixed with --fix; 1 more with --unsafe-fixes; "
        "1 hint not shown (--hints)\n"
        "More: sleuth explain old-call; the other names in brackets have pages, too\n"
    )


def test_healthy_files_get_one_line_on_stderr_and_status_0(check, write):
    write(a="x = 1\n", b="y = 2\n")
    shown = check()
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "", "sleuth: nothing found in 2 files\n")


def test_a_folder_without_python_is_fine(check):
    shown = check()
    assert (shown.returncode, shown.stderr) == (0, "sleuth: nothing found in 0 files\n")


def test_hints_are_shown_on_request_apart_from_the_rest(check, write):
    write(a="advice(1)\n", b="old(1)\n")
    assert check("a.py").returncode == 0
    shown = check("--hints", "--format", "concise")
    assert shown.stdout == (
        "b.py:1:1: error[old-call] old is called\n"
        "a.py:1:1: note[advice-call] advice is called\n"
        "1 error, 0 warnings, 1 note in 2 files; 1 can be fixed with --fix\n"
    )
    assert check("--hints", "a.py").returncode == 0


def test_a_file_that_is_not_python_is_named_and_passed_by(check, write):
    write(a="x = (\n", b="old(1)\n")
    shown = check("--format", "concise")
    assert shown.returncode == 1
    assert shown.stderr == "sleuth: a.py:1:5: syntax error: '(' was never closed\n"
    assert shown.stdout.endswith("1 can be fixed with --fix; 1 file could not be read\n")
    told = json.loads(check("--format", "json").stdout)
    assert told["problems"] == ["a.py:1:5: syntax error: '(' was never closed"]
    (invocation,) = json.loads(check("--format", "sarif").stdout)["runs"][0]["invocations"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == told["problems"][0]


def test_a_file_that_was_named_and_is_not_python_is_status_2(check, write):
    write(a="x = (\n", b="old(1)\n")
    alone = check("a.py")
    assert alone.returncode == 2
    assert alone.stderr.endswith("sleuth: nothing found in 0 files; 1 file could not be read\n")
    assert check("a.py", "b.py").returncode == 2
    assert check("b.py", ".").returncode == 1


def test_what_gitignore_leaves_out_is_told_in_the_last_line(check, write, tmp_path):
    write(a="x = 1\n", b="old(1)\n")
    (tmp_path / ".gitignore").write_text("b.py\n")
    shown = check()
    assert (shown.returncode, shown.stderr) == (0, "sleuth: nothing found in 1 file; left out by .gitignore: b.py\n")
    assert check("-q").stderr == ""
    assert "left out" not in check("b.py").stdout


def test_an_error_of_ours_is_said_and_not_taken_for_health(check, write):
    write(a="explode(1)\n", b="x = 1\n")
    for _ in range(2):
        shown = check()
        assert shown.returncode == 2
        assert shown.stderr == (
            "sleuth: a.py could not be examined: KeyError inside Sleuth: 'a bug of ours'\n"
            "sleuth: nothing found in 1 file; 1 file could not be read\n"
        )
    write(b="old(1)\n")
    assert check().returncode == 1
    assert "Traceback" in check(SLEUTH_DEBUG="1").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such file or folder"),
        (["--select", "old-cal"], "--select: there is no diagnosis called 'old-cal'; did you mean old-call"),
        (["--select", "seen-in-a-run"], "--select: seen-in-a-run does not show in the source"),
        (["--ignore", "zzz"], "--ignore: there is no diagnosis called 'zzz'"),
        (["--jobs", "0"], "--jobs must be a whole number, 1 or more, not 0"),
        (["--jobs", "x"], "argument --jobs: invalid int value: 'x'"),
        (["--target", "torch"], "--target: 'torch' is not a library and its version, such as torch==2.1"),
        (["--baseline", "none.json"], "none.json: no such baseline; --write-baseline makes it"),
        (["--write-baseline"], "name the file to write: --baseline FILE --write-baseline"),
        (["--diff", "--format", "json"], "--diff is a format of its own"),
        (["--statistics", "--format", "sarif"], "--statistics goes with the formats terminal, concise and json"),
        (["--watch", "--fix"], "--watch only looks: leave out what writes"),
        (["-", "a.py"], "- is standard input, and goes alone"),
        (["--stdin-filename", "a.py"], "--stdin-filename names the text that - reads: add -"),
        (["--output", "no/such/folder/x"], "cannot write the report to no/such/folder/x: No such file or directory"),
        (["--format", "xml"], "argument --format: invalid choice: 'xml'"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line_and_status_2(check, write, arguments, message):
    write(a="old(1)\n")
    shown = check(*arguments, input="")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith(f"sleuth: {message}")
    assert shown.stderr.count("\n") == 1


def test_diagnoses_are_selected_and_ignored_by_name(check, write):
    write(a=BOTH)
    only = check("--format", "concise", "--select", "risky-call,advice-call").stdout
    assert only.startswith("a.py:3:1: warning[risky-call]")
    assert "old-call" not in only
    assert check("--ignore", "old-call", "--ignore", "risky-call").returncode == 0


def test_settings_come_from_the_project(check, write, tmp_path):
    write(a=BOTH)
    (tmp_path / "tests").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "tests" / "b.py").write_text(BOTH)
    (tmp_path / "old" / "c.py").write_text(BOTH)
    settings = tmp_path / "pyproject.toml"
    settings.write_text(
        '[tool.sleuth]\nignore = ["wrapped-call"]\nformat = "concise"\n'
        '[tool.sleuth.check]\nexclude = ["old/"]\njobs = 1\ntarget = ["torch==2.1"]\ncache = false\n'
        '[tool.sleuth.check.per-file-ignores]\n"tests/**" = ["old-call"]\n'
    )
    lines = check().stdout.splitlines()
    assert [line.split(" ")[0] for line in lines[:-1]] == ["a.py:2:1:", "a.py:3:1:", "tests/b.py:3:1:"]
    assert not (tmp_path / ".sleuth").exists()
    inside = check(cwd=tmp_path / "tests").stdout
    assert inside.splitlines()[0].startswith("b.py:3:1: warning")
    settings.write_text('[tool.sleuth.check]\nselect = ["old-call"]\nhints = true\nbaseline = "known.json"\n')
    assert check("--write-baseline").stderr == "sleuth: 3 findings written to known.json\n"
    assert check().returncode == 0
    for wrong, message in (
        ("jobs = 0", "jobs must be a whole number, 1 or more, not 0"),
        ('exclude = "x"', "exclude must be a list of patterns"),
        ('target = ["torch"]', "--target: 'torch' is not a library and its version"),
        ('per-file-ignores = ["x"]', "per-file-ignores must be a table that gives a pattern a list of diagnosis names"),
        ('per-file-ignores = { x = ["zzz"] }', "per-file-ignores 'x': there is no diagnosis called 'zzz'"),
        ('select = ["zzz"]', "select: there is no diagnosis called 'zzz'"),
    ):
        settings.write_text(f"[tool.sleuth.check]\n{wrong}\n")
        refused = check()
        assert refused.returncode == 2
        assert message in refused.stderr


def test_excluded_files_are_left_out_and_named_ones_checked_unless_forced(check, write):
    write(a=BOTH, b=BOTH)
    assert "b.py" not in check("--exclude", "b.py").stdout
    assert "b.py" in check("--exclude", "b.py", "b.py").stdout
    assert check("--exclude", "b.py", "--force-exclude", "b.py").returncode == 0


def test_safe_fixes_are_made_and_the_rest_is_told(check, write, tmp_path):
    write(a=BOTH, b="old(1)\n")
    shown = check("--fix", "--format", "concise")
    assert shown.returncode == 1
    assert shown.stdout == (
        "a.py:3:1: warning[risky-call] risky is called\n"
        "0 errors, 1 warning, 0 notes in 2 files; 2 fixed; 1 can be fixed with --unsafe-fixes; "
        "1 hint not shown (--hints)\n"
    )
    assert (tmp_path / "a.py").read_text() == BOTH.replace("old", "new")
    shown = check("--unsafe-fixes")
    assert (shown.returncode, shown.stdout) == (0, "")
    assert shown.stderr == "sleuth: nothing found in 2 files; 1 fixed; 1 hint not shown (--hints)\n"
    assert (tmp_path / "a.py").read_text() == BOTH.replace("old", "new").replace("risky", "calm")


def test_a_fix_that_would_break_the_file_is_said(check, write, tmp_path):
    write(a="spoilt(1)\n")
    shown = check("--fix")
    assert shown.returncode == 1
    assert (
        shown.stderr
        == "sleuth: a.py:1: spoilt-call was not fixed: 'write new(' would leave a file that Python cannot read\n"
    )
    assert (tmp_path / "a.py").read_text() == "spoilt(1)\n"


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "END"])
def test_a_diff_changes_nothing_and_is_a_patch(check, tmp_path, end, last):
    (tmp_path / "sub").mkdir()
    file = tmp_path / "sub" / "a.py"
    before = ("x = 1\n" * 9 + "old(1)\ny = 2\nold(3)").replace("\n", end) + last.replace("END", end)
    file.write_bytes(before.encode())
    shown = check("--diff", text=False)
    assert shown.returncode == 1
    assert shown.stderr == b"sleuth: 2 findings would be fixed, 0 findings left\n"
    assert file.read_bytes() == before.encode()
    patched = subprocess.run(["git", "apply", "-"], input=shown.stdout, cwd=tmp_path, check=False, capture_output=True)
    assert patched.stderr == b""
    assert file.read_bytes() == before.replace("old", "new").encode()
    assert check("--diff").returncode == 0


def test_a_diff_of_a_notebook_is_by_cell(check, tmp_path):
    cells = [{"cell_type": "code", "source": ["x = 1\n", "old(x)"]}]
    (tmp_path / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert check("--diff").stdout.splitlines() == [
        "--- a/nb.ipynb:cell 1",
        "+++ b/nb.ipynb:cell 1",
        "@@ -1,2 +1,2 @@",
        " x = 1",
        "-old(x)",
        "\\ No newline at end of file",
        "+new(x)",
        "\\ No newline at end of file",
    ]


def test_a_notebook_is_told_by_cell_in_every_format(check, tmp_path, environment):
    cells = [
        {"cell_type": "markdown", "source": "# x"},
        {"cell_type": "code", "source": ["%time\n", "y = 1\n", "old(y)"]},
    ]
    (tmp_path / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}, indent=1))
    told = check().stdout
    assert "  --> nb.ipynb:cell 2:3:1\n  3 | old(y)\n    | ^^^^^^\n" in told
    assert "    -old(y)\n    +new(y)\n" in told
    line = (tmp_path / "nb.ipynb").read_text().split("\n").index('    "old(y)"') + 1
    annotation = check("--format", "github", GITHUB_WORKSPACE="").stdout
    assert annotation.startswith(
        f"::error file=nb.ipynb,line={line},endLine={line},title=old-call (certain)::old is called, in"
    )
    assert "in line 3 of cell 2" in annotation
    (result,) = json.loads(check("--format", "sarif").stdout)["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "nb.ipynb"
    assert location["region"]["startLine"] == line
    assert "fixes" not in result
    place = json.loads(check("--format", "json").stdout)["findings"][0]["place"]
    assert (place["path"], place["line"]) == ("nb.ipynb:cell 2", 3)


def test_json_is_the_contract_and_reports_can_go_to_a_file(check, write, tmp_path):
    write(a=BOTH)
    told = json.loads(check("--format", "json").stdout)
    assert (told["schema"], told["command"], told["program"], told["exit"]) == (1, "check", ".", 1)
    assert [finding["diagnosis"] for finding in told["findings"]] == ["old-call", "risky-call"]
    assert told["findings"][0]["fixes"][0]["safe"] is True
    shown = check("--format", "json", "--output", "out.json")
    assert (shown.stdout, shown.stderr, shown.returncode) == ("", "", 1)
    assert json.loads((tmp_path / "out.json").read_text()) == told


def test_a_baseline_is_written_and_kept_to(check, write, tmp_path):
    write(a=BOTH)
    shown = check("--baseline", "known.json", "--write-baseline")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "", "sleuth: 3 findings written to known.json\n")
    write(a="\n\n" + BOTH + "old(9)\n")
    shown = check("--baseline", "known.json", "--format", "concise")
    assert shown.returncode == 1
    assert shown.stdout.splitlines()[0] == "a.py:7:1: error[old-call] old is called"
    assert "2 known from the baseline" in shown.stdout
    check("--baseline", "known.json", "--write-baseline")
    assert check("--baseline", "known.json").returncode == 0


def test_statistics_count_by_diagnosis(check, write):
    write(a="old(1)\nold(2)\nrisky(3)\n")
    assert check("--statistics").stdout == (
        "2  error    old-call    a call of old\n"
        "1  warning  risky-call  a call of risky\n"
        "2 errors, 1 warning, 0 notes in 1 file; 2 can be fixed with --fix; 1 more with --unsafe-fixes\n"
    )
    told = json.loads(check("--statistics", "--format", "json").stdout)
    assert told["statistics"] == {"old-call": 2, "risky-call": 1}
    assert len(told["findings"]) == 3


def test_standard_input_is_checked_under_its_name(check, write):
    write(a="x = 1\n")
    shown = check("--stdin-filename", "a.py", "--format", "concise", "-", input="y = 1\nold(1)\n")
    assert shown.returncode == 1
    assert shown.stdout.startswith("a.py:2:1: error[old-call]")
    assert check("-", input="x = 1\n").returncode == 0
    broken = check("-", input=b"x = '\xff'", text=False)
    assert broken.returncode == 2
    assert broken.stderr.startswith(b"sleuth: stdin.py cannot be read as Python: ")


def test_standard_input_is_mended_to_standard_output(check, tmp_path):
    shown = check("--fix", "--format", "concise", "-", input=b"x = '\xc3\xa4'\r\nold(1)\r\nrisky(2)\r\n", text=False)
    assert shown.stdout == b"x = '\xc3\xa4'\r\nnew(1)\r\nrisky(2)\r\n"
    assert shown.stderr.startswith(b"stdin.py:3:1: warning[risky-call]")
    assert shown.returncode == 1
    assert check("--fix", "-", input="x = 1\n").stdout == "x = 1\n"
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_comes_through_standard_input_too(check):
    cells = [{"cell_type": "code", "source": "old(1)"}]
    text = json.dumps({"cells": cells, "nbformat": 4})
    shown = check("--fix", "--stdin-filename", "nb.ipynb", "-", input=text)
    assert shown.stdout == text.replace("old", "new")


def test_results_are_kept_between_commands_unless_told_otherwise(check, write, tmp_path):
    write(a=BOTH, b="x = 1\n")
    log = tmp_path / "log"
    first = check(EXAMINED=str(log))
    again = check(EXAMINED=str(log))
    assert sorted(log.read_text().split()) == ["a.py", "b.py"]
    assert (first.stdout, first.returncode) == (again.stdout, again.returncode)
    check("--no-cache", EXAMINED=str(log))
    assert len(log.read_text().split()) == 4


def test_many_files_are_checked_by_several_processes(check, tmp_path):
    for number in range(40):
        (tmp_path / f"a{number:02}.py").write_text("x = 1\n" * 3000 + "old(1)\n")
    alone, together = check("--jobs", "1", "--no-cache"), check("--jobs", "3", "--no-cache")
    assert alone.stdout == together.stdout
    assert together.stderr == ""


def test_colours_and_progress_are_for_terminals(words, environment, tmp_path):
    pty = pytest.importorskip("pty")
    (tmp_path / "a.py").write_text("old(1)\n")
    main, worker = pty.openpty()
    shown = subprocess.run(
        words("--diff"), cwd=tmp_path, env={**environment, "TERM": "xterm"}, stdout=worker, stderr=worker
    )
    os.close(worker)
    text = os.read(main, 100_000).decode()
    os.close(main)
    assert shown.returncode == 1
    assert re.search(r"\x1b\[38;5;\d+m\+new\(1\)", text)


@pytest.mark.parametrize("terminal", [True, False])
def test_long_work_shows_its_progress_on_a_terminal_and_takes_it_back(monkeypatch, terminal):
    from sleuth.cli import progress

    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    monkeypatch.setattr(sys, "stderr", Stream())
    monkeypatch.setattr(progress, "_AFTER_SECONDS", 0)
    with progress.Progress("files") as tell:
        tell(1200, 2000)
    shown = "\r\x1b[2K\x1b[2msleuth: 1,200 of 2,000 files\x1b[0m\r\x1b[2K" if terminal else ""
    assert sys.stderr.getvalue() == shown


def watching(words, environment, folder, *arguments):
    return subprocess.Popen(
        words("--watch", "--format", "concise", *arguments),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.skipif(os.name != "posix", reason="signals as on a terminal")
def test_watch_looks_again_at_every_change_until_it_is_interrupted(words, environment, tmp_path):
    (tmp_path / "a.py").write_text("old(1)\n")
    command = watching(words, environment, tmp_path)
    assert command.stdout.readline() == "a.py:1:1: error[old-call] old is called\n"
    command.stdout.readline()
    assert command.stderr.readline() == "sleuth: watching 1 file; Ctrl-C ends this\n"
    (tmp_path / "b.py").write_text("risky(1)\n")
    assert command.stdout.readline().startswith("a.py:1:1:")
    assert command.stdout.readline().startswith("b.py:1:1:")
    command.stdout.readline()
    (tmp_path / "a.py").unlink()
    (tmp_path / "b.py").write_text("x = 1\n")
    deadline = time.monotonic() + 600
    while "nothing found" not in command.stderr.readline() and time.monotonic() < deadline:
        continue
    command.stderr.readline()
    os.killpg(command.pid, signal.SIGINT)
    out, error = command.communicate(timeout=600)
    assert command.returncode == 0
    assert "Traceback" not in out + error


@pytest.mark.skipif(os.name != "posix", reason="signals as on a terminal")
def test_watch_ends_with_the_status_of_the_last_look(words, environment, tmp_path):
    (tmp_path / "a.py").write_text("old(1)\n")
    command = watching(words, environment, tmp_path)
    command.stderr.readline()
    os.killpg(command.pid, signal.SIGINT)
    command.communicate(timeout=600)
    assert command.returncode == 1


def test_watch_refuses_a_path_that_is_not_there(check):
    assert check("--watch", "nowhere").returncode == 2


MODULES = """\
import sys
from sleuth.cli import main
assert main(["check", "--no-cache"]) == 0
print(*sys.modules)
"""


def test_the_real_engine_needs_no_framework(environment, tmp_path):
    """Nor anything else that is not needed to say that all is well."""
    (tmp_path / "a.py").write_text("import torch\nx = torch.zeros(3)\n")
    shown = subprocess.run(
        [sys.executable, "-c", MODULES], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert shown.stderr.endswith("sleuth: nothing found in 1 file\n")
    assert not {"torch", "numpy", "rich", "tensorflow", "jax", "concurrent.futures"} & set(shown.stdout.split())


def test_the_help_has_examples_and_says_what_the_status_means(check):
    shown = check("--help")
    assert shown.returncode == 0
    assert "examples:" in shown.stdout
    assert "exit status: 0 nothing found; 1 errors or warnings" in shown.stdout
