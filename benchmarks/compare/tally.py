"""The counts: found, right place, right cause, with the intervals that so many trials allow."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]
_MOST_SHOWN = 60
_PLACES = ("node", "region", "set")


def share(good: int, of: int) -> dict[str, Any]:
    """With Wilson's interval at 95 %."""
    if not of:
        return {"count": good, "of": of}
    z, p = 1.96, good / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return {"count": good, "of": of, "share": round(p, 4), "interval": [round(low, 4), round(high, 4)]}


def told(rows: Sequence[Row]) -> dict[str, Any]:
    faults = [row for row in rows if not row["clean"]]
    clean = [row for row in rows if row["clean"]]
    return {
        "faults": of_faults(faults),
        "clean pairs": of_clean(clean),
        "by pair": _by(faults, "pair"),
        "by network": _by(faults, "kind"),
        "by family": _by(faults, "family"),
        "by size of the change": _by(
            [{**row, "size of the change": _decade(row)} for row in faults], "size of the change"
        ),
        "causes by name": _by_cause(faults),
        "dropped and drawn anew": dict(sum((Counter(row["dropped"]) for row in faults), Counter())),
        "CPU seconds a comparison, median": _median(row["seconds"] for row in rows),
        "misses": [_short(row) for row in faults if row["place"] not in _PLACES][:_MOST_SHOWN],
        "wrong causes": [_short(row) for row in faults if row["cause"] == "wrong"][:_MOST_SHOWN],
        "false alarms": [_short(row) for row in clean if row["found"] or "raised" in row][:_MOST_SHOWN],
    }


def of_faults(rows: Sequence[Row]) -> dict[str, Any]:
    """Right is the node, the region that holds it, or near the floor the set that does; each is counted apart too."""
    places = Counter(row["place"] for row in rows)
    causes = Counter(row["cause"] for row in rows)
    nameable = [row for row in rows if row["named"]]
    regions = [row["size"] for row in rows if row["place"] == "region"]
    return {
        "found": share(sum(row["found"] for row in rows), len(rows)),
        "first parting right": share(sum(places[one] for one in _PLACES), len(rows)),
        "at the node": places["node"],
        "within a region": places["region"],
        "layers or operations in such a region, median and largest": [_median(regions), max(regions, default=0)],
        "within a set near the floor": places["set"],
        "raised": sum("raised" in row for row in rows),
        "cause right, of the nameable": share(sum(row["cause"] == "right" for row in nameable), len(nameable)),
        "cause tied with a wrong one": causes["tied"],
        "cause wrong, of all": share(causes["wrong"], len(rows)),
    }


def of_clean(rows: Sequence[Row]) -> dict[str, Any]:
    outputs = [row["output"] for row in rows if "output" in row]
    return {
        "false alarms": share(sum(row["found"] for row in rows), len(rows)),
        "raised": sum("raised" in row for row in rows),
        "score of the outputs, median and largest (6 is the limit)": [_median(outputs), max(outputs, default=0)],
        "by pair": dict(Counter(row["pair"] for row in rows)),
    }


def _by(rows: Sequence[Row], key: str) -> dict[str, Any]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row[key]), []).append(row)
    return {
        name: {
            "faults": len(group),
            "found": sum(row["found"] for row in group),
            "first parting right": sum(row["place"] in _PLACES for row in group),
            "nameable": sum(bool(row["named"]) for row in group),
            "cause right": sum(row["cause"] == "right" for row in group if row["named"]),
            "cause wrong": sum(row["cause"] == "wrong" for row in group),
        }
        for name, group in sorted(groups.items())
    }


def _by_cause(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row["named"] or "(no name for it)", Counter())[row["cause"]] += 1
    return {name: dict(counts) for name, counts in sorted(found.items())}


def _decade(row: Row) -> str:
    size = row["change"]
    return f"1e{math.floor(math.log10(size))}" if 0 < size < 10 else "10 and more"


def _median(numbers: Iterable[float]) -> float:
    listed = list(numbers)
    return round(statistics.median(listed), 3) if listed else 0.0


def _short(row: Row) -> Row:
    keys = (
        "pair",
        "number",
        "kind",
        "family",
        "what",
        "change",
        "named",
        "place",
        "said",
        "node",
        "right",
        "size",
        "score",
        "output",
    )
    kept = {key: row[key] for key in (*keys, "raised") if key in row}
    if "change" in kept:
        kept["change"] = float(f"{kept['change']:.2g}")
    return kept
