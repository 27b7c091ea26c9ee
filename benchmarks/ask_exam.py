"""`sleuth ask` examined with questions of people, written down by somebody who has not read the command.

A question is answered rightly if the first page offered is one of those accepted, or a right command is advised, or it
is said that nothing fits where that is the truth: then with no page and no command of ours, and for a text about
something else with no kind either. A page or a command that is rejected spoils the answer, wherever it stands.
The questions with odd numbers may be looked at while `ask` is worked on (`--show`); of the others only totals are told.

    python benchmarks/ask_exam.py benchmarks/ask_exam/questions.jsonl --as after
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from sleuth.triage import Answer, ask

RESULT = Path(__file__).parent / "results" / "ask_exam.json"
HALVES = ("odd", "even")
_COMMAND = re.compile(r"\bsleuth ([^&|;]+)")
_WATCH = "sleuth.watch"

Question = dict[str, Any]
Totals = dict[str, dict[str, dict[str, int]]]


def commands(answer: Answer) -> list[str]:
    """What follows `sleuth` in every command advised, and the watch in a cell as such."""
    found = [words.strip() for step in answer.next for words in _COMMAND.findall(step.command)]
    return found + [_WATCH] * any(_WATCH in step.command for step in answer.next)


def is_among(advised: list[str], prefixes: list[str]) -> bool:
    return any(command.startswith(prefix) for command in advised for prefix in prefixes)


def is_right(question: Question, answer: Answer) -> bool:
    pages, advised = [one.name for one in answer.diagnoses], commands(answer)
    if is_among(advised, question.get("reject_commands", [])) or set(pages) & set(question.get("reject_pages", [])):
        return False
    if pages[:1] and pages[0] in question["accept_pages"]:
        return True
    if is_among(advised, question["accept_commands"]):
        return True
    silent = not pages and not advised and (answer.kind is None or question["kind"] != "offtopic")
    return bool(question["accept_no"]) and silent


def misleads(question: Question, answer: Answer) -> bool:
    """Is the page offered first one that is not accepted?"""
    return bool(answer.diagnoses) and answer.diagnoses[0].name not in question["accept_pages"]


def half_of(question: Question) -> str:
    return "odd" if question["id"] % 2 else "even"


def examined(questions: list[Question], shown: bool) -> Totals:
    totals: Totals = {half: defaultdict(lambda: {"questions": 0, "right": 0, "wrong page first": 0}) for half in HALVES}
    for question in questions:
        answer, half = ask(question["text"]), half_of(question)
        right, wrong_page = is_right(question, answer), misleads(question, answer)
        for row in (totals[half][question["kind"]], totals[half]["all"]):
            row["questions"] += 1
            row["right"] += right
            row["wrong page first"] += wrong_page
        if shown and half == "odd" and (not right or wrong_page):
            show(question, answer, right)
    return totals


def show(question: Question, answer: Answer, right: bool) -> None:
    verdict = "right, but a wrong page" if right else "WRONG"
    print(f"--- {question['id']} {question['kind']}: {verdict}\n{question['text']}")
    print(f"   accepted: {question['accept_pages']} {question['accept_commands']} no={question['accept_no']}")
    print(f"   said: {answer.kind} {[(one.name, one.score) for one in answer.diagnoses]} {commands(answer)}\n")


def as_markdown(result: dict[str, Totals]) -> str:
    lines = ["# `sleuth ask`, examined", "", (__doc__ or "").partition("\n\n    ")[0].partition("\n\n")[2], ""]
    names = list(result)
    titles = [f"{what}, {name}" for what in ("right", "wrong page first") for name in names]
    lines += [f"| half | kind | questions | {' | '.join(titles)} |", f"|---|---|{'---:|' * (1 + len(titles))}"]
    for half in HALVES:
        for kind, row in sorted(result[names[-1]][half].items(), key=lambda item: item[0] == "all"):
            figures = [result[name][half][kind][what] for what in ("right", "wrong page first") for name in names]
            lines.append(f"| {half} | {kind} | {row['questions']} | {' | '.join(map(str, figures))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, help="a question a line, as JSON")
    parser.add_argument("--as", dest="name", choices=("before", "after"), help="keep the totals under this name")
    parser.add_argument("--show", action="store_true", help="the odd questions that are not answered rightly")
    args = parser.parse_args()
    questions = [json.loads(line) for line in args.questions.read_text(encoding="utf-8").splitlines()]
    totals = examined(questions, args.show)
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    name = args.name or "now"
    result = {one: totals if one == name else kept[one] for one in ("before", "after", "now") if one in (*kept, name)}
    print(as_markdown(result))
    if args.name:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        RESULT.with_suffix(".md").write_text(as_markdown(result), encoding="utf-8")


if __name__ == "__main__":
    main()
