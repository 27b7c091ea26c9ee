"""A report for a person at a terminal: what happened, where, why, and what to change."""

from __future__ import annotations

import shutil
from pathlib import Path

from rich.text import Text

from sleuth.findings import Edit, Evidence, Finding, Fix, Link, Place, Report, Severity
from sleuth.notebook import split_name
from sleuth.report import edits, excerpt, wording
from sleuth.report.layout import Paper, paper, printed
from sleuth.report.snippet import highlighted, snippet

NOTHING = "sleuth: nothing found"
_COLOUR: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_DIFF_COLOUR = {"+": "green", "-": "red", "@": "cyan"}
# Longer lines are hard to read even where the terminal has room for them.
_NARROWEST, _USUAL, _WIDEST = 40, 100, 120
# A whole printed tensor would bury everything else.
_LONGEST_VALUE = 600
_WIDEST_NAME = 32
# Less of it than this says nothing.
_SHORTEST_CODE = 12


def render(
    report: Report, *, colour: bool, width: int | None, root: Path, compact: bool = False, closing: str = ""
) -> str:
    if width is None:
        width = min(shutil.get_terminal_size((_USUAL, 24)).columns, _WIDEST)
    sheet = paper(colour, max(_NARROWEST, width), root)
    if not report.findings:
        return printed(sheet, [Text(closing or NOTHING)])
    lines: list[Text] = []
    told: set[str] = set()
    for certainty, group in wording.by_certainty(report.findings):
        lines += [_heading(wording.GROUPS[certainty], sheet), Text()]
        for index, finding in enumerate(group):
            if compact:
                lines += [*_compact(finding, sheet, finding.diagnosis not in told), Text()]
            else:
                lines += [*([Text()] if index else []), *_finding(finding, sheet), Text()]
            told.add(finding.diagnosis)
    lines.append(Text(closing or wording.summary(report.findings), style="bold"))
    return printed(sheet, lines)


def diff(patch: str, *, colour: bool) -> str:
    """A patch, in colours where there are colours."""
    if not colour:
        return patch.removesuffix("\n")
    lines = [_diff_line(line) for line in patch.removesuffix("\n").split("\n")]
    return printed(paper(colour, _WIDEST, Path()), lines)


def _compact(finding: Finding, sheet: Paper, first: bool) -> list[Text]:
    """A finding without the room around it; only the first of a diagnosis says where to read more."""
    lines = _header(finding, sheet)
    if finding.place is not None:
        rows = excerpt.rows(finding.place, sheet.root, before=0, after=0)
        lines += snippet(rows, sheet, _COLOUR[finding.severity], _is_python(finding.place))
    lines += _evidence(finding.evidence, sheet)[1:]
    lines += _story(finding.chain, sheet)[1:]
    for fix in finding.fixes:
        lines += _fix(fix, sheet, only_changes=True)
    return [*lines, *_more(finding, sheet)] if first else lines


def _heading(word: str, sheet: Paper) -> Text:
    rule = sheet.glyphs.rule
    line = Text.assemble((rule * 2, "dim"), " ", (word, "bold"), " ")
    return line.append(rule * (sheet.width - line.cell_len), style="dim")


def _finding(finding: Finding, sheet: Paper) -> list[Text]:
    blocks = [
        _source(finding, sheet),
        _evidence(finding.evidence, sheet),
        _story(finding.chain, sheet),
        *(_fix(fix, sheet) for fix in finding.fixes),
        _more(finding, sheet),
    ]
    lines = _header(finding, sheet)
    for block in blocks:
        if block:
            lines += [Text(), *block]
    return lines


def _more(finding: Finding, sheet: Paper) -> list[Text]:
    page = Text(f"sleuth explain {wording.clean(finding.diagnosis)}")
    return sheet.hang(Text("  More: ", style="dim"), page, Text("  "))


def _header(finding: Finding, sheet: Paper) -> list[Text]:
    style = _COLOUR[finding.severity]
    words = Text.assemble(
        (f"{finding.severity}[{wording.clean(finding.diagnosis)}]", style),
        (f": {wording.sentence(finding.title)}", "bold"),
    )
    lines = sheet.hang(Text(), words, Text("  "))
    whence = [] if finding.place is None else [wording.where(finding.place)]
    whence += filter(None, [wording.when(finding)])
    if whence:
        arrow = Text(f"  {sheet.glyphs.arrow} ", style="dim")
        lines += sheet.hang(arrow, Text(", ".join(whence)), Text(" " * arrow.cell_len))
    return lines


