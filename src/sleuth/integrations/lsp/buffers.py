"""What the editor holds of its open files."""

from __future__ import annotations

from collections.abc import Sequence

from pygls.protocol import LanguageServerProtocol
from pygls.workspace import TextDocument, Workspace

from sleuth.integrations.lsp.positions import lines_of


class Buffer(TextDocument):
    """One open file. (pygls counts a form feed as the end of a line; editors and Python do not.)"""

    @property
    def lines(self) -> Sequence[str]:
        return lines_of(self.source)


class Buffers(Workspace):
    """All of them."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return Buffer(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            sync_kind=self._sync_kind,
            position_codec=self._position_codec,
        )


class Protocol(LanguageServerProtocol):
    """The protocol with our buffers."""

    def take_buffers(self) -> None:
        """To be called once the client has said where it is and how it counts."""
        plain = self.workspace
        self._workspace = Buffers(
            plain.root_uri, self._server._text_document_sync_kind, list(plain.folders.values()), plain.position_encoding
        )

    @property
    def said_goodbye(self) -> bool:
        return self._shutdown
