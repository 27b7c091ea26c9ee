"""`sleuth run`: whose argument is whose, and where the report goes."""

from __future__ import annotations

import json
import os
import stat
import subprocess

import pytest

ARGUMENTS = "import sys; print(sys.argv[1:])\n"


@pytest.fixture
def script(tmp_path):
    (tmp_path / "train.py").write_text(ARGUMENTS)
    (tmp_path / "healthy.py").write_text(ARGUMENTS)
    return "train.py"


@pytest.fixture
def seen(tmp_path):
    return lambda: json.loads((tmp_path / "seen.json").read_text())


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--lr", "3"],
        ["--format", "json"],
        ["--help"],
        ["-m", "x"],
        ["--ignore=nothing-like-it", "--no-record"],
        ["--", "--lr"],
        ["-x y", "-1", ""],
        ["--version"],
    ],
)
def test_all_that_follows_the_script_belongs_to_the_program(sleuth, script, arguments):
    shown = sleuth("run", "--no-record", "healthy.py", *arguments)
    assert shown.stdout == f"{arguments}\n"
    assert shown.returncode == 0


@pytest.mark.parametrize("before", [["-m"], ["--no-record", "-m"]])
def test_all_that_follows_the_module_belongs_to_the_program(sleuth, tmp_path, before):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "healthy.py").write_text(ARGUMENTS)
    shown = sleuth("run", *before, "package.healthy", "--format", "x", "-m")
    assert (shown.stdout, shown.returncode) == ("['--format', 'x', '-m']\n", 0)


def test_a_double_dash_before_the_script_is_ours(sleuth, script):
    assert sleuth("run", "--", "healthy.py", "--", "a").stdout == "['--', 'a']\n"


def test_the_program_is_watched_with_the_chosen_options(sleuth, script, seen):
    options = ["--keep-going", "--record", "notes", "--ignore", "log-of-zero,log-of-zeta", "--experiments", "3"]
    options += ["--tensorboard", "events", "--status", "--no-bundle", "-q"]
    sleuth("run", *options, script)
    assert seen() == {
        "keep_going": True,
        "record": "notes",
        "ignore": ["log-of-zero", "log-of-zeta"],
        "experiments": 3.0,
        "tensorboard": "events",
        "status": True,
        "bundle": False,
        "quiet": True,
    }


def test_a_run_is_recorded_unless_told_otherwise(sleuth, script, seen):
    sleuth("run", script)
    assert seen()["record"] == ".sleuth"
    sleuth("run", "--no-record", script)
    assert seen()["record"] is None


def test_the_report_goes_to_stderr_and_stdout_is_the_programs_own(sleuth, script):
    shown = sleuth("run", script)
    assert shown.returncode == 1
    assert shown.stdout == "[]\n"
    assert "log-of-zero" in shown.stderr


def test_whoever_asks_for_it_gets_the_report_on_stdout(sleuth, script):
    shown = sleuth("run", "--output", "-", script)
    assert shown.stdout.startswith("[]\n")
    assert "log-of-zero" in shown.stdout


def test_the_terminal_report_is_plain_when_piped_and_coloured_on_demand(sleuth, script):
    assert "\x1b" not in sleuth("run", script).stderr
    assert "\x1b[" in sleuth("run", script, FORCE_COLOR="1").stderr
    assert "\x1b" not in sleuth("run", script, FORCE_COLOR="1", NO_COLOR="1").stderr


def test_a_healthy_program_gets_nothing_on_stdout(sleuth, script):
    assert sleuth("run", "healthy.py").stdout == "[]\n"


def test_the_programs_own_status_comes_through(sleuth, tmp_path):
    (tmp_path / "healthy.py").write_text("raise SystemExit(7)")
    assert sleuth("run", "healthy.py").returncode == 7


@pytest.mark.parametrize("format", ["json", "sarif"])
def test_a_report_for_machines_has_stdout_for_itself(sleuth, tmp_path, format):
    (tmp_path / "train.py").write_text(
        "import atexit, os, subprocess, sys\n"
        "print('printed')\n"
        "os.write(1, b'written to the descriptor\\n')\n"
        "subprocess.run([sys.executable, '-c', 'print(\"by a child\")'])\n"
        "atexit.register(print, 'at exit')\n"
    )
    shown = sleuth("run", "--format", format, "train.py")
    json.loads(shown.stdout)
    for words in ("printed", "written to the descriptor", "by a child", "at exit"):
        assert words in shown.stderr


def test_the_json_report_tells_of_the_finding(sleuth, script):
    report = json.loads(sleuth("run", "--format=json", script).stdout)
    assert (report["command"], report["program"], report["exit"]) == ("run", "train.py", 1)
    assert [finding["diagnosis"] for finding in report["findings"]] == ["log-of-zero"]


def test_a_report_to_a_file_leaves_stdout_to_the_program(sleuth, script, tmp_path):
    shown = sleuth("run", "--format", "json", "--output", "report.json", script)
    assert shown.stdout == "[]\n"
    assert json.loads((tmp_path / "report.json").read_text())["exit"] == 1
    assert not list(tmp_path.glob(".report*"))


def test_the_file_is_where_the_user_was_even_if_the_program_moves(sleuth, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "train.py").write_text("import os; os.chdir('elsewhere')")
    sleuth("run", "--format", "json", "--output", "report.json", "train.py")
    assert (tmp_path / "report.json").exists()


def test_a_report_keeps_the_permissions_and_the_links_of_the_file_it_replaces(sleuth, script, tmp_path):
    real = tmp_path / "real.json"
    real.write_text("old")
    real.chmod(0o640)
    (tmp_path / "link.json").symlink_to(real)
    sleuth("run", "--format", "json", "--output", "link.json", script)
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads(real.read_text())["schema"] == 1
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced(sleuth, script, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    sleuth("run", "--format", "json", "--output", "pipe", script)
    assert json.loads(reader.communicate(timeout=600)[0])["schema"] == 1
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("nowhere/report.json", "No such file or directory"),
        (".", "it is a directory"),
        ("train.py/report.json", "Not a directory"),
    ],
)
def test_an_unwritable_output_is_refused_before_the_run(sleuth, script, tmp_path, output, message):
    shown = sleuth("run", "--output", output, script)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr == f"sleuth: cannot write the report to {output}: {message}\n"
    assert not (tmp_path / "seen.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.py"], "nope.py: no such file"),
        (["-m", "no_such_module"], "no module named no_such_module"),
        (["broken.py"], "broken.py:1:"),
        (["."], ". is a directory"),
        (["--format", "xml", "train.py"], "argument --format: invalid choice: 'xml'"),
        (["--ignore", "log-of-zerro", "train.py"], "--ignore: there is no diagnosis called 'log-of-zerro'; did you"),
    ],
)
def test_a_program_that_cannot_start_is_one_line_and_status_2(sleuth, script, tmp_path, arguments, message):
    (tmp_path / "broken.py").write_text("def\n")
    shown = sleuth("run", *arguments)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith(f"sleuth: {message}")
    assert shown.stderr.count("\n") == 1
    assert not (tmp_path / "seen.json").exists()


def test_a_missing_torch_is_said_in_one_line(monkeypatch, tmp_path, capfd):
    import sys

    from sleuth import cli

    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name == "sleuth.live":
                raise ModuleNotFoundError("No module named 'torch'", name="torch")

    (tmp_path / "train.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "sleuth.live", raising=False)
    monkeypatch.delattr("sleuth.live", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    assert cli.main(["run", "train.py"]) == 2
    assert capfd.readouterr().err.startswith("sleuth: this needs PyTorch")
