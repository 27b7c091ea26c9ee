"""Who named the cause, and who cried wolf."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from messages import ALARMING, Answer, Message
from programs import Case

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CAUSES = Path(__file__).with_name("causes.toml")
SHOWN = 12  # messages of a program that are kept in the results
MARKS = {"named": "**yes**", "also on twin": "twin too", "advice": "in advice", "trouble": "not run", "no": "–"}

Answers = Mapping[str, Mapping[str, Answer]]  # tool, program


def causes() -> dict[str, re.Pattern[str]]:
    table = tomllib.loads(CAUSES.read_text(encoding="utf-8"))
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in table.items()}


def verdict(tool: str, diagnosis: str, pattern: re.Pattern[str] | None, bug: Answer, twin: Answer | None) -> str:
    """Whether a message names the cause, and whether the healthy twin gets that message as well."""

    def names(message: Message) -> bool:
        if tool == "sleuth":
            return message.title == diagnosis
        return pattern is not None and bool(pattern.search(message.stated))

    naming = [message for message in bug.messages if names(message)]
    known = {message.gist for message in twin.messages} if twin else set()
    if any(message.gist not in known for message in naming):
        return "named"
    if naming:
        return "also on twin"
    if tool != "sleuth" and pattern is not None and any(pattern.search(message.advice) for message in bug.messages):
        return "advice"
    return "trouble" if bug.trouble else "no"


def alarms(answer: Answer, *, with_hints: bool = True) -> bool:
    return any(message.level in ALARMING and (with_hints or not message.hint) for message in answer.messages)


def shown(answer: Answer) -> list[str]:
    lines = [f"{message.level}: {message.title}" for message in answer.messages]
    return [*lines[:SHOWN], f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else lines


def judged(cases: Sequence[Case], answers: Answers, tools: Sequence[str]) -> dict[str, Any]:
    patterns = causes()
    rows: list[dict[str, Any]] = []
    for case in cases:
        for program in case.programs:
            row: dict[str, Any] = {"program": program.name}
            if program is case.bug:
                row["diagnosis"] = case.diagnosis
            bare = answers["bare"].get(program.name)
            row["alone"] = bare.ended if bare else None
            for tool in tools:
                answer = answers[tool].get(program.name)
                if answer is None:
                    continue
                said: dict[str, Any] = {"messages": shown(answer)}
                if program is case.bug:
                    diagnosis = str(case.diagnosis)
                    twin = answers[tool].get(case.healthy.name)
                    said["cause"] = verdict(tool, diagnosis, patterns.get(diagnosis), answer, twin)
                else:
                    said["alarm"] = alarms(answer)
                    said["alarm without hints"] = alarms(answer, with_hints=False)
                if answer.trouble:
                    said["trouble"] = answer.trouble
                # Sleuth ends a run that went wrong, which is its way.
                if bare and bare.ended == "done" and tool != "sleuth" and answer.ended not in ("done", "not run"):
                    said["ended"] = answer.ended
                row[tool] = said
            rows.append(row)
    return {"tools": {tool: totals(tool, rows, answers) for tool in tools}, "rows": rows}


def totals(tool: str, rows: Sequence[Mapping[str, Any]], answers: Answers) -> dict[str, Any]:
    said = [row[tool] for row in rows if tool in row]
    bugs = [one for one in said if "cause" in one]
    healthy = [one for one in said if "alarm" in one]
    return {
        "bugs": len(bugs),
        "named": sum(one["cause"] == "named" for one in bugs),
        "named on the twin too": sum(one["cause"] == "also on twin" for one in bugs),
        "only in advice": sum(one["cause"] == "advice" for one in bugs),
        "healthy": len(healthy),
        "alarms": sum(one["alarm"] for one in healthy),
        "alarms without hints": sum(one["alarm without hints"] for one in healthy),
        "could not do its work": sum("trouble" in one for one in said),
        "broke the program": sum("ended" in one for one in said),
        "minutes": round(sum(answer.seconds for answer in answers[tool].values()) / 60, 1),
    }


def markdown(results: Mapping[str, Any]) -> str:
    tools: Mapping[str, Mapping[str, Any]] = results["tools"]
    lines = [
        "| tool | names the cause | twin gets it too | only in its advice | alarms on healthy programs "
        "| without hints on speed | could not run | broke | CPU time of a step: MLP, CNN, transformer |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, sums in tools.items():
        if "problem" in sums:
            lines.append(f"| {name} {sums['version']} | {sums['problem']} |" + " |" * 7)
            continue
        costs = cost_text(sums.get("cost", {}))
        lines.append(
            f"| {name} {sums['version']} | {sums['named']} of {sums['bugs']} | {sums['named on the twin too']} "
            f"| {sums['only in advice']} | {sums['alarms']} of {sums['healthy']} | {sums['alarms without hints']} "
            f"| {sums['could not do its work']} | {sums['broke the program']} | {costs} |"
        )
    able = [name for name, sums in tools.items() if "problem" not in sums]
    rows = [row for row in results["rows"] if any(name in row for name in able)]
    lines += ["", f"{len(rows)} of {len(results['rows'])} programs were run; an empty cell was not."]
    lines += ["", "| bug | diagnosis | " + " | ".join(able) + " |", "|---|---|" + "---|" * len(able)]
    for row in rows:
        if "diagnosis" in row:
            marks = " | ".join(MARKS[row[name]["cause"]] if name in row else "" for name in able)
            lines.append(f"| {row['program'].partition('/')[0]} | {row['diagnosis']} | {marks} |")
    lines += ["", "| healthy program | " + " | ".join(able) + " |", "|---|" + "---|" * len(able)]
    for row in rows:
        if "diagnosis" not in row:
            marks = " | ".join(alarm_mark(row.get(name)) for name in able)
            lines.append(f"| {row['program']} | {marks} |")
    return "\n".join(lines) + "\n"


def cost_text(costs: Mapping[str, Mapping[str, Any]]) -> str:
    def row(key: str) -> str:
        return ", ".join(f"×{cost[key]:.2f}" if key in cost else str(cost["trouble"]) for cost in costs.values())

    if not costs:
        return "not measured"
    selective = any("selective" in cost for cost in costs.values())
    return f"{row('ratio')} (selective tracing: {row('selective')})" if selective else row("ratio")


def alarm_mark(said: Mapping[str, Any] | None) -> str:
    if said is None:
        return ""
    if said["alarm without hints"]:
        return "**alarm**"
    return "hint" if said["alarm"] else "not run" if "trouble" in said else "quiet"
