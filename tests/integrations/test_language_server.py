"""The language server as an editor sees it: a real process, spoken to over its standard input and output."""

from __future__ import annotations

import json
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.workspace import PositionCodec

from sleuth import editing, handbook
from sleuth.findings import Finding, Link, Place
from sleuth.integrations.lsp import diagnostics, ignoring
from sleuth.integrations.lsp.abilities import Abilities
from sleuth.integrations.lsp.atlas import Atlas
from sleuth.integrations.lsp.positions import Ruler
from sleuth.integrations.lsp.subjects import Part
from sleuth.report.excerpt import Span
from sleuth.source.engine import Unit, examine
from sleuth.source.project import Project

SLEUTH = (sys.executable, "-m", "sleuth", "lsp")
PATIENCE = 300
Json = dict[str, Any]

MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 3)
        self.last = nn.Softmax(dim=1)

    def forward(self, x):
        return self.last(self.body(x))
"""
TRAIN = """\
import torch
import torch.nn.functional as F
from model import Net

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in data:
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
"""
# One line with letters of one, two and (in UTF-16) two units before what is wrong.
SOFTMAX = """\
import torch
import torch.nn.functional as F

name = "é😀"; loss = F.cross_entropy(torch.softmax(scores, 1), y)
"""
ARRAY = """\
import jax.numpy as jnp

x = jnp.zeros(3)
x[0] = 1.0
"""
STUMBLING = """\
import sys
from sleuth.source import engine

right = engine.examine


def examine(unit, project, **options):
    if "stumble" in unit.text:
        raise ZeroDivisionError("a bug of ours")
    print("noise on standard output")
    return right(unit, project, **options)


engine.examine = examine
from sleuth.cli import main

