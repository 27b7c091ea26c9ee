"""The conversation with an editor: what it says, and what each word of it sets going."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import BinaryIO, NoReturn
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcServerNotInitialized, PyglsError
from pygls.lsp.server import LanguageServer

import sleuth
from sleuth.integrations.lsp import abilities, actions, hover
from sleuth.integrations.lsp.buffers import Protocol
from sleuth.integrations.lsp.session import Session

# Anybody on the network could read the user's source otherwise.
ADDRESS = "127.0.0.1"
# About the pause between two words: long enough not to examine at every letter, too short to wait for.
TYPING = 0.25
_WATCHED = ("**/*.py", "**/pyproject.toml")
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook",
            cells=[types.NotebookCellLanguage(language="python")],
        )
    ],
    save=True,
)


class Server(LanguageServer):
    """Our end of the line."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("sleuth", sleuth.__version__, notebook_document_sync=_NOTEBOOKS, protocol_cls=Protocol)
        self._session: Session | None = None
        self._reporting = False

    @property
    def session(self) -> Session:
        if self._session is None:
            raise JsonRpcServerNotInitialized
        return self._session

    def meet(self, client: types.ClientCapabilities) -> None:
        """The client has said who it is."""
        self.protocol.take_buffers()
        self._session = Session(self, abilities.of(client))

    def is_open(self, uri: str) -> bool:
        return unquote(uri) in self.workspace.text_documents

    def part(self) -> None:
        if self._session is not None:
            self._session.desk.close()

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """Into the editor's log: nobody can do anything about a window that pops up."""
        if self._reporting:
            # The log itself could not be sent: nobody is there any more.
            return
        self._reporting = True
        try:
            message = f"{type(error).__name__} inside Sleuth: {error}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))
        finally:
            self._reporting = False


def over_stdio(output: BinaryIO) -> NoReturn:
    """Talk to the editor that started us, and end with it."""
    if sys.stdin.isatty():
        print("sleuth: waiting for an editor on standard input; Ctrl-D ends it", file=sys.stderr)
    server = create()
    server.start_io(sys.stdin.buffer, output)
    _end(server)


def over_tcp(port: int) -> NoReturn:
    """Wait for one editor at a port of this machine, talk to it, and end with it."""
    server = create()
    # SystemExit is how pygls ends the conversation.
    with contextlib.suppress(SystemExit):
        server.start_tcp(ADDRESS, port)
    _end(server)


def _end(server: Server) -> NoReturn:
    """At once: Python would take seconds to put away a large project, and wait for what is still being examined."""
    sys.stderr.flush()
    os._exit(0 if server.protocol.said_goodbye else 1)


def create() -> Server:
    """A server that has not been connected yet."""
    server = Server()
    _start_and_end(server)
    _files(server)
    _notebooks(server)
    _answers(server)
    return server


def _start_and_end(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialise(params: types.InitializeParams) -> None:
        server.meet(params.capabilities)

    @server.feature(types.INITIALIZED)
    def initialised(params: types.InitializedParams) -> None:
        if server.session.abilities.watches_files:
            server.client_register_capability(types.RegistrationParams([_watching()]))

    @server.feature(types.SHUTDOWN)
    def shut_down(params: None) -> None:
        server.part()


def _watching() -> types.Registration:
    watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    return types.Registration("files on disk", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


def _files(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.session.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.session.refresh(params.text_document.uri, TYPING)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        _saved(server)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.session.refresh(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        # Of a file that is open only the editor's own text counts.
        if any(one.type != types.FileChangeType.Changed or not server.is_open(one.uri) for one in params.changes):
            server.session.look_at_the_disk()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.session.look_at_the_disk()


def _notebooks(server: Server) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenNotebookDocumentParams) -> None:
        server.session.refresh(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeNotebookDocumentParams) -> None:
        server.session.refresh(params.notebook_document.uri, TYPING)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveNotebookDocumentParams) -> None:
        _saved(server)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseNotebookDocumentParams) -> None:
        server.session.refresh(params.notebook_document.uri)


def _saved(server: Server) -> None:
    """Not every client tells what else happens on disk; a save is a good moment to look."""
    if not server.session.abilities.watches_files:
        server.session.look_at_the_disk()


def _answers(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def explain(params: types.HoverParams) -> types.Hover | None:
        found = await server.session.offer(params.text_document.uri)
        if found is None:
            return None
        offer, part = found
        findings = list(offer.found_at(part, types.Range(params.position, params.position)))
        if not findings:
            return None
        kind = types.MarkupKind.Markdown if offer.abilities.markdown else types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, hover.markdown(findings)))

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=list(actions.KINDS)))
    async def mend(params: types.CodeActionParams) -> list[types.CodeAction]:
        found = await server.session.offer(params.text_document.uri)
        if found is None:
            return []
        offer, part = found
        return offer.for_range(part, params.range, params.context.only)
