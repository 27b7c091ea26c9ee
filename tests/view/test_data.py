"""What the page is told of a run: whole at first, then what is new; whether it lives; and which findings it has."""

from __future__ import annotations

import base64
import json
import os
import signal
import struct
import subprocess
import sys
import time

import pytest

from sleuth.view.data import Run


def numbers(text):
    octets = base64.b64decode(text)
    return list(struct.unpack(f"<{len(octets) // 8}d", octets))


def curve(page, name, rank=0):
    [found] = [one for one in page["series"] if (one["name"], one["rank"]) == (name, rank)]
    return found


def test_a_folder_without_a_record_is_refused(tmp_path):
    with pytest.raises(LookupError, match="holds no record of a run"):
        Run(tmp_path)


def test_values_become_curves_with_the_spread_of_each_row(recorded):
    recorded.start()
    recorded.values(0, {"loss": 2.0, "gradient norm": "inf"})
    recorded.values(1, {"loss": [1.5, 1.0, 2.0, 4]}, steps=4)
    page = Run(recorded.folder).page()
    loss = curve(page, "loss")
    assert numbers(loss["mean"]) == [2, 1.5]
    assert (numbers(loss["low"]), numbers(loss["high"])) == ([2, 1], [2, 2])
    assert [numbers(column) for column in page["axes"][loss["axis"]]] == [[0, 1], [1, 4]]
    assert numbers(curve(page, "gradient norm")["mean"]) == [float("inf")]
    assert page["run"]["steps"] == 5


def test_curves_that_share_their_steps_share_an_axis(story):
    page = Run(story.folder).page()
    assert len(page["series"]) > 60
    assert len(page["axes"]) == 2


def test_only_what_is_new_is_sent_and_a_torn_line_waits_for_its_rest(recorded):
    recorded.start()
    recorded.values(0, {"loss": 2.0})
    run = Run(recorded.folder)
    first = run.page()
    with open(recorded.folder / "record.jsonl", "a") as file:
        file.write('{"row":"values","step":1,"steps":1,"time":1,')
        file.flush()
        run.refresh()
        assert run.page(first["version"])["series"] == []
        file.write('"v":{"loss":1.0}}\n')
    run.refresh()
    second = run.page(first["version"])
    assert curve(second, "loss")["start"] == 1
    assert numbers(curve(second, "loss")["mean"]) == [1]
    assert "findings" not in second


def test_the_row_in_the_making_is_shown_until_it_is_written(recorded):
    recorded.start()
    recorded.values(0, {"loss": 2.0})
    pending = {"row": "values", "step": 1, "steps": 3, "time": 9.0, "v": {"loss": [1.2, 1.0, 1.5, 3]}}
    latest = {"step": 3, "time": 9.0, "v": {"loss": 1.0}, "pending": pending}
    (recorded.folder / "latest.json").write_text(json.dumps(latest))
    run = Run(recorded.folder)
    assert numbers(curve(run.page(), "loss")["mean"]) == [2, 1.2]
    assert run.page()["run"]["steps"] == 4
    known = run.version
    recorded.write({**pending, "steps": 8, "time": 10.0})
    run.refresh()
    told = curve(run.page(known), "loss")
    assert (told["start"], numbers(told["mean"])) == (1, [1.2])


def test_rows_of_the_first_schema_are_understood(recorded):
    recorded.write({"row": "start", "schema": 1, "program": "train.py", "arguments": [], "time": 1.0})
    recorded.write({"row": "step", "step": 7, "loss": 0.5, "gradient_norm": "nan"})
    page = Run(recorded.folder).page()
    assert numbers(curve(page, "loss")["mean"]) == [0.5]
    assert page["run"]["steps"] == 8


@pytest.mark.parametrize(
    "row",
    [
        {"row": "values"},
        {"row": "values", "step": 1, "steps": 1, "time": 1, "v": {"loss": None, "x": [1, 2], "y": {}}},
        {"row": "values", "step": 1, "steps": 1, "time": float("nan"), "v": {}},
        {"row": "finding", "finding": {"diagnosis": "?"}},
        {"row": "end", "exit": 0},
        {"row": "later"},
    ],
)
def test_a_row_that_is_not_understood_hides_no_other(recorded, row):
    recorded.start()
    recorded.write(row)
    recorded.values(0, {"accuracy": 0.5})
    page = Run(recorded.folder).page()
    assert numbers(curve(page, "accuracy")["mean"]) == [0.5]
    json.dumps(page, allow_nan=False)


def test_a_finding_is_told_with_its_source_and_the_change_to_make(story):
    finding = Run(story.folder).page()["findings"][1]
    [row] = [row for row in finding["source"] if row["mark"]]
    assert row["text"][slice(*row["mark"])] == "torch.log(p)"
    assert finding["where"] == "train.py:5:18"
    assert finding["evidence"] == [["input minimum", "0"]]
    assert "+    return -(y * torch.log(p.clamp(min=1e-8))).sum(1).mean()" in finding["fixes"][0]["diff"]