def _source(finding: Finding, sheet: Paper) -> list[Text]:
    if finding.place is None:
        return []
    rows = excerpt.rows(finding.place, sheet.root)
    return snippet(rows, sheet, _COLOUR[finding.severity], _is_python(finding.place))


def _evidence(evidence: tuple[Evidence, ...], sheet: Paper) -> list[Text]:
    if not evidence:
        return []
    names = [Text(wording.sentence(item.name)) for item in evidence]
    widest = min(_WIDEST_NAME, sheet.width // 2)
    column = min(max(name.cell_len for name in names), widest)
    lines = [_label("Evidence")]
    for name, item in zip(names, evidence, strict=True):
        name = sheet.crop(name, widest)
        head = Text.assemble("    ", name, " " * (max(0, column - name.cell_len) + 2))
        lines += sheet.hang(head, _value(item, sheet), Text(" " * head.cell_len))
    return lines


def _value(item: Evidence, sheet: Paper) -> Text:
    words = wording.value(item.value)
    if len(words) > _LONGEST_VALUE:
        words = words[:_LONGEST_VALUE] + sheet.glyphs.ellipsis
    return Text("\n".join(wording.clean(line.rstrip()) for line in words.strip().split("\n")))


def _story(chain: tuple[Link, ...], sheet: Paper) -> list[Text]:
    lines = [_label("How it came about")] if chain else []
    for index, link in enumerate(chain):
        final = index == len(chain) - 1
        branch = Text.assemble("    ", (sheet.glyphs.last if final else sheet.glyphs.branch, "dim"))
        stem = Text.assemble("    ", ("   " if final else sheet.glyphs.stem, "dim"))
        if link.place is not None:
            lines += sheet.hang(branch, _cited(link.place, sheet, sheet.width - branch.cell_len), stem)
            branch = stem
        lines += sheet.hang(branch, Text(wording.sentence(link.what)), stem)
    return lines


def _cited(place: Place, sheet: Paper, room: int) -> Text:
    """`model.py:52:9  F.softmax(x)`: a place and, as far as there is room, what is written there."""
    where = Text(wording.where(place), style="bold")
    code = wording.sentence(_written(place, sheet))
    room -= where.cell_len + 2
    if not code or room < _SHORTEST_CODE:
        return where
    shown = highlighted(code) if sheet.colour and _is_python(place) else Text(code)
    return Text.assemble(where, "  ", sheet.crop(shown, room))


def _written(place: Place, sheet: Paper) -> str:
    if place.code:
        return place.code
    text = excerpt.read(place.path, sheet.root)
    lines = [] if text is None else text.split("\n")
    return lines[place.line - 1] if 1 <= place.line <= len(lines) else ""


def _fix(fix: Fix, sheet: Paper, only_changes: bool = False) -> list[Text]:
    title = Text(wording.sentence(fix.title))
    if fix.verified:
        title.append(" (verified)", style="bold green")
    lines = sheet.hang(Text.assemble("  ", ("Try: ", "bold green")), title, Text(" " * 7))
    changes = edits.diff(fix.edits, sheet.root)
    if changes is None:
        shown = [line for edit in fix.edits for line in _told(edit)]
    else:
        shown = [_diff_line(line) for line in changes if not only_changes or _is_change(line)]
    indent = Text(" " * 4)
    return lines + [line for text in shown for line in sheet.hang(indent, text, indent)]


def _told(edit: Edit) -> list[Text]:
    """An edit in words, for a file that cannot be read or has changed."""
    place = wording.where(Place(edit.path, edit.line, edit.column))
    if not edit.replacement:
        return [Text(f"at {place} remove everything up to {edit.end_line}:{edit.end_column}")]
    written = edit.replacement.strip("\n").split("\n")
    return [Text(f"at {place} write"), *(Text(f"+{wording.clean(line)}", style="green") for line in written)]


def _is_change(line: str) -> bool:
    return line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- "))


def _diff_line(line: str) -> Text:
    header = line.startswith(("---", "+++"))
    return Text(wording.clean(line), style="bold" if header else _DIFF_COLOUR.get(line[:1], ""))


def _label(words: str) -> Text:
    return Text.assemble("  ", (words, "bold"))


def _is_python(place: Place) -> bool:
    path, _ = split_name(place.path)
    return path.endswith((".py", ".pyi", ".ipynb")) or "." not in path
