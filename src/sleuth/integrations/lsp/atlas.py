"""Where the places and edits of a finding are for the client."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec

from sleuth.findings import Edit, Place
from sleuth.integrations.lsp.positions import Ruler
from sleuth.integrations.lsp.subjects import Part, Subject
from sleuth.report import excerpt


class Atlas:
    """Files as the editor holds them, and as they are on disk where it does not."""

    def __init__(self, subjects: Mapping[str, Subject], codec: PositionCodec) -> None:
        self._subjects = subjects
        self._codec = codec
        self._closed: dict[str, Subject | None] = {}

    def subject(self, path: str) -> Subject | None:
        """The file of that path. None where it cannot be read."""
        absolute = os.path.abspath(path)
        if absolute in self._subjects:
            return self._subjects[absolute]
        if absolute not in self._closed:
            self._closed[absolute] = self._read(absolute)
        return self._closed[absolute]

    def location(self, place: Place) -> types.Location | None:
        subject = self.subject(place.path)
        if subject is None:
            return None
        part = subject.part_at(place.line)
        return types.Location(part.uri, part.ruler.range(part.span(place)))

    def workspace_edit(self, edits: Iterable[Edit], *, versioned: bool) -> types.WorkspaceEdit | None:
        """The edits for the client to make. None where one of them fits no file."""
        grouped: dict[str, tuple[Part, list[types.TextEdit]]] = {}
        for edit in dict.fromkeys(edits):
            subject = self.subject(edit.path)
            part = None if subject is None else subject.part_written(edit.line, edit.end_line)
            if part is None:
                return None
            grouped.setdefault(part.uri, (part, []))[1].append(part.text_edit(edit))
        if not versioned:
            return types.WorkspaceEdit(changes={uri: made for uri, (_, made) in grouped.items()})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, part.version), made)
                for uri, (part, made) in grouped.items()
            ]
        )

    def _read(self, path: str) -> Subject | None:
        text, uri = excerpt.read(path, Path(path).parent), from_fs_path(path)
        if text is None or uri is None:
            return None
        ruler = Ruler(text, self._codec)
        return Subject(path, ruler.text, (Part(uri, None, ruler),))
