"""The classifier's table as it was printed, and what its numbers allow."""

from __future__ import annotations

from typing import Any

from sleuth.study.material import Material
from sleuth.study.published import load_study
from sleuth.study.result import Comparison, Figure, Result

TITLE = "The keyword classifier as published"
NEEDS = ()
STUDIES = ("zhang",)

# A share printed with three digits.
_NEAR = 0.00051


def analyse(material: Material) -> Result:
    study = load_study("zhang")
    table: dict[str, Any] = study.extra["classifier"]
    kinds = table["kinds"]
    rows = tuple(_row(each, len(kinds)) for each in kinds)
    hits = sum(row[6] or 0 for row in rows)
    means = {name: sum(each[name] for each in kinds) / len(kinds) for name in ("precision", "recall")}
    accuracy = 100 * hits / table["test"]
    printed = " and ".join(f"{100 * table[name]:.1f} %" for name in means)
    return Result(
        name="classifier",
        title=TITLE,
        columns=(
            "kind",
            "train",
            "test",
            "precision",
            "recall",
            "whole hits",
            "capped hits",
            "capped false",
            "capped missed",
        ),
        rows=rows,
        figure=Figure("bars", x="kind", y="recall"),
        comparisons=tuple(
            Comparison(
                f"mean {name}", mean, table[name], study.source, within=0.0005, note="mean of the printed column"
            )
            for name, mean in means.items()
        ),
        note="`whole hits`: how many right answers would print this recall; where there is none, no count of the"
        " test posts does. `capped`: the counts that print both numbers if every cell of wrong answers holds at"
        f" most one, as in the authors' public code. They are {hits} right answers of {table['test']}, an accuracy of"
        f" {accuracy:.0f} %: strong evidence, not proof, that the printed {printed} come from such cells.",
    )


def _row(kind: dict[str, Any], kinds: int) -> tuple[Any, ...]:
    whole = [hits for hits in range(kind["test"] + 1) if abs(hits / kind["test"] - kind["recall"]) <= _NEAR]
    capped = [
        (hits, wrong, missed)
        for hits in range(1, kind["test"] + 1)
        for wrong in range(kinds)
        for missed in range(kinds)
        if abs(hits / (hits + wrong) - kind["precision"]) <= _NEAR
        and abs(hits / (hits + missed) - kind["recall"]) <= _NEAR
    ]
    names = ("kind", "train", "test", "precision", "recall")
    # Several fit where one is a multiple of another: the largest leaves the fewest answers unexplained.
    return (*(kind[name] for name in names), whole[0] if whole else None, *(max(capped) if capped else (None,) * 3))
