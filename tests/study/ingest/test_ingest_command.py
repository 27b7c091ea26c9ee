import io
import json
import subprocess
import sys

import pytest
import small_dump

from sleuth.cli import main, progress


@pytest.fixture
def dump(tmp_path):
    (tmp_path / "ai.stackexchange").mkdir()
    path = tmp_path / "ai.stackexchange" / "Posts.xml"
    path.write_bytes(small_dump.whole([*small_dump.rows(80, seed=6), b'  <row Id="5" Body="&" />\n']))
    return path


def sleuth(capsys, *words):
    status = main(["study", "ingest", *map(str, words)])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_it_says_what_it_took_in_and_that_it_was_finished_already(capsys, dump, tmp_path):
    into = tmp_path / "corpus"
    told = f"80 posts\n  1 row could not be read: {into}/set-aside.jsonl says why\n"
    assert sleuth(capsys, dump, "--into", into) == (0, f"{into} is finished: {told}", "")
    assert sleuth(capsys, dump, "--into", into) == (0, f"{into} was finished already: {told}", "")


def test_another_choice_needs_anew(capsys, dump, tmp_path):
    into = tmp_path / "corpus"
    sleuth(capsys, dump, "--into", into)
    status, _, told = sleuth(capsys, dump, "--into", into, "--tag", "keras")
    assert status == 2
    assert (
        told == f"sleuth: {into} holds an earlier ingest with another choice of posts; use --anew or another folder\n"
    )
    status, out, _ = sleuth(capsys, dump, "--into", into, "--tag", "keras", "--anew")
    assert status == 0
    assert "others were not asked for" in out


def test_json_tells_all_that_the_manifest_knows(capsys, dump, tmp_path):
    status, out, _ = sleuth(capsys, dump, "--into", tmp_path / "c", "--format", "json", "--since", "2015-01-01")
    told = json.loads(out)
    assert status == 0
    assert told["finished"] is True
    assert told["posts"] + told["left_out"] == 80
    assert told["sources"][0]["site"] == "ai.stackexchange"
    assert told["choice"]["since_ms"] == 1_420_070_400_000


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["missing.xml"], "there is no missing.xml"),
        (["{dump}", "--column", "date"], "--column date: write WHAT=NAME, where WHAT is one of key, id, site, kind, "),
        (["{dump}", "--since", "May"], "--since is not a time: 'May'; write a day such as 2018-12-31"),
        (["{folder}/Tags.xml"], "Tags.xml is not a dump of posts: it begins with <tags>"),
    ],
)
def test_refusals_are_one_line(capsys, dump, tmp_path, words, line):
    (tmp_path / "Tags.xml").write_text("<tags></tags>")
    words = [word.format(dump=dump, folder=tmp_path) for word in words]
    status, out, told = sleuth(capsys, *words, "--into", tmp_path / "corpus")
    assert (status, out) == (2, "")
    assert line in told
    assert told.count("\n") == 1


def test_a_folder_with_other_files_is_not_touched(capsys, dump, tmp_path):
    into = tmp_path / "mine"
    into.mkdir()
    (into / "thesis.txt").write_text("x")
    status, _, told = sleuth(capsys, dump, "--into", into)
    assert status == 2
    assert "holds other files" in told
    assert [file.name for file in into.iterdir()] == ["thesis.txt"]


def test_a_site_that_nothing_names_is_asked_for(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Posts.xml").write_bytes(small_dump.whole(small_dump.rows(2)))
    assert "--site stackoverflow" in sleuth(capsys, "Posts.xml", "--into", "a")[2]
    assert sleuth(capsys, "Posts.xml", "--into", "b", "--site", "stackoverflow")[2] == ""


def test_ingest_and_select_in_one_command(tmp_path):
    rows = [
        small_dump.row(
            Id=1,
            PostTypeId=1,
            AcceptedAnswerId=4,
            CreationDate="2019-01-01T00:00:00.000",
            Title="How to clip?",
            Tags="<pytorch>",
        ),
        small_dump.row(
            Id=2, PostTypeId=1, CreationDate="2019-01-01T00:00:00.000", Title="How to clip?", Tags="<tensorflow>"
        ),
        small_dump.row(Id=3, PostTypeId=1, CreationDate="2019-01-01T00:00:00.000", Title="How to sort?", Tags="<java>"),
        small_dump.row(Id=4, PostTypeId=2, ParentId=1, CreationDate="2019-01-01T00:00:01.000", Body="<p>So.</p>"),
    ]
    (tmp_path / "Posts.xml").write_bytes(small_dump.whole(rows))
    words = ["Posts.xml", "--site", "stackoverflow", "--preset", "implementation", "--into", "howto"]
    command = [sys.executable, "-m", "sleuth", "study", "ingest", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "howto-ingested is finished: 3 posts" in done.stdout
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.endswith("howto was finished already: 1 post\n")
    manifest = json.loads((tmp_path / "howto" / "corpus.json").read_text())
    assert manifest["posts"] == 1
    assert [step["posts"] for step in manifest["funnel"] if step["posts"] is not None] == [3, 2, 2, 1]


@pytest.mark.parametrize(("seconds", "shown"), [(1, "300 of 1,000 MB"), (4, "300 of 1,000 MB · 50 MB/s · 14 s left")])
def test_progress_tells_a_rate_and_how_long_the_rest_takes(monkeypatch, seconds, shown):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    clock = [100.0]
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress, "_AFTER_SECONDS", 0.5)
    with progress.Progress("MB", per=1_000_000, rate=True) as tell:
        # Where an earlier run was: not part of the rate.
        tell(100_000_000, 1_000_000_000)
        clock[0] += seconds
        tell(300_000_000, 1_000_000_000)
        assert f"sleuth: {shown}\x1b" in sys.stderr.getvalue()


def test_long_times_are_told_as_a_clock():
    assert [progress._clock(seconds) for seconds in (3.4, 63, 3723)] == ["3 s", "1:03", "1:02:03"]


def test_ctrl_c_says_that_the_same_command_goes_on(tmp_path, monkeypatch, capsys):
    (tmp_path / "Posts.xml").write_bytes(small_dump.whole(small_dump.rows(5)))

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("sleuth.study.ingest.run.ingest", interrupted)
    assert main(["study", "ingest", str(tmp_path / "Posts.xml"), "--into", str(tmp_path / "corpus")]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
