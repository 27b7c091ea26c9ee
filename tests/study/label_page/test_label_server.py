"""The server answers one rater's page and nobody else, and says `saved` when it is."""

from __future__ import annotations

import http.client
import json
import os
import threading

import pytest
from label_samples import ANSWERS, CREATED, SCORE, STRATUM, VIEWS

from sleuth.study.label.server import usual_port
from sleuth.study.label.store import read_labels


@pytest.fixture
def server(serve):
    return serve()


@pytest.fixture
def ask(server):
    """An answer's status and body."""

    def send(path, said=None, method=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        given = {"X-Sleuth-Token": server.token, "Content-Type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        body = None if said is None else said if isinstance(said, str) else json.dumps(said)
        connection.request(method or ("GET" if said is None else "POST"), path, body, given)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content.decode()

    return send


@pytest.fixture
def choice(server):
    return {"session": server.session.id, "key": "so:3", "labels": ["performance"], "second": None}


@pytest.fixture
def labels(sample):
    return sample.with_name("labels.jsonl")


def test_a_label_is_on_disk_before_it_is_confirmed(ask, choice, labels, monkeypatch):
    synced = []
    fsync = os.fsync

    def watched(descriptor):
        fsync(descriptor)
        synced.append(labels.read_text())

    monkeypatch.setattr(os, "fsync", watched)
    status, body = ask("/label", choice)
    assert status == 200
    assert json.loads(body)["mark"]["labels"] == ["performance"]
    assert '"performance"' in synced[-1]


def test_a_full_disk_is_said_and_never_confirmed(ask, choice, labels, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status, body = ask("/label", choice)
    assert (status, "No space left on device" in body) == (507, True)
    # It may well stand in the file by now; still nobody knows whether it is on disk.
    assert ask("/label", choice)[0] == 507
    monkeypatch.undo()
    assert ask("/label", choice)[0] == 200
    assert [label.label for label in read_labels(labels)] == ["performance"]


def test_a_note_is_taken(ask, server):
    status, _ = ask("/note", {"session": server.session.id, "key": "so:3", "note": "hm"})
    assert status == 200
    assert server.session.changes(0)["marks"]["so:3"]["note"] == "hm"


@pytest.mark.parametrize("path", ["/", "/page.js", "/page.css", "/work", "/changes", "/label"])
def test_without_the_token_nothing_is_given_or_taken(ask, choice, labels, path):
    assert ask(path, X_Sleuth_Token="wrong")[0] == 403
    assert ask("/label", choice, X_Sleuth_Token="wrong")[0] == 403
    assert labels.read_text() == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
    ],
)
def test_another_site_cannot_label(ask, choice, labels, headers):
    assert ask("/label", choice, **headers)[0] == 403
    assert labels.read_text() == ""


def test_the_page_itself_can(ask, choice, server):
    assert ask("/label", choice, Origin=f"http://127.0.0.1:{server.server_port}")[0] == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"key": "so:99"},
        {"key": 3},
        {"labels": ["nonsense"]},
        {"labels": "performance"},
        {"labels": [["performance"]]},
        {"labels": None},
        {"second": 1},
        {"second": "performance"},
    ],
)
def test_what_cannot_be_is_refused_in_one_line(ask, choice, labels, changes):
    status, body = ask("/label", {**choice, **changes})
    assert (status, body.count("\n")) == (400, 1)
    assert labels.read_text() == ""


@pytest.mark.parametrize("body", ["", "{", "[]", "null", "\u0000"])
def test_what_is_no_choice_at_all_is_refused(ask, body):
    assert ask("/label", body)[0] == 400


def test_a_page_of_another_piece_of_work_cannot_label_here(ask, choice, labels):
    assert ask("/label", {**choice, "session": "another"})[0] == 409
    assert labels.read_text() == ""


def test_more_than_a_note_can_hold_is_not_even_read(ask, choice):
    assert ask("/label", {**choice, "more": "x" * 100_000})[0] == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(ask, method):
    assert ask("/label", method=method)[0] == 501


def test_nothing_that_is_sent_could_sway_the_rater(ask, serve, choice, labels):
    other = serve("bob").session
    other.choose("so:3", ["training-anomaly"], "installation")
    other.annotate("so:3", "what bob thinks of it")
    sent = "".join(ask(path)[1] for path in ("/", "/page.js", "/page.css", "/work", "/changes"))
    for secret in (SCORE, VIEWS, ANSWERS, CREATED, STRATUM, "bob"):
        assert str(secret) not in sent
    work = json.loads(ask("/work")[1])
    assert not any(mark["labels"] or mark["second"] or mark["note"] for mark in work["marks"].values())
    # They are there to be found, had they been sent.
    assert "bob" in labels.read_text()


def test_the_work_is_sent_in_the_raters_own_order(ask, server, begin):
    work = json.loads(ask("/work")[1])
    assert [shown["key"] for shown in work["posts"]] == [shown.key for shown in begin("ann").posts]
    assert work["codebook"]["name"] == "kinds"


@pytest.mark.parametrize("since", ["", "-1", "x", "9" * 40, "%00"])
def test_a_strange_revision_gets_everything(ask, since):
    assert len(json.loads(ask(f"/changes?since={since}")[1])["marks"]) == 8


def test_two_raters_at_once_lose_nothing(ask, serve, labels):
    sessions = [serve(rater).session for rater in ("ann", "bob", "cat")]

    def work(session):
        for shown in session.posts:
            session.choose(shown.key, ["other"])

    threads = [threading.Thread(target=work, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_labels(labels)) == 24
    assert len(labels.read_text().splitlines()) == 24


def test_the_usual_port_is_the_same_for_the_same_work_and_differs_between_raters(begin):
    assert usual_port(begin("ann")) == usual_port(begin("ann"))
    assert len({usual_port(begin(rater)) for rater in ("ann", "bob", "cat", "dan")}) > 1
    assert 20_000 <= usual_port(begin()) < 32_000