sys.exit(main(["lsp"]))
"""
ABLE = Abilities(related_information=True, deprecated_tag=True, markdown=True)


class Editor:
    """A client that keeps what it is told."""

    def __init__(self, folder: Path, command: tuple[str, ...] = SLEUTH, port: int | None = None) -> None:
        self.folder = folder
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._out, self._in = self.process.stdin, self.process.stdout
        if port is not None:
            line = _connected(port).makefile("rwb")
            self._out = self._in = line
        self.marks: dict[str, list[Json]] = {}
        self.versions: dict[str, int | None] = {}
        self.heard: list[Json] = []
        self._messages: queue.Queue[Json | None] = queue.Queue()
        self._ids = iter(range(1, 10_000))
        threading.Thread(target=self._listen, daemon=True).start()

    def start(self, **capabilities: Json) -> Json:
        told = {"processId": None, "rootUri": self.folder.as_uri(), "capabilities": capabilities}
        answer: Json = self.ask("initialize", told)
        self.tell("initialized", {})
        return answer

    def open(self, name: str, text: str, version: int = 1) -> str:
        uri = self.uri(name)
        document = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, version: int, *changes: Json) -> None:
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def close(self, uri: str) -> None:
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def actions(self, uri: str, range: Json, only: list[str] | None = None) -> list[Json]:
        context = {"diagnostics": [], **({} if only is None else {"only": only})}
        told = {"textDocument": {"uri": uri}, "range": range, "context": context}
        answer: list[Json] = self.ask("textDocument/codeAction", told)
        return answer

    def hover(self, uri: str, line: int, character: int) -> Any:
        where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return self.ask("textDocument/hover", where)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def codes(self, uri: str) -> list[str]:
        return [mark["code"] for mark in self.marks[uri]]

    def until(self, true: Callable[[], bool]) -> None:
        """Listen until something is true of what was heard."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            message = self._messages.get(timeout=max(0.01, deadline - time.monotonic()))
            assert message is not None, "the server went away"
            self._hear(message)

    def until_examined(self, uri: str, version: int = 1) -> list[Json]:
        self.until(lambda: (self.versions.get(uri) or 0) >= version)
        return self.marks[uri]

    def ask(self, method: str, params: Any) -> Any:
        number = next(self._ids)
        self._send({"id": number, "method": method, "params": params})
        self.until(lambda: any(message.get("id") == number for message in self.heard))
        answer = next(message for message in self.heard if message.get("id") == number)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def leave(self) -> int:
        """Say goodbye; the server's exit status."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(PATIENCE)

    def logged(self) -> str:
        return "\n".join(one["params"]["message"] for one in self.heard if one.get("method") == "window/logMessage")

    def _hear(self, message: Json) -> None:
        self.heard.append(message)
        if message.get("method") == "textDocument/publishDiagnostics":
            told = message["params"]
            self.marks[told["uri"]] = told["diagnostics"]
            self.versions[told["uri"]] = told.get("version")
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "result": None})

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        self._out.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._out.flush()

    def _listen(self) -> None:
        while header := self._in.readline():
            length = int(header.split(b":")[1])
            while self._in.readline().strip():
                pass
            self._messages.put(json.loads(self._in.read(length)))
        self._messages.put(None)


def _connected(port: int) -> socket.socket:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def applied(text: str, edits: list[Json]) -> str:
    """The text after the edits, counted in UTF-16 as the protocol does by default."""
    for edit in sorted(edits, key=lambda edit: _offset(text, edit["range"]["start"]), reverse=True):
        raw = text.encode("utf-16-le")
        start, end = (_offset(text, edit["range"][side]) for side in ("start", "end"))
        text = (raw[:start] + edit["newText"].encode("utf-16-le") + raw[end:]).decode("utf-16-le")
    return text


def _offset(text: str, position: Json) -> int:
    before = text.split("\n")[: position["line"]]
    return 2 * position["character"] + sum(len(f"{line}\n".encode("utf-16-le")) for line in before)


def marked(text: str, mark: Json, encoding: str = "utf-16-le", width: int = 2) -> str:
    """The letters that a mark on one line is drawn under."""
    start, end = mark["range"]["start"], mark["range"]["end"]
    raw = text.split("\n")[start["line"]].encode(encoding)
    return raw[width * start["character"] : width * end["character"]].decode(encoding)


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    client = Editor(tmp_path_factory.mktemp("common"))
    client.start()
    yield client
    assert client.leave() == 0


@pytest.fixture
def client(common: Editor, tmp_path: Path) -> Iterator[Editor]:
    """A server that several tests share, each with files of its own, which are closed at its end."""
    common.folder = tmp_path
    yield common
    for uri in [uri for uri in common.versions if uri.startswith(tmp_path.as_uri())]:
        common.close(uri)
        common.until(lambda uri=uri: not common.marks[uri])


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Callable[..., Editor]]:
    started: list[Editor] = []

    def start(*command: str, port: int | None = None) -> Editor:
        started.append(Editor(tmp_path, command or SLEUTH, port))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait(PATIENCE)


def test_a_file_is_marked_when_it_is_opened_and_no_longer_when_it_is_closed(editor):
    client = editor()
    client.start()
    uri = client.open("loss.py", SOFTMAX)
    (mark,) = client.until_examined(uri)
    assert (mark["code"], mark["source"], mark["severity"]) == ("softmax-before-cross-entropy", "sleuth", 1)
    assert mark["message"].startswith(handbook.page("softmax-before-cross-entropy").title)
    assert marked(SOFTMAX, mark) == "torch.softmax(scores, 1)"
    assert "codeDescription" not in mark
    client.close(uri)
    client.until(lambda: not client.marks[uri])
    assert client.leave() == 0


def test_a_client_that_counts_bytes_gets_bytes(editor):
    client = editor()
    answer = client.start(general={"positionEncodings": ["utf-8", "utf-16"]})
    assert answer["capabilities"]["positionEncoding"] == "utf-8"
    (mark,) = client.until_examined(client.open("loss.py", SOFTMAX))
    assert marked(SOFTMAX, mark, "utf-8", 1) == "torch.softmax(scores, 1)"


def test_what_is_typed_is_examined_when_one_pauses(client):
    uri = client.open("loss.py", SOFTMAX)
    assert client.until_examined(uri)
    (mark,) = client.marks[uri]
    client.change(uri, 2, {"range": mark["range"], "text": "scor"})
    client.change(uri, 3, {"range": _at(3, mark["range"]["start"]["character"] + 4), "text": "es"})
    assert client.until_examined(uri, 3) == []
    told = [one["params"] for one in client.heard if one.get("method") == "textDocument/publishDiagnostics"]
    assert [one["version"] for one in told if one["uri"] == uri] == [1, 3]
    client.change(uri, 4, {"text": SOFTMAX})
    assert client.until_examined(uri, 4)


def test_lines_are_counted_as_python_counts_them(client):
    text = "import torch\n\x0c\nnote = 'a\u2028b'\r\nimport torch.nn.functional as F\r\n"
    uri = client.open("loss.py", text)
    assert client.until_examined(uri) == []
    client.change(uri, 2, {"range": _at(4, 0), "text": "loss = F.cross_entropy(torch.softmax(scores, 1), y)"})
    (mark,) = client.until_examined(uri, 2)
    assert mark["range"]["start"] == {"line": 4, "character": 23}


def test_an_edit_in_one_file_is_seen_in_another_that_imports_it(editor, tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    client = editor()
    client.start(textDocument={"publishDiagnostics": {"relatedInformation": True}})
    train = client.open("train.py", TRAIN)
    model = client.uri("model.py")
    # The softmax is in a file that nobody has opened; the story leads from there to the one that is.
    client.until(lambda: train in client.marks and bool(client.marks.get(model)))
    (mark,) = client.marks[model]
    assert marked(MODEL, mark) == "self.last(self.body(x))"
    assert [one["location"]["uri"] for one in mark["relatedInformation"]] == [model, train]
    line = mark["relatedInformation"][1]["location"]["range"]["start"]["line"]
    assert TRAIN.split("\n")[line].strip() == "loss = F.cross_entropy(net(x), y)"
    client.open("model.py", MODEL)
    client.until(lambda: client.versions[model] == 1 and client.codes(model) == ["softmax-before-cross-entropy"])
    client.change(model, 2, {"range": _range(10, 15, 10, 39), "text": "self.body(x)"})
    client.until(lambda: client.versions[model] == 2 and not client.marks[model])
    # Not saved: the file on disk still has it.
    client.close(model)
    client.until(lambda: client.codes(model) == ["softmax-before-cross-entropy"])
    client.close(train)
    client.until(lambda: not client.marks[model])
    assert client.leave() == 0


def test_hovering_over_a_mark_shows_the_page_of_the_handbook(editor):
    client = editor()
    client.start(textDocument={"hover": {"contentFormat": ["markdown", "plaintext"]}})
    uri = client.open("loss.py", SOFTMAX)
    (mark,) = client.until_examined(uri)
    start = mark["range"]["start"]
    shown = client.hover(uri, start["line"], start["character"] + 2)["contents"]
    page = handbook.page("softmax-before-cross-entropy")
    assert shown["kind"] == "markdown"
    assert shown["value"].startswith(f"# {page.title}\n\n`softmax-before-cross-entropy`")
    assert all(f"## {section}\n" in shown["value"] for section in page.sections)
    assert "*Before:*\n\n```python\n" in shown["value"]
    assert client.hover(uri, 0, 0) is None


def test_a_quick_fix_mends_the_text_and_the_mark_goes(client):
    uri = client.open("array.py", ARRAY)
    (mark,) = client.until_examined(uri)
    fix, ignore, everything = client.actions(uri, mark["range"])
    assert (fix["kind"], fix["isPreferred"], fix["diagnostics"]) == ("quickfix", True, [mark])
    assert ignore["title"] == "Ignore assignment-into-jax-array on this line"
    assert everything["kind"] == "source.fixAll.sleuth"
    mended = applied(ARRAY, fix["edit"]["changes"][uri])
    assert mended == ARRAY.replace("x[0] = 1.0", "x = x.at[0].set(1.0)")
    client.change(uri, 2, {"text": mended})
    assert client.until_examined(uri, 2) == []
    assert client.actions(uri, mark["range"]) == []


def test_a_fix_that_is_not_safe_is_offered_but_not_preferred(client):
    uri = client.open("loss.py", SOFTMAX)
    (mark,) = client.until_examined(uri)
    fix, _ = client.actions(uri, mark["range"])
    assert "isPreferred" not in fix
    client.change(uri, 2, {"text": applied(SOFTMAX, fix["edit"]["changes"][uri])})
    assert client.until_examined(uri, 2) == []


def test_all_safe_fixes_are_made_at_once(editor):
    client = editor()
    client.start(workspace={"workspaceEdit": {"documentChanges": True}})
    text = f"{ARRAY}x[1] += 2\r\n".replace("\r\n", "\n").replace("\n", "\r\n")
    uri = client.open("array.py", text, version=7)
    assert len(client.until_examined(uri, 7)) == 2
    (action,) = client.actions(uri, _at(0, 0), only=["source.fixAll"])
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": 7}
    mended = applied(text, change["edits"])
    assert mended.endswith("x = x.at[0].set(1.0)\r\nx = x.at[1].add(2)\r\n")
    client.change(uri, 8, {"text": mended})
    assert client.until_examined(uri, 8) == []
    assert client.actions(uri, _at(0, 0), only=["source.fixAll.sleuth"]) == []


def test_only_the_kinds_of_action_that_are_asked_for_are_given(client):
    uri = client.open("array.py", ARRAY)
    (mark,) = client.until_examined(uri)
    assert [one["kind"] for one in client.actions(uri, mark["range"], only=["quickfix"])] == ["quickfix"] * 2
    assert client.actions(uri, mark["range"], only=["refactor"]) == []
    assert client.actions(uri, _at(0, 0), only=["quickfix"]) == []


@pytest.mark.parametrize(
    ("line", "ignored"),
    [
        ("x[0] = 1.0", "x[0] = 1.0  # sleuth: ignore[assignment-into-jax-array]"),
        ("x[0] = 1.0   ", "x[0] = 1.0  # sleuth: ignore[assignment-into-jax-array]"),
        ("x[0] = 1.0  # one 😀", "x[0] = 1.0  # one 😀  # sleuth: ignore[assignment-into-jax-array]"),
        (
            "x[0] = 1.0  # sleuth: ignore[log-of-zero]  # one",
            "x[0] = 1.0  # sleuth: ignore[log-of-zero, assignment-into-jax-array]  # one",
        ),
        ("x[0] = '#'", "x[0] = '#'  # sleuth: ignore[assignment-into-jax-array]"),
        ("x[0] = \\\n    1.0", "x[0] = \\\n    1.0  # sleuth: ignore[assignment-into-jax-array]"),
        ('x[0] = """a\nb"""', 'x[0] = """a\nb"""  # sleuth: ignore[assignment-into-jax-array]'),
        ('x[0] = f"""a\nb{x}"""', 'x[0] = f"""a\nb{x}"""  # sleuth: ignore[assignment-into-jax-array]'),
        ("x[0] = (  # one\n    1.0)", "x[0] = (  # one  # sleuth: ignore[assignment-into-jax-array]\n    1.0)"),
    ],
)
def test_the_comment_that_ignores_a_finding_goes_where_python_reads_it_as_one(tmp_path, line, ignored):
    text = ARRAY.replace("x[0] = 1.0", line)
    (finding,) = _examined(tmp_path, text)
    edit = ignoring.edit(finding, text)
    assert edit is not None
    silent = editing.apply(text, [edit])
    assert silent == ARRAY.replace("x[0] = 1.0", ignored)
    assert _examined(tmp_path, silent) == ()


def test_a_finding_can_be_ignored_on_its_line(client):
    uri = client.open("loss.py", SOFTMAX)
    (mark,) = client.until_examined(uri)
    ignore = client.actions(uri, mark["range"], only=["quickfix"])[-1]
    silent = applied(SOFTMAX, ignore["edit"]["changes"][uri])
    assert silent == SOFTMAX.replace("y)\n", "y)  # sleuth: ignore[softmax-before-cross-entropy]\n")
    client.change(uri, 2, {"text": silent})
    assert client.until_examined(uri, 2) == []


def test_a_comment_silences_what_the_examination_of_another_file_found(client):
    model = client.open("model.py", MODEL.replace("body(x))", "body(x))  # sleuth: ignore"))
    train = client.open("train.py", TRAIN)
    client.until(lambda: {train, model} <= client.marks.keys())
    assert client.hover(model, 10, 20) is None
    assert client.marks[model] == client.marks[train] == []


def test_the_settings_of_the_project_hold(editor, tmp_path):
    settings = tmp_path / "pyproject.toml"
    settings.write_text("[tool.sleuth]\nignore = ['softmax-before-cross-entropy']\n")
    client = editor()
    client.start(workspace={"didChangeWatchedFiles": {"dynamicRegistration": True}})
    uri = client.open("loss.py", SOFTMAX)
    assert client.until_examined(uri) == []
    for chosen, found in (
        ("select = ['missing-zero-grad']", []),
        ("select = ['softmax-before-cross-entropy']", ["softmax-before-cross-entropy"]),
        ("exclude = ['loss.py']", []),
    ):
        settings.write_text(f"[tool.sleuth.check]\n{chosen}\n")
        del client.marks[uri]
        client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": settings.as_uri(), "type": 2}]})
        client.until(lambda: uri in client.marks)
        assert client.codes(uri) == found
    watched = next(one["params"] for one in client.heard if one.get("method") == "client/registerCapability")
    assert {"globPattern": "**/pyproject.toml"} in watched["registrations"][0]["registerOptions"]["watchers"]


def test_wrong_settings_are_told_and_the_examination_goes_on(editor, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.sleuth]\nignroe = []\n")
    client = editor()
    client.start()
    assert client.until_examined(client.open("loss.py", SOFTMAX))
    (told,) = [one["params"] for one in client.heard if one.get("method") == "window/showMessage"]
    assert told["type"] == 2
    assert "has no setting 'ignroe'; did you mean ignore?" in told["message"]


def test_a_file_that_is_saved_is_read_by_those_that_import_it(editor, tmp_path):
    (tmp_path / "model.py").write_text(MODEL.replace("self.last(self.body(x))", "self.body(x)"))
    client = editor()
    client.start()
    train = client.open("train.py", TRAIN)
    assert client.until_examined(train) == []
    (tmp_path / "model.py").write_text(MODEL)
    client.tell("textDocument/didSave", {"textDocument": {"uri": train}})
    client.until(lambda: bool(client.marks.get(client.uri("model.py"))))


def test_text_that_python_cannot_read_is_named_quietly(client):
    uri = client.open("loss.py", SOFTMAX)
    assert client.until_examined(uri)
    client.change(uri, 2, {"range": _at(2, 0), "text": "if (\n"})
    (mark,) = client.until_examined(uri, 2)
    assert mark["message"].startswith("not examined: syntax error: ")
    assert (mark["severity"], mark["range"]["start"]["line"]) == (3, 2)
    client.change(uri, 3, {"range": _range(2, 0, 3, 0), "text": ""})
    client.until_examined(uri, 3)
    assert client.codes(uri) == ["softmax-before-cross-entropy"]


def test_an_error_of_ours_in_one_file_is_logged_once_and_ends_nothing(editor):
    client = editor(sys.executable, "-c", STUMBLING)
    client.start()
    bad = client.open("bad.py", "stumble = 1\n")
    assert client.until_examined(bad) == []
    client.change(bad, 2, {"range": _at(1, 0), "text": "a = 1\n"})
    assert client.until_examined(bad, 2) == []
    logged = client.logged()
    assert logged.count("bad.py could not be examined: ZeroDivisionError: a bug of ours") == 1
    assert "Traceback" in logged
    assert client.until_examined(client.open("loss.py", SOFTMAX))
    assert client.leave() == 0


def test_what_is_no_message_or_no_python_ends_nothing(editor):
    client = editor()
    client.start()
    client.tell("textDocument/didOpen", {"nonsense": True})
    client.tell("no/such/notification", {})
    text = {"uri": client.uri("notes.txt"), "languageId": "plaintext", "version": 1, "text": SOFTMAX}
    client.tell("textDocument/didOpen", {"textDocument": text})
    assert client.hover(text["uri"], 3, 40) is None
    assert client.actions(text["uri"], _at(3, 40)) == []
    client.open("lone.py", "x = '\ud83d'\n".encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    assert client.until_examined(client.open("loss.py", SOFTMAX))
    assert text["uri"] not in client.marks
    assert client.leave() == 0


def test_every_cell_of_a_notebook_has_its_own_marks(editor):
    client = editor()
    client.start(notebookDocument={"synchronization": {}})
    cells = [f"vscode-notebook-cell:{client.folder.as_posix()}/train.ipynb#{n}" for n in range(3)]
    notebook = {"uri": client.uri("train.ipynb"), "version": 1, "notebookType": "jupyter-notebook"}
    notebook["cells"] = [{"kind": 2, "document": uri} for uri in cells]
    texts = ["%matplotlib inline\nimport jax.numpy as jnp", "!nvidia-smi\nx = jnp.zeros(3)\nx[0] = 1", "x[1] = 2\nx"]
    documents = [
        {"uri": uri, "languageId": "python", "version": 1, "text": text} for uri, text in zip(cells, texts, strict=True)
    ]
    client.tell("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": documents})
    client.until(lambda: set(cells) <= client.marks.keys())
    assert [[mark["range"]["start"]["line"] for mark in client.marks[uri]] for uri in cells] == [[], [2], [0]]
    fix = client.actions(cells[1], client.marks[cells[1]][0]["range"])[0]
    assert applied(texts[1], fix["edit"]["changes"][cells[1]]).endswith("x = x.at[0].set(1)")
    gone = {"structure": {"array": {"start": 1, "deleteCount": 1}, "didClose": [{"uri": cells[1]}]}}
    client.tell(
        "notebookDocument/didChange",
        {"notebookDocument": {"uri": notebook["uri"], "version": 2}, "change": {"cells": gone}},
    )
    # What `x` is can no longer be known.
    client.until(lambda: not client.marks[cells[1]] and not client.marks[cells[2]])
    assert client.leave() == 0


def test_one_editor_can_connect_to_a_port_of_this_machine(editor):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = editor(*SLEUTH, "--tcp", str(port), port=port)
    client.start()
    assert client.until_examined(client.open("loss.py", SOFTMAX))
    assert client.leave() == 0


def test_a_port_that_is_taken_is_told_in_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = subprocess.run([*SLEUTH, "--tcp", str(port)], capture_output=True, text=True, timeout=PATIENCE)
    assert shown.returncode == 2
    assert shown.stderr.startswith(f"sleuth: cannot listen at port {port}: ")
    assert shown.stderr.count("\n") == 1


def test_an_editor_that_leaves_without_a_word_leaves_no_server_behind(editor):
    client = editor()
    client.start()
    client.open("loss.py", SOFTMAX)
    client.process.stdin.close()
    assert client.process.wait(PATIENCE) == 1


def test_without_pygls_one_line_says_what_to_install():
    code = "import sys; sys.modules['pygls'] = None; from sleuth.cli import main; sys.exit(main(['lsp']))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr == "sleuth: `sleuth lsp` needs pip install 'sleuth-ml[lsp]'\n"


@pytest.mark.parametrize(
    ("severity", "certainty", "shown"),
    [("error", "certain", 1), ("warning", "likely", 2), ("note", "likely", 3), ("note", "hint", 4)],
)
def test_severities_are_those_of_the_protocol(severity, certainty, shown):
    assert _diagnostic(severity=severity, certainty=certainty).severity == shown


def test_what_a_library_has_renamed_is_struck_through_where_the_client_can():
    renamed = {"root_cause": "api-change"}
    assert _diagnostic(**renamed).tags == [types.DiagnosticTag.Deprecated]
    assert _diagnostic(Abilities(), **renamed).tags is None
    assert _diagnostic().tags is None


def test_a_client_without_related_places_is_told_the_story_in_the_message():
    chain = (Link("first this", Place("loss.py", 1, 1)), Link("then that"))
    assert _diagnostic(chain=chain).message == "a title\nthen that"
    assert _diagnostic(Abilities(), chain=chain).message == "a title\nloss.py:1:1: first this\nthen that"


def _examined(folder: Path, text: str) -> tuple[Finding, ...]:
    path = str(folder / "array.py")
    return examine(Unit(path, text, path), Project(folder)).findings


def _diagnostic(able: Abilities = ABLE, **fields: Any) -> types.Diagnostic:
    finding = replace(handbook.finding("log-of-zero", place=Place("loss.py", 1), title="a title"), **fields)
    ruler = Ruler("x = 1\n", PositionCodec())
    return diagnostics.diagnostic(
        finding, Part("loss.py", 1, ruler), Span(1, 1, 1, 2), Atlas({}, PositionCodec()), able
    )


def _at(line: int, character: int) -> Json:
    return _range(line, character, line, character)


def _range(line: int, character: int, end_line: int, end_character: int) -> Json:
    return {
        "start": {"line": line, "character": character},
        "end": {"line": end_line, "character": end_character},
    }
