"""`sleuth report`: an earlier run, told again."""

from __future__ import annotations

import json

import pytest

from sleuth.findings import Finding, Report


@pytest.fixture
def runs(tmp_path):
    """Two recorded runs, the newer one with a finding."""
    finding = Finding(
        "log-of-zero", "log of 0", "certain", "error", "training-anomaly", "invalid-range", "model-training", "nan"
    )
    folder = tmp_path / ".sleuth" / "runs"
    for name, findings in (("1", ()), ("2", (finding,))):
        (folder / name).mkdir(parents=True)
        report = Report("run", f"train{name}.py", findings)
        (folder / name / "report.json").write_text(json.dumps(report.to_json()))
    return folder


def test_the_newest_run_is_shown_with_how_it_ended(sleuth, runs):
    shown = sleuth("report")
    assert shown.returncode == 1
    assert "log-of-zero" in shown.stdout
    assert shown.stderr == "sleuth: killed or still running: last seen at step 512\n"


def test_a_run_can_be_named(sleuth, runs):
    shown = sleuth("report", ".sleuth/runs/1", "--format", "json")
    assert shown.returncode == 0
    assert json.loads(shown.stdout)["program"] == "train1.py"


def test_a_report_can_go_to_a_file(sleuth, runs, tmp_path):
    assert sleuth("report", "--format", "json", "--output", "again.json").stdout == ""
    assert json.loads((tmp_path / "again.json").read_text())["program"] == "train2.py"


def test_an_ignored_diagnosis_is_left_out(sleuth, runs):
    shown = sleuth("report", "--ignore", "log-of-zero", "--format", "json")
    assert shown.returncode == 0
    assert json.loads(shown.stdout)["findings"] == []


def test_a_report_looks_where_the_run_was_told_to_write(sleuth, runs, tmp_path):
    runs.parent.rename(tmp_path / "notes")
    assert sleuth("report").returncode == 2
    assert sleuth("report", "--record", "notes").returncode == 1
    (tmp_path / "pyproject.toml").write_text('[tool.sleuth.run]\nrecord = "notes"\n')
    assert sleuth("report").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is no run under"),
        (["nowhere"], "nowhere: there is no such folder"),
        (["file"], "file is not a folder"),
        (["."], ". holds no run"),
    ],
)
def test_no_such_run_is_one_line_and_status_2(sleuth, tmp_path, arguments, message):
    (tmp_path / "file").touch()
    shown = sleuth("report", *arguments)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith(f"sleuth: {message}")
    assert shown.stderr.count("\n") == 1
