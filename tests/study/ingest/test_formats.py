import csv
import gzip
import json
import random
from contextlib import suppress

import py7zr
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_dump
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.study.corpus import COLUMNS, open_corpus
from sleuth.study.ingest import jsons, run, seen, shapes, sources
from sleuth.study.ingest.choice import Choice
from sleuth.study.ingest.values import Unfit

QUESTION = {
    "question_id": 7,
    "title": "Why is &quot;loss&quot; NaN?",
    "body": "<p>See:</p>\n\n<pre><code>a &lt; b\n</code></pre>\n",
    "tags": ["pytorch", "nan"],
    "creation_date": 1_500_000_000,
    "last_activity_date": 1_500_000_100,
    "accepted_answer_id": 9,
    "view_count": 12,
    "score": -1,
    "answer_count": 1,
    "owner": {"user_id": 3},
    "link": "https://stackoverflow.com/questions/7/why",
    "answers": [{"answer_id": 9, "creation_date": 1_500_000_060, "body": "<p>Clip.</p>", "score": 4}],
}
ISSUE = {
    "number": 12,
    "title": "NaN in softmax",
    "body": "<!-- fill in -->\nIt fails:\n\n```python\nx = 1\n```\n\nagain",
    "labels": [{"name": "bug"}, {"name": "good first issue"}],
    "created_at": "2020-01-02T03:04:05Z",
    "closed_at": None,
    "updated_at": "2020-02-02T03:04:05Z",
    "comments": 3,
    "user": {"id": 77},
    "html_url": "https://github.com/acme/nets/issues/12",
    "reactions": {"total_count": 5},
}
COMMIT = {
    "sha": "abc123",
    "html_url": "https://github.com/acme/nets/commit/abc123",
    "commit": {
        "message": "Fix NaN in loss\n\nCloses #12",
        "author": {"date": "2020-01-03T00:00:00+02:00"},
        "committer": {"date": "2020-01-04T00:00:00Z"},
    },
    "files": [{"patch": "@@ -1 +1 @@\n-a\n+b"}],
}


def taken_in(path, into, site=None, columns=None, choice=None):
    """The posts and what was put aside."""
    found, _ = sources.find(path, site, columns or {})
    run.ingest(found, into, choice)
    posts = [row for part in open_corpus(into).parts for row in pq.read_table(part, schema=COLUMNS).to_pylist()]
    return posts, [json.loads(line) for line in (into / "set-aside.jsonl").read_text().splitlines()]


def test_an_item_of_the_stack_exchange_api_with_its_answer(tmp_path):
    (tmp_path / "page.json").write_text(json.dumps({"items": [QUESTION], "has_more": False, "quota_max": 300}))
    (question, answer), aside = taken_in(tmp_path / "page.json", tmp_path / "corpus")
    assert aside == []
    assert question["key"] == "so:7"
    assert question["title"] == 'Why is "loss" NaN?'
    assert (question["text"], question["code"]) == ("See:", ["a < b"])
    assert question["created_ms"] == 1_500_000_000_000
    assert question["accepted_ms"] == 1_500_000_060_000
    assert (answer["kind_of_post"], answer["parent"], answer["text"]) == ("answer", 7, "Clip.")