def test_the_source_is_found_from_another_folder(story, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert any(row["mark"] for row in Run(story.folder).page()["findings"][1]["source"])


def test_a_record_cannot_have_other_files_than_source_shown(recorded, tmp_path):
    (tmp_path / "secret.txt").write_text("password\n")
    recorded.start()
    place = {"path": "secret.txt", "line": 1, "column": None, "end_line": None, "code": None}
    edit = {"path": "secret.txt", "line": 1, "column": 1, "end_line": 1, "end_column": 2, "replacement": "x"}
    recorded.finding(place=place, fixes=[{"title": "look", "edits": [edit], "verified": False}])
    assert "assword" not in json.dumps(Run(recorded.folder).page())


def test_findings_of_several_ranks_are_one(recorded):
    for rank in range(3):
        recorded.start(rank, ranks=3)
        recorded.values(0, {"loss": 1.0 + rank}, rank=rank)
    recorded.finding(rank=2, step=70)
    recorded.finding(rank=0, step=72)
    page = Run(recorded.folder).page()
    [finding] = page["findings"]
    assert (finding["ranks"], finding["step"]) == ([0, 2], 70)
    assert page["run"]["ranks"] == [0, 1, 2]
    assert numbers(curve(page, "loss", rank=2)["mean"]) == [3]


def test_a_rank_that_comes_later_is_seen(recorded):
    recorded.start(ranks=2)
    run = Run(recorded.folder)
    recorded.start(1, ranks=2)
    recorded.values(0, {"loss": 1.0}, rank=1)
    run.refresh()
    assert run.page()["run"]["ranks"] == [0, 1]


def test_an_ignored_diagnosis_is_left_out(story):
    page = Run(story.folder, frozenset({"log-of-zero"})).page()
    assert [finding["diagnosis"] for finding in page["findings"]] == ["learning-rate-too-high"]


def test_expectations_are_told_once_with_their_place(recorded):
    recorded.start()
    says = {"row": "expectation", "says": "the loss falls", "place": {"path": "train.py", "line": 3}}
    recorded.write(says, says)
    assert Run(recorded.folder).page()["expectations"] == [{"says": "the loss falls", "where": "train.py:3"}]


def test_the_pace_leaves_out_what_came_before_the_first_step(recorded):
    recorded.start()
    for step, seconds in ((0, 100.0), (1, 100.5), (2, 101.0)):
        recorded.write({"row": "values", "step": step, "steps": 1, "time": seconds, "v": {"loss": 1.0}})
    assert Run(recorded.folder).page()["run"]["pace"] == 2


def test_a_step_that_was_kept_can_be_run_again(story):
    story.write({"row": "bundle", "path": "crash.sleuth", "id": "1", "step": 60})
    [bundle] = Run(story.folder).page()["bundles"]
    assert bundle == {"step": 60, "command": f"sleuth replay {story.folder / 'crash.sleuth'}"}


def test_an_ended_run_says_how(story):
    state = Run(story.folder).page()["run"]["state"]
    assert (state["name"], state["says"]) == ("ended", "stopped, exit status 1")


def test_a_run_is_killed_once_its_process_is_gone_and_it_went_quiet(recorded):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        recorded.write({"row": "start", "program": "train.py", "time": time.time(), "process": process.pid})
        run = Run(recorded.folder)
        recorded.age(20)
        assert run.page()["run"]["state"]["says"] == "running"
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        # Not yet waited for, as in a container without an init: a zombie.
        assert run.page()["run"]["state"]["name"] == "killed"
    assert run.page()["run"]["state"]["name"] == "killed"
    recorded.age(1)
    assert run.page()["run"]["state"]["name"] == "running"


def test_a_living_run_says_for_how_long_nothing_was_heard(recorded):
    recorded.write({"row": "start", "program": "train.py", "time": time.time(), "process": os.getpid()})
    recorded.age(95)
    assert Run(recorded.folder).page()["run"]["state"]["quiet"] == 90


def test_the_tag_changes_with_the_data_and_the_state_only(recorded):
    recorded.start()
    run = Run(recorded.folder)
    tag = run.tag()
    run.refresh()
    assert run.tag() == tag
    recorded.values(0, {"loss": 1.0})
    run.refresh()
    assert run.tag() != tag
    tag = run.tag()
    recorded.age(60)
    assert run.tag() != tag


def test_a_run_that_is_cleared_away_is_still_shown(story):
    run = Run(story.folder)
    (story.folder / "record.jsonl").unlink()
    run.refresh()
    assert len(run.page()["findings"]) == 2
