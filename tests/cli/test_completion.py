"""`sleuth completion`: scripts that a real shell accepts and that really complete."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess

import pytest

from sleuth import cli
from sleuth.cli import completion_powershell


@pytest.fixture
def bash_script(sleuth, tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    path = tmp_path / "completion.bash"
    path.write_text(sleuth("completion", "bash").stdout)
    return path


def completed(script, *words):
    """What bash offers for the last of these words."""
    drive = """
        source "$1"; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
        complete -p sleuth | grep -o -- '-F [^ ]*' | cut -c4- > function
        "$(cat function)" sleuth "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    """
    arguments = ["bash", "-c", drive, "bash", str(script), *words]
    shown = subprocess.run(arguments, cwd=script.parent, capture_output=True, text=True, check=True)
    return sorted(shown.stdout.split())


def test_the_bash_script_is_valid(bash_script):
    subprocess.run(["bash", "-n", str(bash_script)], check=True)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ru"], ["run"]),
        (["re"], ["replay", "report"]),
        (["explain", "log-"], ["log-of-zero", "log-of-zeta"]),
        (["explain", "--root-cause", "inv"], ["invalid-range"]),
        (["run", "--fo"], ["--format"]),
        (["run", "--format", "j"], ["json"]),
        (["run", "--ignore", "miss"], ["missing-zero-grad"]),
        (["run", "tr"], ["train.py"]),
        (["completion", "z"], ["zsh"]),
        (["study", "ag"], ["agreement"]),
        (["study", "codebook", "ki"], ["kinds"]),
        (["study", "label", "--codebook", "bug"], ["bug-types"]),
        (["study", "select", "--preset", "num"], ["numerical"]),
        (["study", "select", "--kind", ""], []),
        (["study", "select", "--engine", ""], []),
        (["study", "analyse", "--labels", "tr"], ["train.py"]),
    ],
)
def test_bash_completes(bash_script, tmp_path, words, offered):
    (tmp_path / "train.py").touch()
    assert completed(bash_script, "sleuth", *words) == offered


@pytest.mark.parametrize("shell", ["zsh", "tcsh", "fish"])
def test_other_shells_get_a_script_that_they_accept(sleuth, tmp_path, shell):
    script = sleuth("completion", shell).stdout
    assert "log-of-zero" in script
    if shutil.which(shell) is not None:
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", "script"], cwd=tmp_path, check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ru", ["run"]),
        ("--v", ["--version"]),
        ("run --v", []),
        ("explain log-", ["log-of-zero", "log-of-zeta"]),
        ("run --format j", ["json"]),
        ("run --fo", ["--format"]),
        ("run tr", ["train.py"]),
        ("run --output tr", ["train.py"]),
        ("study ag", ["agreement"]),
        ("study agreement ag", []),
        ("study label --codebook bug", ["bug-types"]),
    ],
)
def test_fish_completes(sleuth, tmp_path, line, offered):
    (tmp_path / "train.py").touch()
    (tmp_path / "sleuth.fish").write_text(sleuth("completion", "fish").stdout)
    drive = f"source sleuth.fish; complete -C 'sleuth {line}'"
    shown = subprocess.run(["fish", "-c", drive], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert sorted(row.split("\t")[0] for row in shown.stdout.splitlines()) == offered


def test_powershell_is_told_every_command_option_and_name(sleuth):
    script = sleuth("completion", "powershell").stdout
    rows = re.findall(r"^        '((?:[^']|'')*)' = @\((.*)\)$", script, re.MULTILINE)
    table = {where: re.findall(r"'([^'\t]+)\t(?:[^']|'')+'", words) for where, words in rows}
    assert set(cli.COMMANDS) < set(table[""])
    assert {"-q", "--quiet", "--format", "--keep-going"} < set(table["run"])
    assert table["run --format"] == ["terminal", "concise", "json", "sarif", "github"]
    assert {"log-of-zero", "log-of-zeta", "missing-zero-grad", "--search"} < set(table["explain"])
    assert "agreement" in table["study"]
    assert "bug-types" in table["study label --codebook"]
    assert "run --quiet" not in table


def test_quotation_marks_do_not_end_powershells_strings():
    parser = argparse.ArgumentParser(prog="sleuth", add_help=False)
    parser.add_argument("--say", choices=["it's", "it’s"])
    assert "'--say' = @('it''s\tit''s', 'it’’s\tit’’s')" in completion_powershell.script(parser)


def test_an_unknown_shell_is_refused(sleuth):
    assert sleuth("completion", "csh").returncode == 2
