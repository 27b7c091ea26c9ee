"""The precision that a sample speaks for, and the tables that tell it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from precision.examination import Found
from precision.labels import Labels
from precision.sampling import SIZES, sample, strata

LIMIT = 0.90
NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Stratum:
    """One diagnosis in one group: how many findings there are, how many of them were read, and how many are true."""

    diagnosis: str
    found: int
    read: int
    true: int
    unread: int

    @property
    def weight(self) -> float:
        """How many findings each one that was read stands for."""
        return self.found / self.read if self.read else 0.0


def interval(share: float, size: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share seen in so many draws; they need not be a whole number."""
    if size <= 0:
        return 0.0, 1.0
    square = NORMAL_95**2
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = NORMAL_95 / (1 + square / size) * math.sqrt(share * (1 - share) / size + square / (4 * size * size))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def plain(group: Sequence[Stratum]) -> dict[str, Any]:
    """The share of true ones among those read."""
    read = sum(one.read for one in group)
    return _estimate(sum(one.true for one in group) / read if read else 0.0, read)


def weighted(group: Sequence[Stratum]) -> dict[str, Any]:
    """The share of true ones among all, each diagnosis as often as it speaks.

    The interval is that of a plain sample of Kish's effective size, which is smaller the more the weights differ."""
    weights = sum(one.weight * one.read for one in group)
    squares = sum(one.weight**2 * one.read for one in group)
    share = sum(one.weight * one.true for one in group) / weights if weights else 0.0
    return _estimate(share, weights**2 / squares if squares else 0.0)


def _estimate(share: float, size: float) -> dict[str, Any]:
    return {"precision": round(share, 4), "interval": [round(end, 4) for end in interval(share, size)]}


def by_diagnosis(found: Sequence[Found], group: str, labels: Labels) -> list[Stratum]:
    """Each diagnosis of a group with what the readers of its sample said."""
    members = [one for one in found if one.group == group]
    whole = strata(members)
    result = []
    for diagnosis, chosen in sample(members, SIZES[group]).items():
        verdicts = [label.true for one in chosen if (label := labels.get(one))]
        unread = len(chosen) - len(verdicts)
        result.append(Stratum(diagnosis, len(whole[diagnosis]), len(verdicts), sum(verdicts), unread))
    return result


def results(found: Sequence[Found], about: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
    """Everything that is written down of a run and its reading."""
    groups = {}
    for group in [name for name in SIZES if any(one.group == name for one in found)]:
        rows = by_diagnosis(found, group, labels)
        groups[group] = {
            "found": sum(row.found for row in rows),
            "read": sum(row.read for row in rows),
            "unread": sum(row.unread for row in rows),
            "plain": plain(rows),
            "weighted": weighted(rows),
            "diagnoses": {
                row.diagnosis: {"found": row.found, "read": row.read, "true": row.true, "unread": row.unread}
                for row in rows
            },
        }
    kept = ("group", "version", "files", "lines")
    corpora = {
        name: {**{field: facts[field] for field in kept}, **_counts([one for one in found if one.corpus == name])}
        for name, facts in about.items()
    }
    return {"limit": LIMIT, "groups": groups, "corpora": corpora}


def _counts(found: Sequence[Found]) -> dict[str, int]:
    return {name: sum(one.severity == name for one in found) for name in ("error", "warning")}


def markdown(results: Mapping[str, Any]) -> str:
    """The results as tables."""
    lines = [
        "# Precision of `sleuth check`",
        "",
        "Findings of severity error and warning in code that nobody here wrote; how they are drawn and read is told in",
        "`benchmarks/precision/README.md`.",
        "",
        "| group | findings | read | true | by weight | the diagnoses below the limit |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for name, group in results["groups"].items():
        low = [f"`{key}`" for key, row in group["diagnoses"].items() if row["true"] < LIMIT * row["read"]]
        read = f"{group['read']}" + (f" ({group['unread']} not yet)" if group["unread"] else "")
        shares = f"{_shown(group['plain'])} | {_shown(group['weighted'])}"
        lines.append(f"| {name} | {group['found']} | {read} | {shares} | {', '.join(low) or 'none'} |")
    for name, group in results["groups"].items():
        lines += ["", f"## {name}", "", "| diagnosis | findings | read | true |", "|---|---:|---:|---:|"]
        rows = sorted(group["diagnoses"].items(), key=lambda item: (-item[1]["found"], item[0]))
        lines += [f"| `{key}` | {row['found']} | {row['read']} | {row['true']} |" for key, row in rows]
    lines += ["", "## The code", "", "| corpus | version | group | lines | errors | warnings |"]
    lines.append("|---|---|---|---:|---:|---:|")
    for name, row in results["corpora"].items():
        counts = f"{row['lines']:,} | {row['error']} | {row['warning']}"
        lines.append(f"| {name} | {row['version'][:12]} | {row['group']} | {counts} |")
    return "\n".join(lines) + "\n"


def _shown(estimate: Mapping[str, Any]) -> str:
    low, high = estimate["interval"]
    return f"{estimate['precision']:.1%} ({low:.1%} to {high:.1%})"
