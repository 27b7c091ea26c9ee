"""A report as the output of a notebook's cell: no script, nothing fetched, readable in light and dark themes."""

from __future__ import annotations

from html import escape
from pathlib import Path

from sleuth.findings import Report
from sleuth.report import story_markup, wording

# A notebook's theme is not always the browser's, so colours are mixed with whatever ground and ink there are.
_STYLE = """
.sleuth { --soft: color-mix(in srgb, currentColor 65%, transparent);
  --line: color-mix(in srgb, currentColor 20%, transparent); --good: color-mix(in srgb, #1f9d6b 78%, currentColor);
  --error: color-mix(in srgb, #d8452e 85%, currentColor); --warning: color-mix(in srgb, #c98500 75%, currentColor);
  --note: color-mix(in srgb, #3f7fd9 85%, currentColor);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; max-width: 70rem;
  color: var(--jp-content-font-color1, var(--vscode-editor-foreground, inherit)); }
.sleuth > p { margin: .2rem 0; color: var(--soft); }
"""


def html(report: Report, root: Path) -> str:
    """The findings, surest first. Where there are none, `line` is for that."""
    parts = [
        f"<p>{wording.GROUPS[certainty]}</p>{''.join(story_markup.story(one, root) for one in group)}"
        for certainty, group in wording.by_certainty(report.findings)
    ]
    return _whole("".join(parts), _STYLE + story_markup.STYLE)


def line(words: str) -> str:
    """One quiet line."""
    return _whole(f"<p>{escape(words)}</p>", _STYLE)


def _whole(body: str, style: str) -> str:
    return f'<style>{style}</style><div class="sleuth">{body}</div>'
