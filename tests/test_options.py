"""One options story: the command line before pyproject.toml before the default."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

import pytest

from sleuth import handbook, options
from sleuth.cli import COMMANDS, load
from sleuth.cli.refusal import Refusal


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """An empty project to work in, and a handbook of two names."""
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in ("log-of-zero", "missing-zero-grad"):
        (pages / f"{name}.md").touch()
    monkeypatch.setattr(handbook, "PAGES", pages)
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def resolved(*arguments, command="run"):
    parser = ArgumentParser()
    load(command).add_arguments(parser)
    return options.resolve(parser.parse_args(arguments), command)


def refusal(*arguments, command="run"):
    with pytest.raises(Refusal) as refused:
        resolved(*arguments, command=command)
    return str(refused.value)


def settings(folder, text):
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_without_any_choice_there_are_defaults():
    assert resolved() == options.Options("terminal", None, frozenset(), False, Path(".sleuth"))


def test_options_cannot_be_changed():
    with pytest.raises(AttributeError):
        resolved().format = "json"


def test_the_file_speaks_for_all_commands_and_for_one(project):
    settings(project, '[tool.sleuth]\nformat = "json"\n[tool.sleuth.run]\nformat = "github"\nkeep-going = true\n')
    assert resolved().format == "github"
    assert resolved().keep_going
    assert resolved(command="report").format == "json"


def test_the_command_line_wins_over_the_file(project):
    settings(project, '[tool.sleuth]\nformat = "json"\noutput = "a"\n[tool.sleuth.run]\nrecord = "notes"\n')
    chosen = resolved("--format", "sarif", "--output", "b", "--record", "other")
    assert chosen.format == "sarif"
    assert chosen.output == Path("b")
    assert chosen.record == Path("other")
    assert resolved("--output", "-").output is None
    assert resolved("--no-record").record is None


def test_ignored_names_add_up(project):
    settings(project, '[tool.sleuth]\nignore = ["log-of-zero"]\n')
    assert resolved("--ignore", "missing-zero-grad").ignore == {"log-of-zero", "missing-zero-grad"}
    settings(project, '[tool.sleuth]\nignore = ["log-of-zero"]\nrun.ignore = ["missing-zero-grad"]\n')
    assert resolved().ignore == {"log-of-zero", "missing-zero-grad"}
    assert resolved(command="report").ignore == {"log-of-zero"}


@pytest.mark.parametrize("value", ["log-of-zero", "log-of-zero,missing-zero-grad", "missing-zero-grad, log-of-zero,"])
def test_names_may_be_separated_by_commas(value):
    assert "log-of-zero" in resolved("--ignore", value).ignore


def test_paths_in_the_file_start_at_its_folder(project, monkeypatch):
    settings(project, '[tool.sleuth]\noutput = "out/report"\n[tool.sleuth.run]\nrecord = "notes"\n')
    assert resolved().record == Path("notes")
    (project / "deep").mkdir()
    monkeypatch.chdir(project / "deep")
    assert resolved().output == project / "out" / "report"
    assert resolved().record == project / "notes"


def test_a_file_without_the_table_is_passed_by(project, monkeypatch):
    settings(project, '[tool.sleuth]\nformat = "json"\n')
    inner = project / "inner" / "inmost"
    inner.mkdir(parents=True)
    settings(inner.parent, "[tool.other]\n")
    monkeypatch.chdir(inner)
    assert resolved().format == "json"


def test_the_search_stays_in_the_repository(project):
    settings(project.parent, '[tool.sleuth]\nformat = "json"\n')
    assert resolved().format == "terminal"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.sleuth]\nignroe = []", "[tool.sleuth] has no setting 'ignroe'; did you mean ignore?"),
        (
            "[tool.sleuth]\nzzz = 1",
            "[tool.sleuth] has no setting 'zzz'; "
            "it may have ignore, format, output, expect, run, check, dry, compare, report, view, replay",
        ),
        ("[tool.sleuth.rnu]\n", "[tool.sleuth] has no setting 'rnu'; did you mean run?"),
        (
            "[tool.sleuth.run]\nkeep_going = true",
            "[tool.sleuth.run] has no setting 'keep_going'; did you mean keep-going?",
        ),
        ("[tool.sleuth]\nformat = 3", "[tool.sleuth] format must be a text in quotes, not 3"),
        (
            '[tool.sleuth]\nformat = "xml"',
            "[tool.sleuth] format must be one of terminal, concise, json, sarif, github, not 'xml'",
        ),
        (
            '[tool.sleuth]\nignore = "log-of-zero"',
            "[tool.sleuth] ignore must be a list of diagnosis names, not 'log-of-zero'",
        ),
        ("[tool.sleuth]\nignore = [1]", "[tool.sleuth] ignore must be a list of diagnosis names, not [1]"),
        ("[tool.sleuth.run]\nkeep-going = 1", "[tool.sleuth.run] keep-going must be true or false, not 1"),
        (
            '[tool.sleuth]\nignore = ["log-of-zer"]',
            "[tool.sleuth] ignore: there is no diagnosis called 'log-of-zer'; did you mean log-of-zero?",
        ),
        ("[tool]\nsleuth = 1", "[tool.sleuth] must be a table"),
        ("[tool.sleuth]\nrun = true", "[tool.sleuth.run] must be a table"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(project, text, message):
    settings(project, text)
    assert refusal() == f"pyproject.toml: {message}"


def test_a_setting_of_another_command_is_checked_too(project):
    settings(project, "[tool.sleuth.run]\nkeep-going = 1")
    assert "keep-going must be true or false" in refusal(command="report")


def test_a_broken_file_is_one_clear_line(project):
    settings(project, "[tool.sleuth\n")
    assert refusal().startswith("pyproject.toml cannot be read: ")
    (project / "pyproject.toml").write_bytes(b"\xff\xfe")
    assert refusal().startswith("pyproject.toml cannot be read: ")


def test_an_unknown_name_on_the_command_line_gets_a_suggestion():
    assert refusal("--ignore", "log-of-zro") == (
        "--ignore: there is no diagnosis called 'log-of-zro'; did you mean log-of-zero?"
    )


def test_every_table_belongs_to_a_command():
    assert set(options._OF_COMMAND) <= set(COMMANDS)
