"""A comparison of two models as one self-contained page: the error along the network, the first parting marked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from sleuth.amounts import in_bytes
from sleuth.findings import Finding
from sleuth.report import frame, story_markup

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 1000, 346, 80, 12, 34, 36
_LEAST = 1e-9
# More of these side by side say no more than the first: that is folded away.
_MOST_OFF = 4
_STYLE = """
.verdict { font-weight: 650; } .same { color: var(--good); } .differs { color: var(--error); }
main { --good: color-mix(in srgb, var(--k2) 82%, var(--ink)); }
svg { width: 100%; height: auto; display: block; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
svg :is(line, polyline) { vector-effect: non-scaling-stroke; }
.grid { stroke: var(--line); } .limit { fill: var(--k2); opacity: .12; }
.noise, .error { fill: none; stroke-width: 1.5; } .noise { stroke: var(--k2); } .error { stroke: var(--k0); }
.dot { fill: var(--k0); } .dot.off { fill: var(--error); }
.first { stroke: var(--error); stroke-width: 1.5; stroke-dasharray: 4 3; }
svg .mark { fill: var(--error); font-weight: 600; }
tr.off td { color: var(--error); } tr.first td { font-weight: 650; }
code { font: .92em ui-monospace, Consolas, monospace; overflow-wrap: anywhere; }
.story { background: var(--panel); --warning: color-mix(in srgb, var(--k4) 80%, var(--ink)); --note: var(--k0); }
.steps table { table-layout: fixed; margin: 0; } .steps table:not(.head) { border-top: 0; }
.steps th { white-space: normal; overflow-wrap: anywhere; }
.steps th:first-child { width: 26%; } .steps th.number { width: 9%; } .steps th.number:last-child { width: 13%; }
.steps details { background: var(--panel); border: 1px solid var(--line); border-top: 0; }
.steps summary { padding: .35rem .7rem; color: var(--soft); cursor: pointer; font-size: .9rem; }
.steps > .rows tr:first-child, .steps > .rows tr:first-child td { border-top: 0; }
.steps details table { border: 0; } .steps table:not(.head) th { padding-block: 0; line-height: 0; font-size: 0;
  box-shadow: none; }
@media (max-width: 44rem) {
  td.name { flex: 1 0 100%; } td.name::before { content: none; } svg text { font-size: 30px; }
  .dot { r: 7px; } .mark tspan { display: none; } }
"""


def html(
    title: str,
    comparisons: Sequence[dict[str, Any]],
    findings: Sequence[Finding],
    rows: Sequence[dict[str, Any]] = (),
    root: Path | None = None,
) -> str:
    """The whole page. `comparisons` are the engine's facts, `rows` the deployments of one model, where asked for."""
    parts = [_table(rows)] if rows else []
    parts += [story_markup.story(finding, root or Path.cwd()) for finding in findings]
    parts += [_comparison(one) for one in comparisons]
    return frame.page(title, story_markup.STYLE + _STYLE, "\n".join(parts))


def _comparison(one: dict[str, Any]) -> str:
    verdict = (
        '<span class="verdict same">agree within the noise</span>'
        if one["same"]
        else '<span class="verdict differs">differ</span>'
    )
    sides = [f"{escape(side['title'])} ({escape(side['runtime'])})" for side in (one["reference"], one["target"])]
    first = one["partings"][0]["node"] if one["partings"] else None
    steps = one["steps"]
    chart = _chart(steps, first) if steps else "<p>No inner value could be compared.</p>"
    return (
        f"<h2>{sides[0]} and {sides[1]}</h2><p>They {verdict}. {_samples(one) if one['samples'] else ''}</p>"
        f'<section class="card">{chart}</section>{_steps(one, first) if steps else ""}'
    )


def _samples(one: dict[str, Any]) -> str:
    tried = [sample for sample in one["samples"] if sample["score"] is not None]
    worst = f"worst on “{escape(one['worst'])}”" if len(tried) > 1 else ""
    scores = max((_number(sample["score"]) for sample in tried), default=0.0)
    told = f"{len(tried)} input{'s' if len(tried) != 1 else ''}, the outputs at most {scores:.3g} times the noise apart"
    return f"{told}{', ' + worst if worst else ''}; more than {one['limit']:g} is a difference."


def _number(value: float | str) -> float:
    return float(value)


class _Plane:
    """Where a value stands in the drawing: the steps from left to right, errors by their powers of ten."""

    def __init__(self, steps: Sequence[dict[str, Any]]) -> None:
        values = [self.clipped(_number(step[name])) for step in steps for name in ("error", "noise")]
        self._low = math.floor(math.log10(min(values)))
        self._high = max(math.ceil(math.log10(max(values))), self._low + 2)
        self._count = max(len(steps) - 1, 1)

    @staticmethod
    def clipped(value: float) -> float:
        return min(max(value, _LEAST), 1e9)

    def x(self, position: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * position / self._count

    def y(self, value: float) -> float:
        share = (math.log10(self.clipped(value)) - self._low) / (self._high - self._low)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * min(max(share, 0.0), 1.0)

    def decades(self) -> Iterator[int]:
        stride = max((self._high - self._low) // 6, 1)
        return iter(range(self._low, self._high + 1, stride))


def _chart(steps: Sequence[dict[str, Any]], first: str | None) -> str:
    plane = _Plane(steps)
    grid = "".join(_rule(plane.y(10.0**power), f"1e{power}") for power in plane.decades())
    band = [(position, 6 * _number(step["noise"])) for position, step in enumerate(steps)]
    floor = _HEIGHT - _BOTTOM
    area = f"{plane.x(0):.1f},{floor} {_points(plane, band)} {plane.x(len(steps) - 1):.1f},{floor}"
    noise = _points(plane, [(position, _number(step["noise"])) for position, step in enumerate(steps)])
    error = _points(plane, [(position, _number(step["error"])) for position, step in enumerate(steps)])
    dots = "".join(_dot(plane, position, step) for position, step in enumerate(steps))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="The error along the network">{grid}'
        f'<polygon class="limit" points="{area}"/><polyline class="noise" points="{noise}"/>'
        f'<polyline class="error" points="{error}"/>{dots}{_mark(plane, steps, first)}'
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">first layer</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 8}" text-anchor="end">last layer</text></svg>'
        '<ul class="key"><li style="--c:var(--k0)">error of the target, relative to float64</li>'
        '<li style="--c:var(--k2)">float32’s own error (shaded: up to 6 times that is no difference)</li></ul>'
    )


def _rule(y: float, label: str) -> str:
    line = f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return f'{line}<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'


def _points(plane: _Plane, values: Sequence[tuple[int, float]]) -> str:
    return " ".join(f"{plane.x(position):.1f},{plane.y(value):.1f}" for position, value in values)


def _dot(plane: _Plane, position: int, step: dict[str, Any]) -> str:
    off = " off" if _is_off(step) else ""
    told = f"{step['shown']}: error {_number(step['error']):.2g}, {_number(step['score']):.3g} times the noise"
    return (
        f'<circle class="dot{off}" cx="{plane.x(position):.1f}" cy="{plane.y(_number(step["error"])):.1f}" r="3.2">'
        f"<title>{escape(told)}</title></circle>"
    )


def _mark(plane: _Plane, steps: Sequence[dict[str, Any]], first: str | None) -> str:
    for position, step in enumerate(steps):
        if step["node"] == first:
            x = plane.x(position)
            fits = x + 8 * len(f"first parts here: {step['shown']}") < _WIDTH or x < _WIDTH / 2
            anchor = "start" if x < _WIDTH * 0.6 and fits else "end"
            shift = 6 if anchor == "start" else -6
            # Above the curves, and on a phone without the name, which the table has.
            return (
                f'<line class="first" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{_HEIGHT - _BOTTOM}"/>'
                f'<text class="mark" x="{x + shift:.1f}" y="{_TOP - 12}" text-anchor="{anchor}">'
                f"first parts here<tspan>: {escape(step['shown'])}</tspan></text>"
            )
    return ""


def _steps(one: dict[str, Any], first: str | None) -> str:
    """Where the two agree, and where they only carry a difference on, the rows are folded away."""
    sides = [str(side["title"]) for side in (one["reference"], one["target"])]
    parts = [_rows([], sides, first, "head")]
    for off, group in groupby(one["steps"], key=_is_off):
        steps = list(group)
        if off:
            parts += [_rows(steps[:_MOST_OFF], sides, first), _folded(steps[_MOST_OFF:], sides, first, "carry it on")]
        else:
            parts.append(_folded(steps, sides, first, "agree within the noise"))
    return f'<section class="steps">{"".join(parts)}</section>'


def _is_off(step: dict[str, Any]) -> bool:
    return _number(step["score"]) > 6


def _folded(steps: Sequence[dict[str, Any]], sides: list[str], first: str | None, what: str) -> str:
    if not steps:
        return ""
    ends = dict.fromkeys(step["shown"] for step in (steps[0], steps[-1]))
    said = f"{len(steps)} {'values' if len(steps) > 1 else 'value'} {what}: {' to '.join(ends)}"
    return f"<details><summary>{escape(said)}</summary>{_rows(steps, sides, first)}</details>"


def _rows(steps: Sequence[dict[str, Any]], sides: list[str], first: str | None, kind: str = "rows") -> str:
    """Each table has its heads, so that all columns are of one width; only the first shows them."""
    heads = ("value", f"line in {sides[0]}", f"in {sides[1]}", "error", "noise", "times the noise")
    head = "".join(f'<th scope="col"{_is_number(name)}>{escape(name)}</th>' for name in heads)
    rows = "".join(_row(step, first) for step in steps)
    return f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _is_number(name: str) -> str:
    return ' class="number"' if name in ("error", "noise", "times the noise") else ""


def _line(place: dict[str, Any] | None) -> str:
    return f"<code>{escape(place['path'])}:{place['line']}</code>" if place else ""


def _row(step: dict[str, Any], first: str | None) -> str:
    marks = [name for name, on in (("off", _is_off(step)), ("first", step["node"] == first)) if on]
    numbers = "".join(
        f'<td class="number" data-label="{label}">{_number(step[name]):{shape}}</td>'
        for name, label, shape in (
            ("error", "error", ".2g"),
            ("noise", "noise", ".2g"),
            ("score", "times the noise", ".3g"),
        )
    )
    return (
        f'<tr class="{" ".join(marks)}"><td class="name">{escape(step["shown"])}</td>'
        f'<td data-label="line">{_line(step["place"])}</td><td data-label="target">{_line(step.get("target_place"))} '
        f"<code>{escape(step['target'])}</code></td>{numbers}</tr>"
    )


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """The deployments of one model beside each other."""
    heads = ("deployment", "verdict", "times the noise", "same argmax", "time", "size", "left in float")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(_deployment(row) for row in rows)
    return f"<h2>Deployments</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _deployment(row: dict[str, Any]) -> str:
    name = f'<td class="name">{escape(row["name"])}</td>'
    if row.get("why_not"):
        return f'<tr class="off">{name}<td colspan="6">{escape(row["why_not"])}</td></tr>'
    cells = [
        ("verdict", escape(row["verdict"])),
        ("times the noise", f"{_number(row['score']):.3g}"),
        ("same argmax", "" if row.get("argmax") is None else f"{row['argmax']:.1%}"),
        ("time", "" if row.get("latency_ratio") is None else f"{row['latency_ratio']:.2f} ×"),
        ("size", "" if row.get("bytes") is None else in_bytes(row["bytes"])),
        ("left in float", escape(", ".join(row.get("left_in_float") or ()))),
    ]
    told = "".join(f'<td data-label="{label}">{text}</td>' for label, text in cells)
    off = ' class="off"' if row["verdict"] == "differs" else ""
    return f"<tr{off}>{name}{told}</tr>"
