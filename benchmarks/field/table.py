"""The rows as lines and as a page."""

from __future__ import annotations

from typing import Any


def line(row: dict[str, Any]) -> str:
    told = [row["name"]]
    for mode in ("plain", "run", "dry"):
        if mode in row:
            told.append(f"{mode}: " + ", ".join(f"{key} {value}" for key, value in row[mode].items()))
    return "\n    ".join(told)


def table(result: dict[str, Any]) -> str:
    rows = result["scripts"]
    seen = sum(bool(row["run"]["steps"]) for row in rows)
    same = sum(not row["run"]["changed"] for row in rows)
    alarms = [(row, one) for row in rows for one in row["run"]["findings"]]
    right = sum(_right(row, one) for row, one in alarms)
    ended = sum(_to_its_end(row) for row in rows)
    versions = ", ".join(f"{name} {version}" for name, version in result["machine"].items())
    lines = [
        "# Scripts nobody here wrote, unmodified",
        "",
        f"{len(rows)} programs: steps seen in {seen}, output unchanged in {same}, {len(alarms)} alarms under `run`, "
        f"{right} of them right; "
        f"{ended} rehearsed to their end, {sum(len(row['dry']['findings']) for row in rows)} findings under `dry`.",
        "",
        "Each as its repository ships it, on made-up data, once plain, once under `sleuth run`, once under",
        "`sleuth dry`, one after the other on one core. *Unchanged*: all it printed but times and speeds, the weights",
        "or images it wrote (bitwise) and the curves it logged are those of the plain run.",
        f"{versions}.",
        "",
        "| program | steps seen | output | alarms | CPU s, plain | run | ratio | `dry` | findings | seconds | plain |",
        "|---|---:|---|---|---:|---:|---:|---|---|---:|---:|",
    ]
    for row in rows:
        plain, run, dry = row["plain"], row["run"], row["dry"]
        cells = [
            row["name"],
            "?" if run["steps"] is None else f"{run['steps']:,}" + (f" ({run['why']})" if run["why"] else ""),
            "changed: " + "; ".join(run["changed"][:2]) if run["changed"] else "unchanged",
            "; ".join(one + (" — right" if _right(row, one) else "") for one in run["findings"]) or "none",
            f"{plain['cpu']}",
            f"{run['cpu']}",
            f"{run['ratio']:.2f}",
            _how(row),
            "; ".join(dry["findings"]) or "none",
            f"{dry['seconds']}",
            f"{plain['seconds']}",
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    lines += ["", "## What each is", ""]
    for row in rows:
        command = " ".join([row["script"], *row["arguments"]])
        lines.append(f"- {row['name']}: {row['project']} at {row['commit'][:12]}, `{command}`")
    return "\n".join(lines) + "\n"


def _right(row: dict[str, Any], finding: str) -> bool:
    return finding.partition(" ")[0] in row["right"]


def _to_its_end(row: dict[str, Any]) -> bool:
    return bool(row["dry"]["how"] == "ended")


def _how(row: dict[str, Any]) -> str:
    if _to_its_end(row):
        return "to its end"
    told = [one for one in row["dry"]["said"] if not one.startswith("sleuth: rehears")]
    return f"{row['dry']['how'] or 'nothing told'}, status {row['dry']['status']}" + "".join(f"; {one}" for one in told)
