"""One finding as markup, for pages and notebooks: its line in the source, the fix beside it, how it came about."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from sleuth.findings import Finding
from sleuth.report import stories, wording

# The colours are those of whoever shows it: --ink, --soft, --line, --error, --warning, --note, --good.
STYLE = """
.story { border: 1px solid var(--line); border-left: 4px solid var(--c); border-radius: .4rem; padding: .6rem .9rem;
  margin: .6rem 0; }
.story.error { --c: var(--error); } .story.warning { --c: var(--warning); } .story.note { --c: var(--note); }
.story h3 { font-size: 1em; line-height: 1.4; margin: 0; font-weight: 650; overflow-wrap: anywhere; }
.story h3 b { color: var(--c); text-transform: uppercase; font-size: .78em; letter-spacing: .04em; margin-right: .5em; }
.story h4 { font-size: .82em; margin: 0 0 .15rem; color: var(--soft); font-weight: 600; }
.story p { margin: .1rem 0 .5rem; color: var(--soft); font-size: .9em; overflow-wrap: anywhere; }
.story .beside { display: flex; flex-wrap: wrap; gap: .7rem 1.2rem; margin: .5rem 0; }
.story .beside > div { flex: 1 1 20rem; min-width: 0; }
.story .code, .story .diff { overflow-x: auto; border: 1px solid var(--line); border-radius: .3rem; padding: .3rem 0;
  font: .86em/1.55 ui-monospace, SFMono-Regular, Consolas, monospace; }
.story .code div, .story .diff div { white-space: pre; padding: 0 .7rem; width: max-content; min-width: 100%;
  box-sizing: border-box; }
.story .code i { font-style: normal; color: var(--soft); margin-right: 1em; user-select: none; }
.story .code .meant { background: color-mix(in srgb, var(--c) 14%, transparent); box-shadow: inset 3px 0 var(--c); }
.story mark { background: color-mix(in srgb, var(--c) 30%, transparent); color: inherit; border-radius: .15em; }
.story .diff .added { background: color-mix(in srgb, var(--good) 16%, transparent); }
.story .diff .removed { background: color-mix(in srgb, var(--error) 14%, transparent); }
.story ul, .story ol { margin: 0; padding-left: 1.2em; font-size: .93em; }
.story li { margin: .15rem 0; overflow-wrap: anywhere; } .story li .diff { margin: .3rem 0; }
.story li span, .story dt { color: var(--soft); }
.story li em { color: var(--soft); font-style: normal; font-size: .93em; }
.story li em.verified { color: var(--good); font-weight: 600; }
.story dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .05rem 1rem; margin: 0;
  font-size: .9em; } .story dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.story code { font: .92em ui-monospace, SFMono-Regular, Consolas, monospace; background: none; padding: 0;
  color: inherit; }
@media (max-width: 44rem) {
  .story .code div, .story .diff div { white-space: pre-wrap; overflow-wrap: anywhere; width: auto;
    padding-left: calc(.7rem + 4ch); text-indent: -4ch; } }
"""
_CHANGES = {"+": "added", "-": "removed"}


def story(finding: Finding, root: Path) -> str:
    """The markup; nothing of the program's own words in it is markup."""
    told = stories.told(finding, root)
    where = " · ".join(filter(None, [told["where"], wording.when(finding)]))
    return (
        f'<article class="story {escape(told["severity"])}"><h3><b>{escape(told["severity"])}</b>'
        f"{escape(told['title'])}</h3><p>{escape(where)}</p>"
        f'<div class="beside">{_source(told["source"])}{_fixes(told["fixes"])}</div>'
        f'<div class="beside">{_chain(told["chain"])}{_evidence(told["evidence"])}</div>'
        f"<p>{escape(finding.certainty)} · <code>sleuth explain {escape(wording.clean(finding.diagnosis))}</code></p>"
        "</article>"
    )


def _source(rows: list[dict[str, Any]]) -> str:
    return f'<div><div class="code">{"".join(map(_row, rows))}</div></div>' if rows else ""


def _row(row: dict[str, Any]) -> str:
    text = escape(row["text"])
    if row["mark"] is not None:
        start, end = row["mark"]
        before, marked, after = row["text"][:start], row["text"][start:end], row["text"][end:]
        text = f"{escape(before)}<mark>{escape(marked)}</mark>{escape(after)}"
    meant = ' class="meant"' if row["mark"] is not None or row["inside"] else ""
    return f"<div{meant}><i>{'…' if row['number'] is None else row['number']}</i>{text}</div>"


def _fixes(fixes: list[dict[str, Any]]) -> str:
    if not fixes:
        return ""
    return f"<div><h4>What to change</h4><ul>{''.join(map(_fix, fixes))}</ul></div>"


def _fix(fix: dict[str, Any]) -> str:
    kind = ' class="verified"' if fix["verified"] else ""
    tried = f" <em{kind}>{escape(fix['tried'])}</em>" if fix["tried"] else ""
    changes = "".join(_change(line) for line in fix["diff"])
    diff = f'<div class="diff">{changes}</div>' if changes else ""
    return f"<li>{escape(fix['title'])}{tried}{diff}</li>"


def _change(line: str) -> str:
    kind = "" if line.startswith(("+++", "---")) else _CHANGES.get(line[:1], "")
    return f'<div class="{kind}">{escape(line) or " "}</div>'


def _chain(links: list[dict[str, Any]]) -> str:
    if not links:
        return ""
    return f"<div><h4>How it came about</h4><ol>{''.join(map(_link, links))}</ol></div>"


def _link(link: dict[str, Any]) -> str:
    where = f"<span>{escape(link['where'])}</span> " if link["where"] else ""
    code = f"<code>{escape(link['code'])}</code><br>" if link["code"] else "<br>" if where else ""
    return f"<li>{where}{code}{escape(link['what'])}</li>"


def _evidence(items: list[list[str]]) -> str:
    if not items:
        return ""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in items)
    return f"<div><h4>Evidence</h4><dl>{rows}</dl></div>"
