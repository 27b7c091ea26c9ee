import io
import json

import py7zr
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_dump

from sleuth.cli import main
from sleuth.study.corpus import open_corpus

ROWS = small_dump.rows(12, seed=1)


@pytest.fixture
def taken_in(tmp_path, capsys):
    """Writes files, ingests them, and gives the posts and the reasons of what was put aside."""

    def ingest(*files, options=()):
        for name, data in files:
            (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
        paths = [str(tmp_path / name) for name, _ in files]
        assert main(["study", "ingest", *paths, "--into", str(tmp_path / "c"), *options]) == 0, capsys.readouterr().err
        corpus = open_corpus(tmp_path / "c")
        aside = (tmp_path / "c" / "set-aside.jsonl").read_text().splitlines()
        posts = [row for part in corpus.parts for row in pq.read_table(part).to_pylist()]
        return posts, [json.loads(line)["why"] for line in aside]

    return ingest


@pytest.mark.parametrize(("encoding", "word"), [("iso-8859-1", "café"), ("windows-1251", "привет"), ("utf-16", "数据")])
def test_a_dump_is_read_in_the_encoding_that_it_declares(taken_in, encoding, word):
    row = f'<posts>\n <row Id="1" PostTypeId="1" Title="{word}" />\n</posts>'
    posts, aside = taken_in(("Posts.xml", f'<?xml version="1.0" encoding="{encoding}"?>\n{row}'.encode(encoding)))
    assert [post["title"] for post in posts] == [word]
    assert aside == []


def test_a_declaration_that_cannot_be_true_is_not_believed(taken_in):
    posts, _ = taken_in(("Posts.xml", small_dump.whole(ROWS, small_dump.HEAD.replace(b"utf-8", b"utf-16"))))
    assert len(posts) == 12


def test_utf_16_without_its_mark_is_known_by_its_zeros(taken_in):
    posts, _ = taken_in(("a.csv", "id,title\n1,über\n".encode("utf-16-le")))
    assert posts[0]["title"] == "über"


NOT_UTF8 = "it is not UTF-8 (--encoding says what it is)"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,title\n1,café\n2,tea\n"),
        ("a.jsonl", '{"question_id": 1, "title": "café"}\n{"question_id": 2, "title": "tea"}\n'),
        ("a.json", '{"items": [{"question_id": 1, "title": "café"}, {"question_id": 2, "title": "tea"}]}'),
    ],
)
def test_a_row_that_is_not_utf_8_is_put_aside_and_read_when_its_encoding_is_given(taken_in, name, text):
    posts, aside = taken_in((name, text.encode("latin-1")))
    assert [post["title"] for post in posts] == ["tea"]
    assert aside == [NOT_UTF8]
    posts, aside = taken_in((name, text.encode("latin-1")), options=["--encoding", "latin-1", "--anew"])
    assert [post["title"] for post in posts] == ["café", "tea"]


def test_lines_may_end_with_a_carriage_return_alone(taken_in):
    posts, aside = taken_in(("a.csv", 'id,title\r1,x\r2,"a, b"\r'))
    assert [post["title"] for post in posts] == ["x", "a, b"]
    assert aside == []


def test_a_quote_that_never_ends_does_not_make_a_post_of_the_rest(taken_in):
    posts, aside = taken_in(("a.csv", 'id,title\n1,fine\n2,"open\n3,x\n4,y\n'))
    assert [post["id"] for post in posts] == [1]
    assert aside == ["a quote that begins in it does not end"]


def test_what_a_page_has_behind_its_list_is_no_row(taken_in):
    page = {"items": [{"question_id": 1, "title": "x"}], "has_more": False, "meta": {"a": [1, {"b": 'q"'}]}, "n": None}
    posts, aside = taken_in(("a.json", json.dumps(page) * 2))
    assert [post["id"] for post in posts] == [1]
    assert aside == []


@pytest.mark.parametrize("as_edges", [False, True])
def test_issues_of_a_graphql_answer_are_found_where_they_are(taken_in, as_edges):
    issue = {
        "number": 7,
        "title": "NaN",
        "url": "https://github.com/acme/nets/issues/7",
        "labels": {"nodes": [{"name": "bug"}]},
        "comments": {"totalCount": 4},
    }
    inner = {"edges": [{"node": issue}]} if as_edges else {"nodes": [issue], "pageInfo": {"hasNextPage": False}}
    posts, aside = taken_in(("a.json", json.dumps({"data": {"repository": {"issues": inner}}})))
    assert [(post["key"], post["tags"], post["comments"]) for post in posts] == [("gh:acme/nets#issues/7", ["bug"], 4)]
    assert aside == []


def test_a_year_or_a_month_is_its_beginning_and_not_a_moment_of_1970(taken_in):
    posts, _ = taken_in(("a.csv", "id,title,date\n1,a,2020\n2,b,2020-05\n3,c,2020.0\n4,d,1577836800\n"))
    new_year = 1_577_836_800_000
    assert [post["created_ms"] for post in posts] == [new_year, 1_588_291_200_000, new_year, new_year]


def test_bytes_in_parquet_are_texts_and_objects_are_not(taken_in):
    file = io.BytesIO()
    pq.write_table(pa.table({"id": [1], "title": [b"caf\xc3\xa9"]}), file)
    assert taken_in(("a.parquet", file.getvalue()))[0][0]["title"] == "café"
    file = io.BytesIO()
    pq.write_table(pa.table({"id": [1], "title": [{"x": 1}]}), file)
    assert taken_in(("a.parquet", file.getvalue()), options=["--anew"]) == (
        [],
        ["it has an object where a text should be"],
    )


def test_a_dump_and_the_archive_it_came_from_are_counted_once(taken_in, tmp_path, capsys):
    data = small_dump.whole(ROWS)
    with py7zr.SevenZipFile(tmp_path / "packed.7z", "w") as archive:
        archive.writestr(data, "stackoverflow.com-Posts.xml")
    packed = (tmp_path / "packed.7z").read_bytes()
    posts, _ = taken_in(("Posts.xml", data), ("packed.7z", packed))
    assert len(posts) == len({post["key"] for post in posts}) == 12
    assert "12 posts came more than once" in capsys.readouterr().out


def test_an_archive_with_a_password_is_told_as_such(tmp_path, capsys):
    with py7zr.SevenZipFile(tmp_path / "a.7z", "w", password="secret") as archive:
        archive.writestr(small_dump.whole(ROWS), "Posts.xml")
    assert main(["study", "ingest", str(tmp_path / "a.7z"), "--into", str(tmp_path / "c")]) == 2
    assert capsys.readouterr().err == f"sleuth: {tmp_path}/a.7z cannot be read: it is locked with a password\n"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--tag", ""], "--tag takes the name of a tag, not nothing"),
        (["--since", "2020-01-02", "--until", "2020-01-01"], "--since 2020-01-02 is after --until 2020-01-01: no post"),
        (["--since", "2017"], "--since is not a time: '2017'; write a day such as 2018-12-31"),
        (["--encoding", "klingon"], "--encoding klingon: there is no such encoding"),
    ],
)
def test_a_choice_that_nothing_can_meet_is_refused(tmp_path, capsys, options, told):
    (tmp_path / "Posts.xml").write_bytes(small_dump.whole(ROWS))
    assert main(["study", "ingest", str(tmp_path / "Posts.xml"), "--into", str(tmp_path / "c"), *options]) == 2
    assert capsys.readouterr().err.startswith(f"sleuth: {told}")
    assert not (tmp_path / "c").exists()
