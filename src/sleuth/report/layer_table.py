"""Every layer of a model with its shapes, parameters and cost: as text for a terminal, and (`html`) as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from sleuth.amounts import in_bytes, in_thousands
from sleuth.report import palette, wording
from sleuth.report.layer_page import html
from sleuth.report.layers import name_in_tree, only, shapes
from sleuth.report.layout import Paper, paper, printed

__all__ = ["html", "text"]

_NARROWEST = 40
_WIDEST_NAME = 44
_SHORTEST_NAME = 30
_GAP = "  "
# What is left out first where the terminal is narrow.
_LEAST_WANTED = ("dtype", "device", "FLOPs", "input", "memory", "parameters")
_NUMBERS = ("parameters", "FLOPs", "memory")


def text(table: dict[str, Any], memory: dict[str, Any] | None, width: int, colour: bool) -> str:
    """The tables of all models, and below them what one training step needs."""
    sheet = paper(colour, max(_NARROWEST, width), Path())
    lines: list[Text] = []
    for model in table["models"]:
        lines += [*_model(model, sheet), Text()]
    return printed(sheet, [*lines, *_totals(memory, sheet)])


def _model(model: dict[str, Any], sheet: Paper) -> list[Text]:
    when = "its first training forward" if model["training"] else "its first forward"
    name = wording.clean(model["kind"])
    heading = Text.assemble((name, "bold"), f": {when}, {model['parameters']:,} parameters{_same(model)}")
    columns = _fitting(_columns(model, sheet), sheet)
    left_off = [Text(f"and {model['left off']:,} more", style=palette.QUIET)] if model["left off"] else []
    return [*sheet.hang(Text(), heading, Text("  ")), *_rows(model, columns, sheet), *left_off]


def _same(model: dict[str, Any]) -> str:
    """What all rows have in common is said once."""
    said = [f" on {device}" for device in only(model["rows"], "device")]
    return "".join([*said, *(f", {dtype}" for dtype in only(model["rows"], "dtype"))])


def _columns(model: dict[str, Any], sheet: Paper) -> dict[str, list[str]]:
    rows = model["rows"]
    times = "×" if sheet.colour else "x"
    columns = {
        "layer": [name_in_tree(row) for row in rows],
        "input": [shapes(row["input"], times) for row in rows],
        "output": [shapes(row["output"], times) if row["output"] is not None else "raised" for row in rows],
        "parameters": ["again" if row["again"] else f"{row['parameters']:,}" for row in rows],
        "FLOPs": ["" if not row["flops"] else in_thousands(row["flops"]) for row in rows],
        "memory": ["" if not row["activations"] else in_bytes(row["activations"]) for row in rows],
    }
    for name in ("device", "dtype"):
        if not only(rows, name):
            columns[name] = [wording.clean(row[name] or "") for row in rows]
    return {name: [wording.clean(cell) for cell in cells] for name, cells in columns.items()}


def _fitting(columns: dict[str, list[str]], sheet: Paper) -> dict[str, int]:
    """The columns there is room for, and how wide each is; the names of the layers get what is left."""
    widths = {name: max(len(name), *map(len, cells)) for name, cells in columns.items()}
    widths["layer"] = min(widths["layer"], _WIDEST_NAME)
    readable = min(widths["layer"], _SHORTEST_NAME)
    for least in _LEAST_WANTED:
        if _left_for_names(widths, sheet) >= readable:
            break
        widths.pop(least, None)
    widths["layer"] = max(len("layer"), min(widths["layer"], _left_for_names(widths, sheet)))
    return widths


def _left_for_names(widths: dict[str, int], sheet: Paper) -> int:
    return sheet.width - (_whole(widths) - widths["layer"])


def _whole(widths: dict[str, int]) -> int:
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def _rows(model: dict[str, Any], widths: dict[str, int], sheet: Paper) -> list[Text]:
    columns = _columns(model, sheet)
    head = Text(_GAP).join(Text(_padded(name, name, widths), style=palette.QUIET) for name in widths)
    lines = [head, Text(sheet.glyphs.rule * min(_whole(widths), sheet.width), style=palette.QUIET)]
    for index, row in enumerate(model["rows"]):
        style = "" if row["leaf"] else "bold"
        cells = []
        for name in widths:
            cell = Text(columns[name][index])
            if name == "layer":
                cell.stylize(style)
                cell = sheet.crop(cell, widths[name])
            cells.append(_aligned(cell, name, widths[name]))
        lines.append(Text(_GAP).join(cells))
    return lines


def _aligned(cell: Text, name: str, width: int) -> Text:
    space = " " * max(0, width - cell.cell_len)
    return Text.assemble(space, cell) if name in _NUMBERS else Text.assemble(cell, space)


def _padded(words: str, name: str, widths: dict[str, int]) -> str:
    return words.rjust(widths[name]) if name in _NUMBERS else words.ljust(widths[name])


def _totals(memory: dict[str, Any] | None, sheet: Paper) -> list[Text]:
    if memory is None:
        return []
    step = "one training step" if memory["steps"] else "all that was run"
    said = Text(f"{step}: {in_thousands(memory['flops'])} FLOPs; {memory['trainable']:,} parameters are trained")
    lines = sheet.hang(Text(), said, Text("  "))
    for device, about in memory["devices"].items():
        kinds = ", ".join(f"{kind} {in_bytes(size)}" for kind, size in about["kinds"].items() if size)
        said = Text(f"{wording.clean(device)} holds {in_bytes(about['peak'])} at its peak: {kinds}")
        lines += sheet.hang(Text(), said, Text("  "))
    return lines
