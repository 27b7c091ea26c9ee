"""The table of layers as one self-contained page: no script, nothing fetched, readable on a phone."""

from __future__ import annotations

from html import escape
from typing import Any

from sleuth.amounts import in_bytes, in_thousands
from sleuth.report import frame
from sleuth.report.layers import only, shapes, short_name

_STYLE = """
.split { display: flex; height: 1rem; border-radius: .3rem; overflow: hidden; margin: .6rem 0 .4rem;
  background: var(--line); }
.split i { flex: 0 0 var(--w); background: var(--c); }
.layer { padding-left: calc(.7rem + var(--depth) * 1.1rem); }
.whole .layer b { font-weight: 650; }
.layer b { font-weight: 500; } .layer span { color: var(--soft); }
.memory { background: linear-gradient(to left, var(--bar) var(--w), transparent var(--w)); }
.raised { color: var(--error); }
@media (max-width: 44rem) {
  .layer { flex: 1 0 100%; padding-left: calc(var(--depth) * .7rem); }
  .layer::before { content: none; }
  .memory { background: none; }
}
"""


def html(table: dict[str, Any], memory: dict[str, Any] | None) -> str:
    """The whole page."""
    models = "".join(_model(model) for model in table["models"]) or "<p>No model was called.</p>"
    return frame.page("Layers and memory", _STYLE, f"{_totals(memory)}\n{models}")


def _totals(memory: dict[str, Any] | None) -> str:
    if memory is None:
        return ""
    step = "One training step" if memory["steps"] else "All that was run"
    said = (
        f"<p>{step}: {in_thousands(memory['flops'])} FLOPs. {memory['parameters']:,} parameters, "
        f"{memory['trainable']:,} of them trained.</p>"
    )
    return said + "".join(_device(device, about) for device, about in memory["devices"].items())


def _device(device: str, about: dict[str, Any]) -> str:
    kinds = [(f"--c:var(--k{i})", kind, size) for i, (kind, size) in enumerate(about["kinds"].items())]
    parts = "".join(
        f'<i style="{colour};--w:{100 * size / about["peak"]:.3f}%"></i>' for colour, _, size in kinds if size
    )
    key = "".join(f'<li style="{colour}">{escape(kind)} {in_bytes(size)}</li>' for colour, kind, size in kinds if size)
    return (
        f'<section class="card"><b>{escape(device)}</b> holds {in_bytes(about["peak"])} at its peak'
        f'<div class="split" aria-hidden="true">{parts}</div><ul class="key">{key}</ul></section>'
    )


def _model(model: dict[str, Any]) -> str:
    when = "first training forward" if model["training"] else "first forward"
    varied = [name for name in ("device", "dtype") if not only(model["rows"], name)]
    same = "".join(f", {escape(value)}" for name in ("device", "dtype") for value in only(model["rows"], name))
    most = max((row["activations"] or 0 for row in model["rows"] if row["leaf"]), default=0)
    heads = ["layer", "input", "output", "parameters", "FLOPs", "memory", *varied]
    head = "".join(f'<th scope="col"{_is_number(name)}>{name}</th>' for name in heads)
    rows = "".join(_row(row, varied, most) for row in model["rows"])
    left_off = f"<p>and {model['left off']:,} more</p>" if model["left off"] else ""
    return (
        f"<h2>{escape(model['kind'])}</h2><p>{model['parameters']:,} parameters; {when}{same}. Memory is what is still "
        f"held when the layer is done.</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{left_off}"
    )


def _is_number(name: str) -> str:
    return ' class="number"' if name in ("parameters", "FLOPs", "memory") else ""


def _row(row: dict[str, Any], varied: list[str], most: int) -> str:
    name = f"<b>{escape(short_name(row))}</b> " if row["name"] else ""
    output = '<span class="raised">raised</span>' if row["output"] is None else escape(shapes(row["output"], "×"))
    held = row["activations"] or 0
    parameters = "again" if row["again"] else f"{row['parameters']:,}"
    share = 100 * held / most if most and row["leaf"] else 0
    cells = [
        f'<td class="layer" style="--depth:{int(row["depth"])}" title="{escape(row["name"])}">'
        f"{name}<span>{escape(row['kind'])}</span></td>",
        f'<td data-label="in">{escape(shapes(row["input"], "×"))}</td>',
        f'<td data-label="out">{output}</td>',
        f'<td class="number" data-label="parameters">{parameters}</td>',
        f'<td class="number" data-label="FLOPs">{in_thousands(row["flops"]) if row["flops"] else ""}</td>',
        f'<td class="number memory" data-label="memory" style="--w:{share:.1f}%">{in_bytes(held) if held else ""}</td>',
        *(f'<td data-label="{name}">{escape(row[name] or "")}</td>' for name in varied),
    ]
    return f'<tr class="{"leaf" if row["leaf"] else "whole"}">{"".join(cells)}</tr>'
