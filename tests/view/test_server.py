"""Only a browser of this machine that knows the secret gets anything."""

from __future__ import annotations

import http.client
import json

import pytest


@pytest.fixture
def server(serve, story):
    return serve(story.folder)


@pytest.fixture
def ask(server):
    """Answers' status, headers and body."""

    def get(path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    return get


PATHS = ["/", "/page.js", "/page.css", "/data", "/data?since=3", "/runs", "/record.jsonl", "/../../etc/passwd"]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_given(ask, path):
    status, _, body = ask(path)
    assert (status, body) == (403, b"open the address that `sleuth view` has printed\n")


@pytest.mark.parametrize("token", ["", "x", "é", "%00", "\udcff"])
def test_a_wrong_token_opens_nothing(ask, server, token):
    assert ask(f"/?token={token.encode('utf-8', 'surrogateescape').hex()}")[0] == 403
    assert ask("/data", X_Sleuth_Token=token.encode("utf-8", "surrogateescape"))[0] == 403
    assert ask("/data", Cookie=f"{server.cookie}={server.token[:-1]}")[0] == 403
    assert ask("/data", Cookie=f"sleuth-1={server.token}")[0] == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1@evil", "0.0.0.0", ""]
)
def test_another_host_is_refused_even_with_the_token(ask, server, host):
    assert ask(f"/?token={server.token}", Host=host)[0] == 403
    assert ask("/data", Host=host, X_Sleuth_Token=server.token)[0] == 403


@pytest.mark.parametrize("host", ["localhost:9999", "127.0.0.1:1", "LOCALHOST", "[::1]:8080"])
def test_a_tunnel_may_end_at_another_port(ask, server, host):
    assert ask("/data", Host=host, X_Sleuth_Token=server.token)[0] == 200


def test_the_token_opens_the_page_and_its_cookie_the_rest(ask, server):
    status, headers, body = ask(f"/?token={server.token}")
    assert status == 200
    assert b"<!doctype html>" in body
    assert server.token.encode() not in body
    cookie, *rules = headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(rules)
    for path in ("/", "/page.js", "/page.css", "/data"):
        assert ask(path, Cookie=cookie)[0] == 200


def test_cookies_of_other_servers_do_no_harm(ask, server):
    others = 'last={"a": [1, 2]}; é=ü; =; ; x'
    assert ask("/data", Cookie=f"{others}; {server.cookie}={server.token}; y=1".encode())[0] == 200
    assert ask("/data", Cookie=others.encode())[0] == 403


def test_a_token_in_the_address_opens_only_the_page(ask, server):
    assert ask(f"/data?token={server.token}")[0] == 403


@pytest.mark.parametrize("path", ["/", "/data", "/page.js", "/nothing", "/..%2f..%2fetc/passwd", "//etc/passwd"])
@pytest.mark.parametrize("known", [True, False])
def test_every_answer_has_the_strict_headers(ask, server, path, known):
    _, headers, _ = ask(path, **({"X_Sleuth_Token": server.token} if known else {}))
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "Python" not in headers["Server"]


def test_there_are_no_files_to_be_had(ask, server):
    for path in ("/train.py", "/record.jsonl", "/page/", "/%2e%2e/train.py"):
        assert ask(path, X_Sleuth_Token=server.token)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_there_is_nothing_to_change(ask, server, method):
    status, headers, _ = ask("/data", method, X_Sleuth_Token=server.token)
    assert status == 501
    assert "Content-Security-Policy" in headers


def test_the_same_data_is_not_sent_twice(ask, server):
    status, headers, body = ask("/data", X_Sleuth_Token=server.token)
    version = json.loads(body)["version"]
    known = {"X_Sleuth_Token": server.token, "If_None_Match": headers["ETag"]}
    assert ask(f"/data?since={version}", **known)[0] == 304
    assert (status, ask(f"/data?since={version}", **known)[2]) == (200, b"")


@pytest.mark.parametrize("since", ["x", "-1", "9" * 400, "1.5", "--1", "²", ""])
def test_a_strange_version_is_answered_with_data(ask, server, since):
    from urllib.parse import quote

    status, _, body = ask(f"/data?since={quote(since)}", X_Sleuth_Token=server.token)
    assert status == 200
    assert json.loads(body)["run"]["program"] == "train.py"


def test_it_listens_on_loopback_only(server):
    assert server.server_address[0] == "127.0.0.1"


def test_each_server_has_its_own_secret(serve, story, server):
    other = serve(story.folder)
    assert other.token != server.token
    assert len(server.token) >= 32


@pytest.mark.parametrize("name", ["..", "../..", "/etc", "", ".", "no-such-run", "%2e%2e"])
def test_a_run_is_only_what_the_list_has(ask, server, name):
    assert ask(f"/data?run={name}" if name else "/data?run=%00", X_Sleuth_Token=server.token)[0] == 404


def test_the_list_tells_what_each_run_was_and_how_it_ended(ask, server, story, another):
    another.start(program="other.py")
    (another.folder.parent / "empty").mkdir()
    (another.folder.parent / "noise").mkdir()
    (another.folder.parent / "noise" / "record.jsonl").write_bytes(b"\x00[[[")
    status, _, body = ask("/runs", X_Sleuth_Token=server.token)
    told = json.loads(body)
    assert status == 200
    assert told["chosen"] == story.folder.name
    assert {one["name"]: (one["command"], one["how"]) for one in told["runs"]} == {
        story.folder.name: ("train.py --lr 3", "stopped, exit status 1"),
        another.folder.name: ("other.py --lr 3", ""),
    }
    assert (
        json.loads(ask(f"/data?run={another.folder.name}", X_Sleuth_Token=server.token)[2])["run"]["program"]
        == "other.py"
    )
