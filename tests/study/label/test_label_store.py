"""Labels survive a kill, a full stop in the middle of a line, and several raters at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.study.label.store import Label, LabelFile, NotLabels, read_labels, settle

# Confirms each label on standard output once the store says that it is on disk.
RATER = """
import sys
from sleuth.study.label.store import Label, LabelFile
path, rater, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
with LabelFile(path) as file:
    for number in range(many):
        file.append(Label(f"so:{number}", "kinds", "other", rater))
        print(number, flush=True)
"""


def _rater(path: Path, rater: str, many: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RATER, str(path), rater, str(many)], stdout=subprocess.PIPE, text=True
    )


def test_what_was_appended_is_read_back_with_its_time(tmp_path: Path) -> None:
    with LabelFile(tmp_path / "labels.jsonl") as file:
        written = file.append(Label("so:1", "kinds", "implementation", "ann", round=2, second="comprehension"))
    assert written.at_ms > 1_700_000_000_000
    assert list(read_labels(tmp_path / "labels.jsonl")) == [written]


def test_a_line_has_the_agreed_fields(tmp_path: Path) -> None:
    with LabelFile(tmp_path / "labels.jsonl") as file:
        file.append(Label("so:1", "kinds", "other", "ann", at_ms=7))
    assert json.loads((tmp_path / "labels.jsonl").read_text()) == {
        "key": "so:1",
        "codebook": "kinds",
        "label": "other",
        "rater": "ann",
        "round": 1,
        "at_ms": 7,
    }


def test_the_last_word_on_a_post_stands_for_each_rater_codebook_and_round(tmp_path: Path) -> None:
    said = [
        Label("so:1", "kinds", "other", "ann", at_ms=1),
        Label("so:1", "kinds", "performance", "bob", at_ms=2),
        Label("so:1", "effects", "crash", "ann", at_ms=3),
        Label("so:1", "kinds", "installation", "ann", round=2, at_ms=4),
        Label("so:1", "kinds", "comprehension", "ann", at_ms=5),
    ]
    with LabelFile(tmp_path / "labels.jsonl") as file:
        for label in said:
            file.append(label)
    assert set(read_labels(tmp_path / "labels.jsonl")) == set(said[1:])


def test_a_label_taken_back_is_gone(tmp_path: Path) -> None:
    with LabelFile(tmp_path / "labels.jsonl") as file:
        file.append(Label("so:1", "kinds", "other", "ann"))
        file.append(Label("so:1", "kinds", None, "ann"))
    assert len(read_labels(tmp_path / "labels.jsonl")) == 0


def test_the_history_stays_in_the_file(tmp_path: Path) -> None:
    for label in ("other", None, "performance"):
        with LabelFile(tmp_path / "labels.jsonl") as file:
            file.append(Label("so:1", "kinds", label, "ann"))
    assert len((tmp_path / "labels.jsonl").read_text().splitlines()) == 3


def test_a_killed_rater_has_every_label_that_was_confirmed(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rater = _rater(path, "ann", 1_000_000)
    assert rater.stdout is not None
    confirmed = [rater.stdout.readline() for _ in range(200)]
    rater.send_signal(signal.SIGKILL)
    confirmed += rater.stdout.readlines()
    rater.wait()
    rater.stdout.close()
    numbers = {int(line) for line in confirmed if line.endswith("\n")}
    assert len(numbers) >= 200
    assert {f"so:{number}" for number in numbers} <= {label.key for label in read_labels(path)}
    with LabelFile(path) as file:
        file.append(Label("so:last", "kinds", "other", "ann"))
    assert {f"so:{number}" for number in numbers} | {"so:last"} <= {label.key for label in read_labels(path)}


@given(cut=st.integers(min_value=1, max_value=90))
def test_a_torn_line_costs_nothing_but_itself(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("torn") / "labels.jsonl"
    first, torn, after = (Label(f"so:{n}", "kinds", "öther", "ann", at_ms=n) for n in (1, 2, 3))
    with LabelFile(path) as file:
        file.append(first)
        whole = path.stat().st_size
        file.append(torn)
    os.truncate(path, min(whole + cut, path.stat().st_size - 2))
    assert list(read_labels(path)) == [first]
    assert read_labels(path).torn == 1
    with LabelFile(path) as file:
        file.append(after)
    assert list(read_labels(path)) == [first, after]


def test_a_line_that_lacks_only_its_end_is_a_label(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    with LabelFile(path) as file:
        file.append(Label("so:1", "kinds", "other", "ann"))
        os.truncate(path, path.stat().st_size - 1)
        file.append(Label("so:2", "kinds", "other", "ann"))
    assert [label.key for label in read_labels(path)] == ["so:1", "so:2"]


def test_raters_in_several_processes_never_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    raters = [_rater(path, name, 150) for name in ("ann", "bob", "cem")]
    for rater in raters:
        rater.communicate()
    labels = read_labels(path)
    assert labels.torn == 0
    assert {(label.rater, label.key) for label in labels} == {
        (rater, f"so:{number}") for rater in ("ann", "bob", "cem") for number in range(150)
    }


def test_a_full_disk_is_one_clear_line() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with LabelFile("/dev/full") as file, pytest.raises(NotLabels, match="No space left"):
        file.append(Label("so:1", "kinds", "other", "ann"))


def test_a_csv_of_somebody_elses_labels_keeps_every_row(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        'source,key,scheme,label,rater\na,so:1,types,"API, misuse",E1\na,so:1,types,data,E1\na,so:2,types,,E1\n'
    )
    assert list(read_labels(path)) == [
        Label("so:1", "types", "API, misuse", "E1", source="a"),
        Label("so:1", "types", "data", "E1", source="a"),
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("hello\n", "neither JSON lines nor a CSV with the column key"),
        ('{"key": "so:1", "codebook": "kinds", "label": "a"}\n', "'rater' must be a text"),
        ('{"key": "so:1", "codebook": "kinds", "rater": "a"}\n', "'label' is missing"),
        ('{"key": "so:1", "codebook": "kinds", "label": 3, "rater": "a"}\n', "'label' must be a text or null"),
        ('{"key": "so:1", "codebook": "k", "label": "b", "rater": "a", "round": "x"}\n', "'round' must be a whole"),
        ('{"key": "so:1", "codebook": "k", "label": "b", "rater": "a"}\nwhat\n', "line 2 of .* not JSON"),
    ],
)
def test_what_is_no_label_is_named_in_one_line(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(content)
    with pytest.raises(NotLabels, match=complaint) as refused:
        read_labels(path)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotLabels, match="No such file"):
        read_labels(tmp_path / "nowhere.jsonl")
    with pytest.raises(NotLabels, match="No such file"):
        LabelFile(tmp_path / "nowhere" / "labels.jsonl")


_WORDS = st.text(min_size=1, max_size=8)


@given(
    st.lists(
        st.builds(
            Label,
            key=_WORDS,
            codebook=_WORDS,
            label=st.none() | _WORDS,
            rater=_WORDS,
            round=st.integers(1, 3),
            at_ms=st.integers(1, 2**53),
            second=st.none() | _WORDS,
        ),
        max_size=12,
    )
)
def test_any_labels_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, labels: list[Label]) -> None:
    path = tmp_path_factory.mktemp("any") / "labels.jsonl"
    with LabelFile(path) as file:
        for label in labels:
            file.append(label)
    assert tuple(read_labels(path)) == settle(labels)


def test_many_labels_at_once_are_all_there(tmp_path: Path) -> None:
    with LabelFile(tmp_path / "labels.jsonl") as file:
        written = file.append_all(Label(f"so:{n}", "kinds", "other", "ann") for n in range(1000))
        assert file.append_all([]) == []
    assert list(read_labels(tmp_path / "labels.jsonl")) == written
