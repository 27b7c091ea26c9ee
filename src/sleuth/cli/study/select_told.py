"""A funnel as a table for people."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth.study.select import Preset


def funnel_text(preset: Preset, funnel: list[dict[str, Any]], colour: bool) -> str:
    """The steps, how many posts each left, and the paper's own numbers beside them."""
    published = any("published" in step for step in funnel)
    rows = [("step", "posts", "left", *(("published", "left") if published else ()))]
    for before, step in zip([{}, *funnel], funnel, strict=False):
        theirs = (_count(step.get("published")), _share(step, before, "published")) if published else ()
        rows.append((step["step"], _count(step["posts"]), _share(step, before, "posts"), *theirs))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    by = f" ({preset.source})" if preset.source else ""
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    lines = [f"{bold}{preset.name}: {preset.title}{by}{plain}", "", f"{dim}{_aligned(rows[0], widths)}{plain}"]
    for row, step in zip(rows[1:], funnel, strict=True):
        lines += [_aligned(row, widths), *(f"{dim}{line}{plain}" for line in _kinds(step))]
    return "\n".join(lines) + "\n"


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    numbers = [number.rjust(width) for number, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join([f"  {row[0]:<{widths[0]}}", *numbers]).rstrip()


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _share(step: dict[str, Any], before: dict[str, Any], what: str) -> str:
    here, there = step.get(what), before.get(what)
    return f"{here / there:.1%}" if here is not None and there else ""


def _kinds(step: dict[str, Any]) -> list[str]:
    """A line on ours by kind, where there are several, and on theirs, where the paper has them apart."""
    ours, theirs = step.get("kinds") or {}, step.get("published_kinds") or {}
    said = [", ".join(f"{kind} {number:,}" for kind, number in kinds.items()) for kinds in (ours, theirs)]
    parts = [said[0] if len(ours) > 1 else "", f"published: {said[1]}" if theirs else ""]
    return ["      " + "; ".join(filter(None, parts))] if any(parts) else []
