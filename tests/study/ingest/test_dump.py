import random

import pytest
import small_dump
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_dump import SITE, Stream, read

from sleuth.study.ingest import dump, dump_row, prose
from sleuth.study.ingest.choice import Choice, Chooser
from sleuth.study.ingest.values import Unfit


@pytest.mark.parametrize("bars", [False, True])
@pytest.mark.parametrize("chunk", [500, 7_000, 4 << 20])
def test_rows_are_those_of_lxml_whatever_the_size_of_chunks(monkeypatch, bars, chunk):
    monkeypatch.setattr(dump, "_CHUNK", chunk)
    data = small_dump.whole(small_dump.rows(100 if chunk < 1000 else 400, seed=chunk, bars=bars))
    posts, aside = read(data)
    assert posts == small_dump.read_by_lxml(data, SITE)
    assert aside == []


def test_most_rows_need_no_parser(monkeypatch):
    slow = []
    monkeypatch.setattr(dump_row, "row", lambda data, site: slow.append(data))
    paragraph = "<p>Is 1 &lt; 2? <code>a&amp;b</code></p>\n\n<pre><code>if a:\n</code></pre>\n"
    rows = [small_dump.row(Id=n, PostTypeId=1, Body=paragraph, Title='"x"', Tags="<a><b>") for n in range(1, 100)]
    monkeypatch.setattr(dump, "_merged", lambda table, *others: table)
    posts, _ = read(small_dump.whole(rows))
    # The last one has the end of the dump behind it.
    assert len(posts) == 98
    assert len(slow) == 1


PIECES = st.sampled_from(
    "<p> </p> <pre> </pre> <pre><code> </code></pre> <PRE> <preview> <br> <br/> <li> </li> <b> </b> <a\thref='x'> </a> "
    "<code> </code> <strange> "
    "<!--\tx\t--> < > <> </ <1 & &lt; &gt; &amp; &amp;lt; &lt &nbsp; &#39; &#x27; &copy; &copy "
    "&quot; \" ' | || é 数 \u00a0 \n \n\n \r\n \t word a1 </pre\t> &#0; &bogus; <h1> <img\tsrc='a>b'> </p><p>".split(
        " "
    )
)


@settings(max_examples=250, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=14).map("".join), min_size=1, max_size=6))
@example(["<pre>a</pre>b"])
@example(["\n<pre>a</pre>\n\n\n\n\n<p>b</p>"])
@example(["<pre>a<pre>b</pre>c</pre>"])
def test_any_body_gives_the_text_and_code_that_the_slow_way_gives(bodies):
    rows = [small_dump.row(Id=n, PostTypeId=2, Body=body, Title=body) for n, body in enumerate(bodies, 1)]
    data = small_dump.whole([*rows, small_dump.row(Id=99)])
    posts, aside = read(data)
    assert posts == small_dump.read_by_lxml(data, SITE)
    assert aside == []


@pytest.mark.parametrize(
    "tags", ["<a>", "<a><b>", "|a|", "|a|b|", "", "a", "<a|b>", "||a|", "<><a>", "<a> <b>", "|a<b>|", "> <"]
)
def test_both_styles_of_tags_and_strange_ones(tags):
    data = small_dump.whole([small_dump.row(Id=1, PostTypeId=1, Tags=tags), small_dump.row(Id=2)])
    posts, _ = read(data)
    assert posts == small_dump.read_by_lxml(data, SITE)
    if tags in ("<a><b>", "|a|b|"):
        assert posts[0]["tags"] == ["a", "b"]


