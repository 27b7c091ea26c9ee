"""The command as a whole: help, version, errors, pipes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import sleuth as sleuth_
from sleuth import cli


def test_help_lists_every_command_with_its_summary_and_an_example(sleuth):
    shown = sleuth("--help")
    assert shown.returncode == 0
    words = " ".join(shown.stdout.split())
    for command in cli.COMMANDS:
        told = cli.load(command)
        assert f" {command} {told.SUMMARY} $ {told.EXAMPLE} " in words
        assert told.EXAMPLE.startswith(f"sleuth {command}")


def every_help():
    yield ["--help"]
    yield from ([name, "--help"] for name in cli.COMMANDS)
    yield from (["study", step, "--help"] for step in cli.load("study").STEPS)


@pytest.mark.parametrize("width", [80, 100])
def test_no_help_is_wider_than_its_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    for words in every_help():
        assert cli.main(words) == 0
        assert [line for line in capsys.readouterr().out.splitlines() if len(line) > width] == [], words


def test_sleuth_alone_shows_the_help(sleuth):
    assert sleuth().stdout == sleuth("--help").stdout


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_with_examples(sleuth, name):
    shown = sleuth(name, "--help")
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"usage: sleuth {name}")
    assert "examples:" in shown.stdout


def test_the_version_is_that_of_the_package(sleuth):
    assert sleuth("--version").stdout == f"sleuth {sleuth_.__version__}\n"


def test_python_m_sleuth_is_the_same_command():
    shown = subprocess.run([sys.executable, "-m", "sleuth", "--help"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("usage: sleuth ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu"], "sleuth: there is no command 'rnu'; did you mean run?\n"),
        (["xyz"], f"sleuth: there is no command 'xyz'; choose one of {', '.join(cli.COMMANDS)}\n"),
        (["--bogus"], "sleuth: there is no option --bogus; `sleuth --help` lists the commands\n"),
        (["train.py"], "sleuth: train.py is not a command; did you mean `sleuth run train.py`?\n"),
        (["explain", "--bogus"], "sleuth: unrecognized arguments: --bogus; see `sleuth explain --help`\n"),
        (["run"], "sleuth: name the program to run: a script, or -m and a module; see `sleuth run --help`\n"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(sleuth, tmp_path, arguments, message):
    (tmp_path / "train.py").touch()
    shown = sleuth(*arguments)
    assert (shown.returncode, shown.stdout, shown.stderr) == (2, "", message)


def test_an_error_of_ours_is_one_line_without_a_traceback(monkeypatch, capfd):
    monkeypatch.delenv("SLEUTH_DEBUG", raising=False)
    monkeypatch.setattr(cli, "_dispatch", lambda words: {}["no\nsuch key"])
    assert cli.main(["run"]) == 2
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("sleuth: KeyError inside Sleuth: ")


def test_sleuth_debug_shows_the_traceback(monkeypatch, capfd):
    monkeypatch.setenv("SLEUTH_DEBUG", "1")
    monkeypatch.setattr(cli, "_dispatch", lambda words: {}["key"])
    assert cli.main(["run"]) == 2
    assert "Traceback (most recent call last)" in capfd.readouterr().err


def test_an_interrupt_ends_quietly(monkeypatch, capfd):
    def interrupted(words):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch", interrupted)
    assert cli.main(["run"]) == 128 + signal.SIGINT
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["explain", "log-of-zero"], ["explain"]])
def test_a_reader_who_leaves_early_hears_no_complaint(command, environment, arguments):
    process = subprocess.Popen(command(*arguments), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=600), error) == (0, b"")


def test_a_terminal_that_knows_no_unicode_gets_a_question_mark():
    from sleuth.cli import streams

    class Ascii:
        encoding = "ascii"
        written = ""

        def write(self, text):
            text.encode("ascii")
            self.written += text

        def flush(self):
            pass

    stream = Ascii()
    streams.show("naïve", stream)
    assert stream.written == "na?ve"


@pytest.mark.parametrize(
    ("variables", "terminal", "colour"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(monkeypatch, variables, terminal, colour):
    from sleuth.cli import streams

    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    class Stream:
        def isatty(self):
            return terminal

    assert streams.wants_colour(Stream()) is colour