LAYOUTS = {
    "a list": json.dumps([ISSUE, COMMIT]),
    "a list with white space": json.dumps([ISSUE, COMMIT], indent=3),
    "a page": json.dumps({"items": [ISSUE, COMMIT], "has_more": True}),
    "a page in another order": json.dumps({"total_count": 2, "incomplete_results": False, "items": [ISSUE, COMMIT]}),
    "pages one after the other": json.dumps([ISSUE]) + json.dumps([COMMIT], indent=1),
    "lines": json.dumps(ISSUE) + "\n" + json.dumps(COMMIT) + "\n",
    "a byte-order mark": "\ufeff" + json.dumps([ISSUE, COMMIT]),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("written", LAYOUTS.values(), ids=LAYOUTS)
def test_issues_and_commits_of_github_in_any_layout(tmp_path, written, packed):
    path = tmp_path / ("gh.json.gz" if packed else "gh.json")
    path.write_bytes(gzip.compress(written.encode()) if packed else written.encode())
    (issue, commit), aside = taken_in(path, tmp_path / "corpus")
    assert aside == []
    assert issue["key"] == "gh:acme/nets#issues/12"
    assert (issue["text"], issue["code"]) == ("It fails:\n\nagain", ["x = 1"])
    assert (issue["tags"], issue["score"], issue["comments"], issue["owner"]) == (["bug", "good first issue"], 5, 3, 77)
    assert (commit["kind_of_post"], commit["title"], commit["text"]) == ("commit", "Fix NaN in loss", "Closes #12")
    assert commit["code"] == ["@@ -1 +1 @@\n-a\n+b"]
    assert commit["created_ms"] == 1_578_002_400_000


def test_a_pull_request_and_what_the_command_line_of_github_writes(tmp_path):
    pull = {**ISSUE, "number": 13, "pull_request": {"url": "x"}}
    listed = {
        "number": 14,
        "title": "t",
        "createdAt": "2020-01-02T03:04:05Z",
        "url": "https://github.com/a/b/issues/14",
    }
    (tmp_path / "x.json").write_text(json.dumps([pull, {**listed, "labels": [{"name": "bug"}], "comments": [{}, {}]}]))
    (first, second), _ = taken_in(tmp_path / "x.json", tmp_path / "corpus")
    assert (first["key"], first["kind_of_post"]) == ("gh:acme/nets#pull/13", "pull-request")
    assert (second["key"], second["comments"], second["tags"]) == ("gh:a/b#issues/14", 2, ["bug"])


def test_lines_with_keys_as_labelled_sets_have_them(tmp_path):
    rows = [
        {"key": "so:1", "title": "a", "body": "<p>b</p>", "tags": ["x"], "created": "2014-09-29T20:04:09.283"},
        {"key": "gh:acme/nets#pull/2", "title": "c", "body": "```\nd\n```"},
        {"key": "gh:acme/nets#commit/1234567"},
        {"key": "ptf:3", "text": "plain < text", "accepted_at": "2014-09-29T20:04:09Z"},
    ]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    posts, aside = taken_in(tmp_path / "texts.jsonl", tmp_path / "corpus")
    assert aside == []
    assert [(post["site"], post["kind_of_post"], post["id"]) for post in posts] == [
        ("stackoverflow", "question", 1),
        ("github", "pull-request", 2),
        ("github", "commit", None),
        ("pytorch-forum", "question", 3),
    ]
    assert posts[0]["created_ms"] == 1_412_021_049_283
    assert posts[1]["code"] == ["d"]
    assert posts[3]["text"] == "plain < text"


def test_broken_records_are_put_aside_and_the_others_kept(tmp_path):
    first, second, third = (json.dumps({**ISSUE, "number": number}) for number in (11, 12, 13))
    odd = '17, {"number": "x", "title": "t"}, {"a": 1}'
    written = f'[{first},\n{{"number": 1, "title": oops}},\n{second}, {odd}, {third}]'
    (tmp_path / "x.json").write_text(written)
    posts, aside = taken_in(tmp_path / "x.json", tmp_path / "corpus")
    assert [post["id"] for post in posts] == [11, 12, 13]
    assert [row["why"].split(":")[0] for row in aside] == [
        "not JSON",
        "it is not an object",
        "number is not a whole number",
        "it is neither a post nor an issue nor a commit",
    ]
    assert aside[0]["offset"] == written.index('{"number": 1,')


@pytest.mark.parametrize("piece", [40, 1 << 20])
def test_a_long_list_is_read_piece_by_piece_and_from_any_record_on(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(jsons, "_PIECE", piece)
    monkeypatch.setattr(jsons, "_IN_SIGHT", 30)
    path = tmp_path / "x.json"
    path.write_text(
        json.dumps({"items": [{"key": f"so:{n}", "title": "é" * n} for n in range(50)]}, ensure_ascii=False)
    )

    def read(position):
        with open(path, "rb") as file:
            file.seek(position)
            return list(jsons.read_values(Bytes(file), position))

    items = read(0)
    assert [item.value["key"] for item in items] == [f"so:{n}" for n in range(50)]
    for at in (0, 17, 49):
        assert read(items[at].end) == items[at + 1 :]


class Bytes:
    done = 0

    def __init__(self, file):
        self._file = file

    def read(self, count):
        return self._file.read(count)


def test_a_list_larger_than_a_window_needs_no_more_memory_than_one(tmp_path, monkeypatch):
    monkeypatch.setattr(jsons, "_PIECE", 1000)
    longest = []
    grow = jsons._Window.grow

    def watched(window):
        longest.append(len(window.text))
        return grow(window)

    monkeypatch.setattr(jsons._Window, "grow", watched)
    monkeypatch.setattr(jsons, "_IN_SIGHT", 30)
    (tmp_path / "x.json").write_text(json.dumps([{"key": f"so:{n}", "title": "t" * 90} for n in range(3000)]))
    posts, _ = taken_in(tmp_path / "x.json", tmp_path / "corpus")
    assert len(posts) == 3000
    assert max(longest) < 5000


HEADER = ["Post ID", "Titel", "creation_date", "Body", "tags", "view count"]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_csv_with_columns_by_their_names_and_as_told(tmp_path, mark):
    with open(tmp_path / "x.csv", "w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=mark)
        writer.writerow(HEADER)
        writer.writerow([1, 'a "b"', "2020-01-01 00:00:01", "<p>x\ny</p>", "<a><b>", "7"])
        writer.writerow([2, "c"])
        writer.writerow(["x", "d", "", "", "", ""])
        writer.writerow([3, "e", "yesterday", "", "", ""])
        writer.writerow([4, "f", "", "", "a, b", "8.0"])
    posts, aside = taken_in(tmp_path / "x.csv", tmp_path / "corpus", "stackoverflow", {"title": "Titel"})
    assert [(post["key"], post["title"], post["views"]) for post in posts] == [("so:1", 'a "b"', 7), ("so:4", "f", 8)]
    assert (posts[0]["text"], posts[0]["tags"], posts[0]["created_ms"]) == ("x\ny", ["a", "b"], 1_577_836_801_000)
    assert [row["why"] for row in aside] == [
        "it has 2 fields, the header has 6",
        "id is not a whole number: 'x'",
        "created is not a time: 'yesterday'",
    ]


def test_parquet_with_typed_columns(tmp_path):
    times = pa.array([1_500_000_000_123, None], pa.timestamp("ms"))
    table = pa.table(
        {"id": [1, 2], "title": ["a", None], "body": ["<p>x</p>", None], "date": times, "tags": [["p"], None]}
    )
    pq.write_table(table, tmp_path / "x.parquet")
    (first, second), aside = taken_in(tmp_path / "x.parquet", tmp_path / "corpus", "stackoverflow")
    assert aside == []
    assert (first["created_ms"], first["tags"], first["text"]) == (1_500_000_000_123, ["p"], "x")
    assert (second["key"], second["tags"], second["text"]) == ("so:2", [], None)


def test_a_corpus_can_be_taken_in_again_as_parquet(tmp_path):
    (tmp_path / "Posts.xml").write_bytes(small_dump.whole(small_dump.rows(60)))
    posts, _ = taken_in(tmp_path / "Posts.xml", tmp_path / "one", "stackoverflow")
    again, aside = taken_in(tmp_path / "one" / "posts" / "part-00000.parquet", tmp_path / "two")
    assert again == posts
    assert aside == []


@pytest.mark.parametrize("packing", ["gz", "7z", "utf-16"])
def test_packed_dumps_give_the_rows_of_the_plain_one(tmp_path, packing):
    data = small_dump.whole(small_dump.rows(300, bars=True))
    (tmp_path / "Posts.xml").write_bytes(data)
    expected, _ = taken_in(tmp_path / "Posts.xml", tmp_path / "plain", "ai.stackexchange")
    if packing == "gz":
        path = tmp_path / "ai.stackexchange.com-Posts.xml.gz"
        path.write_bytes(gzip.compress(data))
    elif packing == "7z":
        path = tmp_path / "ai.stackexchange.com.7z"
        with py7zr.SevenZipFile(path, "w") as archive:
            archive.writestr(b"<tags></tags>", "Tags.xml")
            archive.write(tmp_path / "Posts.xml", "Posts.xml")
            archive.writestr(b"<users></users>", "Users.xml")
    else:
        path = tmp_path / "ai.stackexchange.xml"
        path.write_bytes(data.decode("utf-8-sig").encode("utf-16"))
    posts, aside = taken_in(path, tmp_path / "corpus")
    assert posts == expected
    assert aside == []


def test_a_damaged_archive_gives_what_can_be_read_and_says_so(tmp_path):
    noise = random.Random(1)
    rows = [small_dump.row(Id=n, PostTypeId=2, Body=f"<p>{noise.getrandbits(4000)}</p>") for n in range(1, 1500)]
    path = tmp_path / "Posts.xml.gz"
    path.write_bytes(gzip.compress(small_dump.whole(rows))[:-20_000])
    posts, aside = taken_in(path, tmp_path / "corpus")
    assert 1400 < len(posts) < 1499
    assert [post["id"] for post in posts] == list(range(1, len(posts) + 1))
    # The row that was cut off, and the damage.
    assert [row["why"].partition(":")[0] for row in aside] == ["not well-formed", "the gzip data is damaged here"]
    assert "damaged" in open_corpus(tmp_path / "corpus").manifest["sources"][0]


def test_an_archive_that_cannot_be_read_at_all_is_refused(tmp_path):
    path = tmp_path / "Posts.7z"
    path.write_bytes(b"7z, or so it says")
    with pytest.raises(sources.CannotIngest, match="cannot be read"):
        sources.find(path, None, {})
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.writestr(bytes(random.Random(1).randbytes(9000)), "Posts.xml")
    packed = bytearray(path.read_bytes())
    packed[2000:2500] = b"\xff" * 500
    path.write_bytes(packed)
    with pytest.raises(sources.CannotIngest, match=r"Posts\.7z"):
        sources.find(path, None, {})


def test_a_folder_is_searched_and_what_holds_no_posts_is_named(tmp_path):
    folder = tmp_path / "exports"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "Posts.xml").write_bytes(small_dump.whole(small_dump.rows(3)))
    (folder / "issues.json").write_text(json.dumps([ISSUE]))
    (folder / "Tags.xml").write_bytes(b'<?xml version="1.0"?><tags><row Id="1" TagName="x" /></tags>')
    (folder / "labels.csv").write_text("source,key,label\na,b,c\n")
    (folder / "notes.md").write_text("hello")
    (folder / "empty.json").write_text("")
    found, others = sources.find(folder, None, {})
    assert [source.path.name for source in found] == ["Posts.xml", "issues.json"]
    assert [line.removeprefix(f"{folder}/") for line in others] == [
        "Tags.xml is not a dump of posts: it begins with <tags>",
        "empty.json is empty",
        "labels.csv has no column for a title or a text (--column title=NAME says which); it has source, key, label",
        "notes.md is in no format that Sleuth knows",
    ]
    assert len(taken_in(folder, tmp_path / "corpus")[0]) == 4


def test_many_small_files_make_few_parts(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}.json").write_text(json.dumps({"items": [{**QUESTION, "question_id": number + 100}]}))
    posts, _ = taken_in(folder, tmp_path / "corpus")
    assert [post["id"] for post in posts if post["parent"] is None] == list(range(100, 140))
    assert len(open_corpus(tmp_path / "corpus").parts) == 1


def test_a_post_that_comes_twice_is_kept_once(tmp_path, monkeypatch):
    monkeypatch.setattr(seen, "_RECENT", 3)
    folder = tmp_path / "pages"
    folder.mkdir()
    for page in range(6):
        items = [{"key": f"so:{number}", "title": f"of page {page}"} for number in range(page * 4, page * 4 + 7)]
        (folder / f"{page}.json").write_text(json.dumps({"items": items}))
    posts, _ = taken_in(folder, tmp_path / "corpus")
    assert [post["id"] for post in posts] == list(range(27))
    assert posts[4]["title"] == "of page 0"
    assert open_corpus(tmp_path / "corpus").manifest["came_twice"] == 15


def test_dates_choose_questions_and_answers_go_with_them(tmp_path):
    (tmp_path / "x.json").write_text(
        json.dumps([QUESTION, {**QUESTION, "question_id": 8, "creation_date": 1_600_000_000, "answers": []}])
    )
    early, _ = taken_in(tmp_path / "x.json", tmp_path / "a", choice=Choice(until_ms=1_550_000_000_000))
    late, _ = taken_in(tmp_path / "x.json", tmp_path / "b", choice=Choice(since_ms=1_550_000_000_000))
    assert [post["id"] for post in early] == [7, 9]
    assert [post["id"] for post in late] == [8]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [*QUESTION, *ISSUE, *COMMIT, "key", "answer_id", "post_id", "views", "created", "code", "text", "id", "site"]


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8), st.sampled_from([{}, QUESTION, ISSUE, COMMIT]))
def test_any_record_becomes_typed_posts_or_is_unfit(changes, base):
    record = json.loads(json.dumps({**base, **changes}))
    posts = []
    with suppress(Unfit):
        posts = list(shapes.posts_of(record, "stackoverflow", 1, {}))
    pa.Table.from_pylist(posts, COLUMNS).validate(full=True)
