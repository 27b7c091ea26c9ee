"""`sleuth completion`: scripts that a real shell accepts and that really complete."""

from __future__ import annotations

import shutil
import subprocess

import pytest


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


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_get_a_script_that_they_accept(sleuth, tmp_path, shell):
    script = sleuth("completion", shell).stdout
    assert "log-of-zero" in script
    if shutil.which(shell) is not None:
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", "script"], cwd=tmp_path, check=True)


def test_an_unknown_shell_is_refused(sleuth):
    assert sleuth("completion", "fish").returncode == 2
