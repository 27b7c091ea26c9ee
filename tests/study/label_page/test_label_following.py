"""Following a file of labels gives what reading it whole would give, whatever happens to the file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.study.label.following import Following
from sleuth.study.label.store import Label, LabelFile, read_labels

KEYS = st.sampled_from(["so:1", "so:2", "so:3"])
LABELS = st.builds(
    Label,
    key=KEYS,
    codebook=st.just("kinds"),
    label=st.sampled_from([None, "other", "performance", "ä\u2028"]),
    rater=st.sampled_from(["ann", "bob"]),
    at_ms=st.integers(1, 10**13),
    second=st.sampled_from([None, "comprehension"]),
)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("said"), LABELS),
        st.tuples(st.just("looked"), st.none()),
        st.tuples(st.just("torn"), st.integers(1, 30)),
        st.tuples(st.just("cut"), st.integers(0, 3)),
        st.tuples(st.just("moved away"), st.none()),
        st.tuples(st.just("moved back"), st.none()),
        st.tuples(st.just("saved by an editor"), st.none()),
    ),
    max_size=20,
)


def _happens(path: Path, what: str, argument) -> None:
    if what == "said":
        with LabelFile(path) as file:
            file.append(argument)
    elif what == "torn":
        torn = b'{"key": "so:1", "codebook": "ki'[:argument]
        with open(path, "ab") as file:
            file.write(torn if file.tell() == 0 or path.read_bytes().endswith(b"\n") else b"\n" + torn)
    elif what == "moved back" and path.with_suffix(".away").exists():
        path.with_suffix(".away").replace(path)
    elif not path.exists():
        return
    elif what == "cut":
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:argument]))
    elif what == "moved away":
        path.replace(path.with_suffix(".away"))
    elif what == "saved by an editor":
        content = path.read_bytes()
        path.with_suffix(".new").write_bytes(content)
        path.with_suffix(".new").replace(path)


def _is_anns(label: Label) -> bool:
    return label.rater == "ann"


@settings(deadline=None, max_examples=100)
@given(EVENTS)
def test_it_knows_what_a_whole_reading_would_tell(events) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        followed = Following(path, _is_anns)
        for what, argument in events:
            if what == "looked":
                followed.refresh()
            else:
                _happens(path, what, argument)
        followed.refresh()
        whole = read_labels(path) if path.exists() else []
        assert followed.standing == {label.key: label for label in whole if _is_anns(label)}


def test_it_names_the_posts_of_which_something_is_new(tmp_path) -> None:
    path = tmp_path / "labels.jsonl"
    followed = Following(path, _is_anns)
    assert followed.refresh() == set()
    with LabelFile(path) as file:
        file.append(Label("so:1", "kinds", "other", "ann"))
        file.append(Label("so:2", "kinds", "other", "bob"))
        assert followed.refresh() == {"so:1"}
        assert followed.refresh() == set()
        file.append(Label("so:3", "kinds", "other", "ann"))
        file.append(Label("so:1", "kinds", None, "ann"))
    assert followed.refresh() == {"so:1", "so:3"}
    assert set(followed.standing) == {"so:3"}


def test_only_what_was_added_is_read(tmp_path) -> None:
    path = tmp_path / "labels.jsonl"
    followed = Following(path, _is_anns)
    with LabelFile(path) as file:
        file.append(Label("so:1", "kinds", "other", "ann"))
        followed.refresh()
        for number in range(9):
            file.append(Label(f"so:{number}", "kinds", "other", "bob"))
        followed.refresh()
        # Spoilt in its place: whoever read it again would see it.
        with open(path, "rb+") as spoilt:
            spoilt.write(b"#")
        file.append(Label("so:2", "kinds", "other", "ann"))
    assert followed.refresh() == {"so:2"}
