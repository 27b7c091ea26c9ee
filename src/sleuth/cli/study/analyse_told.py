"""How `sleuth study analyse` tells its tables: for people, for programs, for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from sleuth.cli import streams
from sleuth.cli.refusal import Refusal
from sleuth.cli.study.columns import aligned
from sleuth.study.analyses import Skipped, analysis_names, load_analysis
from sleuth.study.result import Comparison, Result

# Of a table among many, so many rows; the whole of one that was asked for.
_ROWS = 20
_COMPARED = 16
_ABSENT = "–"


def listed(format: str) -> str:
    """The analyses, what they need and which studies have them."""
    analyses = [(name, load_analysis(name)) for name in analysis_names()]
    if format == "json":
        rows = [
            {"name": name, "title": each.TITLE, "needs": each.NEEDS, "studies": each.STUDIES} for name, each in analyses
        ]
        return json.dumps({"schema": 1, "analyses": rows}, indent=2, ensure_ascii=False) + "\n"
    columns = ("analysis", "what it shows", "needs", "studies")
    table = [(name, each.TITLE, ", ".join(each.NEEDS), ", ".join(each.STUDIES)) for name, each in analyses]
    return _table_csv(columns, table) if format == "csv" else aligned(columns, table, words=len(columns))


def told(results: Sequence[Result], skipped: Sequence[Skipped], args: Namespace) -> str:
    if args.format == "json":
        return _json(results, skipped, args)
    if args.format == "csv":
        return _csv(results)
    colour = streams.wants_colour() and not args.output
    whole = len(results) == 1 or bool(args.output)
    blocks = [_block(result, whole, colour) for result in results]
    if skipped:
        blocks.append(_bold("Not answered", colour) + "\n" + "".join(f"  {line}\n" for line in _reasons(skipped)))
    return "\n".join(blocks)


def _json(results: Sequence[Result], skipped: Sequence[Skipped], args: Namespace) -> str:
    tables = [
        {
            **asdict(result),
            "comparisons": [
                {**asdict(each), "difference": each.difference, "same": each.same} for each in result.comparisons
            ],
        }
        for result in results
    ]
    told = {
        "schema": 1,
        "command": "study analyse",
        "corpus": args.corpus,
        "engine": args.engine,
        "study": args.study,
        "results": tables,
        "skipped": [asdict(each) for each in skipped],
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _csv(results: Sequence[Result]) -> str:
    if len(results) != 1:
        names = ", ".join(result.name for result in results[:5])
        raise Refusal(f"--format csv writes one table; name one of the {len(results)}: {names}, …")
    return _table_csv(results[0].columns, results[0].rows)


def _table_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return file.getvalue()


def _block(result: Result, whole: bool, colour: bool) -> str:
    shown = result.rows if whole else result.rows[:_ROWS]
    cells = [[_number(value, column) for value, column in zip(row, result.columns, strict=True)] for row in shown]
    lines = [
        _bold(f"{result.name}  {result.title}", colour),
        aligned(result.columns, cells, _words(result.rows)).rstrip("\n"),
    ]
    if len(shown) < len(result.rows):
        lines.append(f"  … and {len(result.rows) - len(shown):,} more; `{result.name}` alone shows all")
    if result.note:
        lines.append(_dim(_wrapped(result.note), colour))
    if result.comparisons:
        lines.append(_beside(result.comparisons, whole))
    return "\n".join(lines) + "\n"


def _beside(comparisons: Sequence[Comparison], whole: bool) -> str:
    same = sum(each.same for each in comparisons)
    shown = [each for each in comparisons if whole or len(comparisons) <= _COMPARED or not each.same]
    # "Liu et al., IST 2024, popularity": where in the paper is plain from the table.
    sources = sorted({", ".join(each.source.split(", ")[:2]) for each in comparisons})
    lines = [f"  beside {' and '.join(sources)}: {same} of {len(comparisons)} the same"]
    if shown:
        rows = [
            [
                each.what,
                _printed(each),
                _number(each.ours, ""),
                "same" if each.same else _number(each.difference, "", "+"),
            ]
            for each in shown
        ]
        lines.append(aligned(("", "printed", "ours", "difference"), rows).rstrip("\n"))
    lines.extend(_wrapped(note) for note in _remarks(shown))
    return "\n".join(lines)


def _remarks(comparisons: Sequence[Comparison]) -> list[str]:
    """What is to be said of one number by its name, of several at once without."""
    about: dict[str, list[str]] = {}
    for each in comparisons:
        for note in filter(None, each.note.split("; ")):
            about.setdefault(note, []).append(each.what)
    return [f"{names[0]}: {note}" if len(names) == 1 else note for note, names in about.items()]


def _printed(each: Comparison) -> str:
    return ("> " if each.bound == "above" else "") + _number(each.published, "")


def _reasons(skipped: Sequence[Skipped]) -> list[str]:
    """One line for each analysis and reason, however many codebooks it holds for."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for each in skipped:
        name, _, scheme = each.name.partition(":")
        grouped.setdefault((name, each.why), []).append(scheme)
    return [f"{name}{f' ({_some(schemes)})' if schemes[0] else ''}: {why}" for (name, why), schemes in grouped.items()]


def _some(schemes: list[str]) -> str:
    return ", ".join(schemes) if len(schemes) <= 3 else f"{', '.join(schemes[:2])} and {len(schemes) - 2} more"


def _number(value: Any, column: str, sign: str = "") -> str:
    if value is None:
        return _ABSENT
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if column == "year":
        return str(value)
    if isinstance(value, int):
        return f"{value:{sign},}"
    if column.endswith(" p") or column.startswith("p "):
        return f"{value:.2g}"
    if column.startswith("percent"):
        return f"{value:.1f}"
    return f"{value:{sign},.{1 if abs(value) >= 100 else 3}f}".rstrip("0").rstrip(".")


def _words(rows: Sequence[Sequence[Any]]) -> int:
    """How many columns come before the first of numbers."""
    columns = list(zip(*rows, strict=True))
    numeric = [any(isinstance(cell, int | float) for cell in column) for column in columns]
    return numeric.index(True) if True in numeric else len(columns)


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, streams.width(), initial_indent="  ", subsequent_indent="  ")


def _bold(text: str, colour: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if colour else text


def _dim(text: str, colour: bool) -> str:
    return f"\x1b[2m{text}\x1b[0m" if colour else text