ODD = {
    "single quotes": b"<row Id='1' Score='3' Title='say \"x\"' />",
    "a raw line end": b'<row Id="1" Title="a\nb" />',
    "a tab between": b'<row\tId="1"\tScore="3"/>',
    "numeric entities": b'<row Id="1" Title="&#65;&#x42;&#x1F600;&#10;&#xa;" Body="&#60;p&#62;x&#38;lt;" />',
    "an unknown attribute": b'<row Id="1" Colour="red" />',
    "an end tag": b'<row Id="1" Score="-7"></row>',
    "a raw greater-than": b'<row Id="1" Body="a > b &lt;p&gt;c" Title="x>y" />',
    "apostrophes": b'<row Id="1" Title="it\'s &apos;so&apos;" />',
    "no line end": b'<row Id="1" Score="5" /><row Id="2" Score="6" />',
    "long numbers": b'<row Id="1234567890123" Score="-12345678901" ViewCount="0012" />',
    "nothing but an id": b'<row Id="1" />',
    "other times": b'<row Id="1" CreationDate="2016-02-29T01:02:03" LastActivityDate="2016-02-29" ClosedDate="" />',
    "carriage returns": b'<row Id="1" Title="a&#xD;&#xA;b" />\r\n',
}


@pytest.mark.parametrize("written", ODD.values(), ids=ODD)
def test_rows_that_are_written_in_another_way_are_read_as_well(written):
    for data in (
        small_dump.whole([written, b"\n"]),
        small_dump.whole([small_dump.row(Id=7), written, small_dump.row(Id=8)]),
    ):
        posts, aside = read(data)
        assert posts == small_dump.read_by_lxml(data, SITE)
        assert aside == []


BROKEN = {
    "not well-formed": b'  <row Id="5" Body="a & b" />\n',
    "not well-formed: unclosed token": b'  <row Id="5" Body="a\n',
    "not well-formed: duplicate attribute": b'  <row Id="5" Id="6" />\n',
    "Id is not a whole number: 'x'": b'  <row Id="x" />\n',
    "it has no Id": b'  <row Score="5" />\n',
    "CreationDate is not a time: '2016-02-30T00:00:00'": b'  <row Id="5" CreationDate="2016-02-30T00:00:00" />\n',
    "ClosedDate is not a time: '2015-02-29T00:00:00.000'": b'  <row Id="5" ClosedDate="2015-02-29T00:00:00.000" />\n',
    "not well-formed: not well-formed (invalid token)": b'  <row Id="5" Title="\xff\xfe" />\n',
    "not well-formed: not well-formed": b'  <row Id="5" Title="a\x01b" />\n',
    "not well-formed: undefined entity": b'  <row Id="5" Title="&nbsp;" />\n',
    "not well-formed: reference to invalid character number": b'  <row Id="5" Title="&#0;" />\n',
}


@pytest.mark.parametrize(("why", "broken"), BROKEN.items(), ids=BROKEN)
def test_a_broken_row_is_put_aside_with_its_place_and_the_reason(why, broken):
    before, after = small_dump.rows(3), small_dump.rows(6)[3:]
    posts, aside = read(small_dump.whole([*before, broken, *after]))
    assert [post["id"] for post in posts] == [1, 2, 3, 4, 5, 6]
    (row,) = aside
    assert row.why.startswith(why)
    assert row.offset == len(small_dump.HEAD) + sum(map(len, before)) + 2
    assert row.text == broken.decode("utf-8", "replace").strip()


def test_a_dump_that_was_cut_short_gives_all_rows_but_the_last():
    data = small_dump.whole(small_dump.rows(50))
    posts, aside = read(data[: data.rindex(b"CommentCount")])
    assert len(posts) == 49
    assert len(aside) == 1


def test_a_thousand_mutations_crash_nothing_and_touch_no_other_row():
    chance = random.Random(7)
    rows = small_dump.rows(41, seed=3)
    clean = small_dump.read_by_lxml(small_dump.whole(rows), SITE)
    for _ in range(50):
        # Every other row is hit: twenty mutations a dump.
        written = [mutated(row, chance) if number % 2 else row for number, row in enumerate(rows)]
        posts, aside = read(small_dump.whole(written))
        untouched = clean[::2]
        assert [post for post in posts if post in untouched] == untouched
        # Nothing goes silently: a row that was hit is still a post, or was put aside.
        gone = sum(not row.strip() for row in written)
        assert len(posts) + len(aside) >= len(rows) - gone


