"""The code that makes the second file's weights out of the first's."""

from __future__ import annotations

from collections.abc import Mapping

from sleuth.compare.values import Array
from sleuth.compare.weights.matching import Match, Matching


def conversion(matching: Matching, second: Mapping[str, Array]) -> str:
    """A function from one dictionary of arrays to the other; what it cannot make is said in it."""
    lines = ["import numpy as np", "", "", "def convert(weights):", "    converted = {}"]
    lines += [f"    converted[{one.name!r}] = {_made(one, second)}{_remark(one)}" for one in matching.matches]
    lines += [f"    # nothing to make {name!r} of: {tuple(second[name].shape)}" for name in matching.extra]
    lines += [f"    converted[{name!r}] = np.zeros({tuple(second[name].shape)}, int)" for name in matching.counters]
    lines += [f"    # not used: {name!r}" for name in matching.missing]
    for fold in matching.unfolded:
        names = ", ".join(map(repr, fold.sources))
        lines.append(f"    # folded into {fold.folded_weight!r}, which cannot be taken apart again: {names}")
    return "\n".join([*lines, "    return converted", ""])


def _made(one: Match, second: Mapping[str, Array]) -> str:
    if one.fold is not None:
        is_weight = one.name == one.fold.folded_weight
        return one.fold.weight_code() if is_weight else one.fold.bias_code(tuple(second[one.name].shape))
    named = [f"weights[{source!r}]" for source in one.sources]
    if one.cut is not None and one.parts:
        made = [part.code(name) for part, name in zip(one.parts, named, strict=True)]
        return f"np.concatenate([{', '.join(made)}]{', -1' if one.cut.last else ''})"
    if one.how == "joined":
        return one.change.code(f"np.concatenate([{', '.join(named)}])")
    if one.how == "added":
        return one.change.code(f"({' + '.join(named)})")
    return one.change.code(one.cut.code(named[0]) if one.cut is not None else named[0])


def _remark(one: Match) -> str:
    return "  # other numbers: only name and shape agree" if one.how == "differs" else ""
