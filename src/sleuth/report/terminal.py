"""A report for a person at a terminal: what happened, where, why, and what to change."""

from __future__ import annotations

import shutil
from pathlib import Path

from rich.text import Text

from sleuth.findings import Edit, Evidence, Finding, Fix, Link, Place, Report, Severity
from sleuth.notebook import split_name
from sleuth.report import edits, excerpt, palette, wording
from sleuth.report.layout import Paper, paper, printed
from sleuth.report.snippet import highlighted, snippet

NOTHING = "sleuth: nothing found"
_COLOUR: dict[Severity, str] = {
    "error": f"bold {palette.ERROR}",
    "warning": f"bold {palette.WARNING}",
    "note": f"bold {palette.NOTE}",
}
_DIFF_COLOUR = {"+": palette.ADDED, "-": palette.REMOVED, "@": palette.QUIET}
_GOOD = f"bold {palette.ADDED}"
# Longer lines are hard to read even where the terminal has room for them.
_NARROWEST, _USUAL, _WIDEST = 40, 100, 120
# A whole printed tensor would bury everything else.
_LONGEST_VALUE = 600
# A column as wide as the longest name would push all values to the right; a longer one has its value behind it.
_WIDEST_COLUMN = 32
# Less of it than this says nothing.
_SHORTEST_CODE = 12


def render(
    report: Report, *, colour: bool, width: int | None, root: Path, compact: bool = False, closing: str = ""
) -> str:
    if width is None:
        width = min(shutil.get_terminal_size((_USUAL, 24)).columns, _WIDEST)
    sheet = paper(colour, max(_NARROWEST, width), root)
    if not report.findings:
        return printed(sheet, _closing(Text(closing or NOTHING), sheet))
    lines: list[Text] = []
    for certainty, group in wording.by_certainty(report.findings):
        lines += [_heading(wording.GROUPS[certainty], sheet), Text()]
        for index, finding in enumerate(group):
            if compact:
                lines += [*_compact(finding, sheet), Text()]
            else:
                lines += [*([Text()] if index else []), *_finding(finding, sheet), Text()]
    lines += _closing(Text(closing or wording.summary(report.findings), style="bold"), sheet)
    lines += _more(report.findings, sheet)
    return printed(sheet, lines)


def diff(patch: str, *, colour: bool) -> str:
    """A patch, in colours where there are colours."""
    if not colour:
        return patch.removesuffix("\n")
    lines = [_diff_line(line) for line in patch.removesuffix("\n").split("\n")]
    return printed(paper(colour, _WIDEST, Path()), lines)


def _compact(finding: Finding, sheet: Paper) -> list[Text]:
    """A finding without the room around it."""
    lines = _header(finding, sheet)
    if finding.place is not None:
        rows = excerpt.rows(finding.place, sheet.root, before=0, after=0)
        lines += snippet(rows, sheet, _COLOUR[finding.severity], _is_python(finding.place))
    lines += _evidence(finding.evidence, sheet)[1:]
    lines += _story(finding.chain, sheet)[1:]
    for fix in finding.fixes:
        lines += _fix(fix, sheet, only_changes=True)
    return lines


def _heading(word: str, sheet: Paper) -> Text:
    rule = sheet.glyphs.rule
    line = Text.assemble((rule * 2, palette.QUIET), " ", (word, "bold"), " ")
    return line.append(rule * (sheet.width - line.cell_len), style=palette.QUIET)


def _finding(finding: Finding, sheet: Paper) -> list[Text]:
    blocks = [
        _source(finding, sheet),
        _evidence(finding.evidence, sheet),
        _story(finding.chain, sheet),
        [line for fix in finding.fixes for line in _fix(fix, sheet)],
    ]
    lines = _header(finding, sheet)
    for block in blocks:
        if block:
            lines += [Text(), *block]
    return lines


def _closing(words: Text, sheet: Paper) -> list[Text]:
    """What was counted; whole where there are no colours, since what reads a pipe looks for one line."""
    return sheet.hang(Text(), words, Text("  ")) if sheet.colour else [words]