def mutated(row, chance):
    """One to four changes of the kinds that broken tools and broken disks make."""
    data = bytearray(row)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data))
        end = min(len(data), place + chance.randint(1, 40))
        change = chance.randrange(6)
        if change == 0:
            data[place] = chance.randrange(256)
        elif change == 1:
            del data[place:end]
        elif change == 2:
            data[place:place] = data[place:end]
        elif change == 3:
            data[place:place] = chance.choice(
                [b"<", b">", b'"', b"'", b"&", b"&amp", b"]]>", b"<!--", b"\0", b"\xc3", b"\n"]
            )
        elif change == 4:
            data[place:end] = bytes(chance.randrange(256) for _ in range(end - place))
        else:
            del data[place:]
            data += b"\n"
            break
        if not data:
            break
    return bytes(data)


def test_mutated_rows_are_judged_alike_by_the_fast_and_the_slow_way():
    chance = random.Random(11)
    rows = small_dump.rows(40, seed=5)
    for _ in range(300):
        written = mutated(chance.choice(rows), chance)
        if written.count(b"<row") != 1:
            continue
        alone = written[written.index(b"<row") :]
        posts, aside = read(small_dump.HEAD + alone + small_dump.row(Id=999))
        try:
            expected = dump_row.row(alone, SITE)
        except Unfit:
            assert aside
            assert posts[-1]["id"] == 999
            assert len(posts) == 1 or dump_row.end_of_row(alone)
        else:
            assert posts[0] == expected


@pytest.mark.parametrize("tags", [("tensorflow",), ("pytorch", "keras"), ("*torch*",), ("c++",), ("none-has-this",)])
@pytest.mark.parametrize("bars", [False, True])
@pytest.mark.parametrize("chunk", [900, 8 << 20])
def test_sifting_first_gives_what_parsing_first_gives(monkeypatch, tags, bars, chunk):
    monkeypatch.setattr(dump, "_SIFTED_CHUNK", chunk)
    broken = [
        b"  <row Id='700' PostTypeId='1' Tags='|tensorflow|' />\n",
        b'  <row PostTypeId="1" Id="701" Tags="&lt;pytorch&gt;" />\n',
    ]
    data = small_dump.whole([*small_dump.rows(300, seed=9, bars=bars), *broken])
    posts, aside = read(data, Choice(tags=tags))
    chooser = Chooser(Choice(tags=tags))
    expected = []
    for batch in dump.read(Stream(data), 0, SITE, Chooser(Choice())):
        expected += chooser.chosen(batch.posts).to_pylist()
    assert posts == expected
    assert aside == []
    asked = {post["id"] for post in posts if post["parent"] is None}
    assert all(chooser.choice.names_tag(tag) for tag in tags)
    assert {post["parent"] for post in posts if post["parent"] is not None} <= asked
    assert bool(posts) == (tags != ("none-has-this",))


def test_what_is_put_aside_while_sifting_has_its_true_place(monkeypatch):
    monkeypatch.setattr(dump, "_SIFTED_CHUNK", 700)
    rows = small_dump.rows(30, seed=2)
    broken = b'  <row Id="900" PostTypeId="1" Title="&bad;" Tags="&lt;keras&gt;" />\n'
    _, aside = read(small_dump.whole([*rows, broken, *rows]), Choice(tags=("keras",)))
    assert [row.offset for row in aside] == [len(small_dump.HEAD) + sum(map(len, rows)) + 2]


def test_text_beside_blocks_of_code_keeps_its_words_apart():
    text, code = prose.of_html("one<pre><code>x &lt; 1\n</code></pre>two<br>three <b>four</b><p>five</p><p>six</p>")
    assert text == "one\ntwo\nthree four\nfive\nsix"
    assert code == ["x < 1"]
