"""One editor that is connected: what it has open, and how it is told what was found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from sleuth.cli.refusal import Refusal
from sleuth.findings import Finding
from sleuth.integrations.lsp import diagnostics, folders, subjects
from sleuth.integrations.lsp.abilities import Abilities
from sleuth.integrations.lsp.actions import Offer
from sleuth.integrations.lsp.atlas import Atlas
from sleuth.integrations.lsp.desk import Desk
from sleuth.integrations.lsp.folders import Folder
from sleuth.integrations.lsp.subjects import Part, Subject
from sleuth.source.files import root_of

# The documents a subject was made of: address, version and text of each.
_Made = tuple[tuple[str, int | None, str], ...]


class Session:
    """The client's side of the desk."""

    def __init__(self, server: LanguageServer, abilities: Abilities) -> None:
        self._server = server
        self._folders: dict[Path, Folder] = {}
        self._known: dict[str, tuple[_Made, Subject]] = {}
        self._marked: dict[str, frozenset[str]] = {}
        self.abilities = abilities
        self.desk = Desk(self)

    def refresh(self, uri: str, delay: float = 0.0) -> None:
        """A document was opened, changed or closed."""
        self.desk.refresh(self._path(uri), delay)

    def look_at_the_disk(self) -> None:
        """Files or settings may have changed there."""
        self._folders.clear()
        self.desk.look_again()
        self.desk.refresh()

    def subjects(self) -> Mapping[str, Subject]:
        """Everything open that can be examined, by its path."""
        self._known = {path: self._subject(path, documents) for path, documents in self._documents()}
        return {path: subject for path, (_, subject) in self._known.items()}

    def folder_of(self, path: str) -> Folder:
        """The project of a file: where one begins below the innermost open folder, else that folder."""
        begins = Path(root_of(path))
        holding = [root for root in self._roots() if root in Path(path).parents]
        root = max((one for one in holding if one not in (begins, *begins.parents)), key=_depth, default=begins)
        if root not in self._folders:
            self._folders[root] = self._opened(root)
        return self._folders[root]

    def publish(self, path: str, findings: Iterable[Finding], problem: str | None) -> None:
        """Replace the marks in a file, open or not, by these."""
        atlas = self._atlas()
        subject = atlas.subject(path)
        marks: dict[Part, list[types.Diagnostic]] = {}
        if subject is not None:
            wanted = self._wanted(subject, findings)
            marks = diagnostics.by_document(subject, wanted, problem, atlas, self.abilities)
        is_open = path in self._known
        told = {part.uri: (part, found) for part, found in marks.items() if is_open or found}
        for uri in sorted(self._marked.pop(path, frozenset()) - told.keys()):
            self._send(uri, [], None)
        for uri, (part, found) in told.items():
            self._send(uri, found, part.version)
        if told:
            self._marked[path] = frozenset(told)

    def log(self, message: str) -> None:
        self._server.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    async def offer(self, uri: str) -> tuple[Offer, Part] | None:
        """What is found in the document as it is now, and the document. None for one that is not examined."""
        subject = self._holding(uri)
        if subject is None:
            return None
        findings = await self.desk.current(subject.path)
        subject = self._holding(uri)
        part = None if subject is None else subject.part_of(uri)
        if subject is None or part is None:
            return None
        return Offer(subject, self._wanted(subject, findings), self._atlas(), self.abilities), part

    def _holding(self, uri: str) -> Subject | None:
        """The subject that the document is, or is a part of."""
        return next((subject for subject in self.subjects().values() if subject.part_of(uri) is not None), None)

    def _wanted(self, subject: Subject, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Without those that the settings or a comment in the file silence."""
        chosen = self.folder_of(subject.path).wanted(findings)
        return tuple(finding for finding in chosen if not subject.silences(finding))

    def _subject(self, path: str, documents: tuple[TextDocument, ...]) -> tuple[_Made, Subject]:
        """The subject of these documents, made anew only where one of them has changed."""
        now = tuple((document.uri, document.version, document.source) for document in documents)
        known = self._known.get(path)
        return known if known is not None and known[0] == now else (now, subjects.of(path, documents))

    def _documents(self) -> Iterator[tuple[str, tuple[TextDocument, ...]]]:
        """The documents of each file and notebook, and its path."""
        workspace = self._server.workspace
        for document in list(workspace.text_documents.values()):
            if subjects.is_python(document) and workspace.get_notebook_document(cell_uri=document.uri) is None:
                yield self._path(document.uri), (document,)
        for notebook in list(workspace.notebook_documents.values()):
            yield self._path(notebook.uri), tuple(self._cells(notebook))

    def _cells(self, notebook: types.NotebookDocument) -> Iterator[TextDocument]:
        for cell in notebook.cells:
            document = self._server.workspace.get_text_document(cell.document)
            if cell.kind == types.NotebookCellKind.Code and document.language_id == "python":
                yield document

    def _path(self, uri: str) -> str:
        return subjects.path_of(uri, self._server.workspace.root_path or os.getcwd())

    def _roots(self) -> Iterator[Path]:
        workspace = self._server.workspace
        paths = [to_fs_path(folder.uri) for folder in workspace.folders.values()] or [workspace.root_path]
        return (Path(os.path.abspath(path)) for path in paths if path)

    def _opened(self, root: Path) -> Folder:
        try:
            return folders.opened(root)
        except (Refusal, OSError) as problem:
            message = f"Sleuth goes on without your settings: {problem}"
            self._server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
            return folders.without_settings(root)

    def _atlas(self) -> Atlas:
        return Atlas(self.subjects(), self._server.workspace.position_codec)

    def _send(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))


def _depth(folder: Path) -> int:
    return len(folder.parts)