def _more(findings: tuple[Finding, ...], sheet: Paper) -> list[Text]:
    """The last line: what to type to read more."""
    names = {finding.diagnosis: None for _, group in wording.by_certainty(findings) for finding in group}
    others = "; the other names in brackets have pages, too" if len(names) > 1 else ""
    page = Text(f"sleuth explain {wording.clean(next(iter(names)))}{others}")
    return sheet.hang(Text("More: ", style=palette.QUIET), page, Text("  "))


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
        arrow = Text(f"  {sheet.glyphs.arrow} ", style=palette.QUIET)
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
    widest = min(_WIDEST_COLUMN, sheet.width // 2)
    column = max((name.cell_len for name in names if name.cell_len <= widest), default=0)
    lines = [_label("Evidence")]
    for name, item in zip(names, evidence, strict=True):
        lines += _fact(name, _value(item, sheet), column, sheet)
    return lines


def _fact(name: Text, value: Text, column: int, sheet: Paper) -> list[Text]:
    """A name and its value in two columns; a long name keeps the line to itself where they have no room together."""
    rest = Text(" " * (column + 6))
    head = Text.assemble("    ", name, " " * (max(0, column - name.cell_len) + 2))
    if name.cell_len <= column or head.cell_len + value.cell_len <= sheet.width:
        return sheet.hang(head, value, Text(" " * head.cell_len))
    return [*sheet.hang(Text(" " * 4), name, Text(" " * 6)), *sheet.hang(rest, value, rest)]


def _value(item: Evidence, sheet: Paper) -> Text:
    words = wording.value(item.value)
    if len(words) > _LONGEST_VALUE:
        words = words[:_LONGEST_VALUE] + sheet.glyphs.ellipsis
    return Text("\n".join(wording.clean(line.rstrip()) for line in words.strip().split("\n")))


def _story(chain: tuple[Link, ...], sheet: Paper) -> list[Text]:
    lines = [_label("How it came about")] if chain else []
    scenes = _scenes(chain)
    for number, scene in enumerate(scenes, 1):
        final = number == len(scenes)
        branch = Text.assemble("    ", (sheet.glyphs.last if final else sheet.glyphs.branch, palette.QUIET))
        stem = Text.assemble("    ", ("   " if final else sheet.glyphs.stem, palette.QUIET))
        if scene[0].place is not None:
            lines += sheet.hang(branch, _cited(scene[0].place, sheet, sheet.width - branch.cell_len), stem)
            branch = stem
        for link in scene:
            lines += sheet.hang(branch, Text(wording.sentence(link.what)), stem)
    return lines


def _scenes(chain: tuple[Link, ...]) -> list[list[Link]]:
    """The story by place, so that what happens in one place after another names it once."""
    scenes: list[list[Link]] = []
    for link in chain:
        if scenes and link.place is not None and link.place == scenes[-1][0].place:
            scenes[-1].append(link)
        else:
            scenes.append([link])
    return scenes


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
    title.append(wording.tried(fix), style=_GOOD if fix.verified else palette.QUIET)
    lines = sheet.hang(Text.assemble("  ", ("Try: ", _GOOD)), title, Text(" " * 7))
    changes = edits.diff(fix.edits, sheet.root)
    if changes is None:
        shown = [line for edit in fix.edits for line in _told(edit)]
    else:
        shown = [_diff_line(line) for line in changes if not only_changes or _is_change(line)]
    return lines + [line for text in shown for line in _changed(text, sheet)]


def _changed(line: Text, sheet: Paper) -> list[Text]:
    """A line of a diff; what is left of a long one stands further in, since at its edge a minus would be a removal."""
    whole = Text.assemble(" " * 4, line)
    return [whole] if whole.cell_len <= sheet.width else sheet.hang(Text(" " * 4), line, Text(" " * 8))


def _told(edit: Edit) -> list[Text]:
    """An edit in words, for a file that cannot be read or has changed."""
    place = wording.where(Place(edit.path, edit.line, edit.column))
    if not edit.replacement:
        return [Text(f"at {place} remove everything up to {edit.end_line}:{edit.end_column}")]
    written = edit.replacement.strip("\n").split("\n")
    return [Text(f"at {place} write"), *(Text(f"+{wording.clean(line)}", style=palette.ADDED) for line in written)]


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
