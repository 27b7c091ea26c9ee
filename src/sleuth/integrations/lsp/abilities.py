"""What the client at the other end can show and do."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types
from pygls.capabilities import get_capability


@dataclass(frozen=True, slots=True)
class Abilities:
    related_information: bool = False
    deprecated_tag: bool = False
    markdown: bool = False
    versioned_edits: bool = False
    watches_files: bool = False


def of(client: types.ClientCapabilities) -> Abilities:
    tags = get_capability(client, "text_document.publish_diagnostics.tag_support.value_set") or ()
    formats = get_capability(client, "text_document.hover.content_format") or ()
    return Abilities(
        related_information=bool(get_capability(client, "text_document.publish_diagnostics.related_information")),
        deprecated_tag=types.DiagnosticTag.Deprecated in tags,
        markdown=types.MarkupKind.Markdown in formats,
        versioned_edits=bool(get_capability(client, "workspace.workspace_edit.document_changes")),
        watches_files=bool(get_capability(client, "workspace.did_change_watched_files.dynamic_registration")),
    )
