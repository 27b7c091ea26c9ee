"""The zoo under rival packages: who names the cause, who alarms on healthy programs, and what each costs.

Answers are kept under `.cache/`, so a run goes on where the last one ended; Sleuth itself is asked anew each time.
The results are written only where all programs are in play; with --cases or --zoo the table is just printed."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import judge
import processes
from adapters import sleuth, traincheck
from environments import HERE, RIVALS, ROOT, cache, set_up
from messages import Answer
from programs import Case, Program, cases

RESULTS = HERE.parent / "results"
SECONDS = 60  # a program's time
WORKERS = 2
SEARCHED = {"PYTHONPATH": f"{HERE.parent}:{ROOT / 'src'}"}


class Server:
    """A process with torch and one rival loaded, which forks for each program."""

    def __init__(self, tool: str) -> None:
        python = str(RIVALS[tool].python) if tool in RIVALS else sys.executable
        self.process = subprocess.Popen(
            [python, str(HERE / "harness.py"), tool],
            env=processes.ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def answer(self, program: Program, seconds: float) -> Answer:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with program.copied() as folder:
            job = {"run": program.run, "folder": str(folder), "seconds": seconds}
            print(json.dumps(job), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with status {self.process.wait()}")
        return Answer.from_json(json.loads(line))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class Kept:
    """The answers of a tool that were had before, each good for one state of a program's files."""

    def __init__(self, tool: str) -> None:
        version = RIVALS[tool].version if tool in RIVALS else "0"
        self.folder = cache(f"answers/{tool}-{version}")

    def path(self, program: Program) -> Path:
        return self.folder / f"{program.name.replace('/', '.')}-{program.digest}.json"

    def get(self, program: Program) -> Answer | None:
        path = self.path(program)
        return Answer.from_json(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def put(self, program: Program, answer: Answer) -> None:
        self.path(program).write_text(json.dumps(answer.to_json()), encoding="utf-8")


def progress(tool: str, done: int, count: int, name: str) -> None:
    print(f"{tool} {done}/{count} {name}", file=sys.stderr, flush=True)


def ask(tool: str, chosen: Sequence[Case], again: bool) -> None:
    """Runs the programs whose answer is not known yet, two at a time."""
    kept = Kept(tool)

    def unknown(program: Program) -> bool:
        return again or tool == "sleuth" or kept.get(program) is None

    jobs: list[Callable[[], str]] = []
    servers: dict[int, Server] = {}

    def served(program: Program) -> str:
        number = threading.get_ident()
        if number not in servers:
            servers[number] = Server(tool)
        kept.put(program, servers[number].answer(program, SECONDS))
        return program.name

    def by_sleuth(program: Program) -> str:
        kept.put(program, sleuth.answer(program, SECONDS))
        return program.name

    def by_traincheck(case: Case) -> str:
        alone = Kept("bare").get(case.healthy)
        found = traincheck.answers(case, SECONDS, alone.steps if alone else 0)
        for program in case.programs:
            kept.put(program, found[program.name])
        return case.name

    if tool == "traincheck":
        # A healthy program without a twin would tell no more than the twins do, at a minute each.
        some = [case for case in chosen if case.bug and any(map(unknown, case.programs))]
        jobs += [lambda case=case: by_traincheck(case) for case in some]  # type: ignore[misc]
    else:
        run = by_sleuth if tool == "sleuth" else served
        programs = [program for case in chosen for program in case.programs if unknown(program)]
        jobs += [lambda program=program: run(program) for program in programs]  # type: ignore[misc]
    try:
        with ThreadPoolExecutor(WORKERS) as pool:
            for done, name in enumerate(pool.map(lambda job: job(), jobs), 1):
                progress(tool, done, len(jobs), name)
    finally:
        for server in servers.values():
            server.close()


def measure(tool: str, rounds: int) -> dict[str, Any] | None:
    """The cost of a tool, kept until it is measured again."""
    path = cache("cost") / f"{tool}.json"
    if rounds:
        print(f"cost of {tool}", file=sys.stderr, flush=True)
        if tool == "traincheck":
            measured = traincheck.cost(min(rounds, 3))
        else:
            python = RIVALS[tool].python if tool in RIVALS else sys.executable
            ended = processes.run([python, HERE / "cost.py", tool, str(rounds)], ROOT, 1800, SEARCHED)
            if ended.status:
                raise RuntimeError(ended.output)
            measured = json.loads(ended.last_line)
        path.write_text(json.dumps(measured), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/rivals", description=__doc__)
    parser.add_argument("--cases", metavar="GLOB,...", help="only these cases, with or without a step of their own")
    parser.add_argument("--rivals", metavar="NAME,...", help=f"only these tools: sleuth,{','.join(RIVALS)}")
    parser.add_argument("--zoo", type=Path, default=ROOT / "zoo", metavar="FOLDER")
    parser.add_argument("--again", action="store_true", help="ask for answers that are known already")
    parser.add_argument("--judge-only", action="store_true", help="judge the known answers, run nothing")
    parser.add_argument("--rounds", type=int, default=10, help="of the cost measurement; 0 for none")
    parser.add_argument("--set-up-only", action="store_true", help="install the rivals, run nothing")
    arguments = parser.parse_args()
    tools = ["sleuth", *RIVALS]
    asked = arguments.rivals.split(",") if arguments.rivals else tools
    if unknown := set(asked) - set(tools):
        parser.error(f"no such tool: {', '.join(sorted(unknown))}")
    problems = {name: problem for name in asked if name in RIVALS and (problem := set_up(RIVALS[name]))}
    for name, problem in problems.items():
        print(f"{name} {problem}", file=sys.stderr)
    if arguments.set_up_only:
        return
    chosen = cases(arguments.zoo, arguments.cases)
    costs = {}
    if not arguments.judge_only:
        ask("bare", chosen, arguments.again)
        for tool in [name for name in asked if name not in problems]:
            ask(tool, chosen, arguments.again)
    for tool in tools:
        rounds = 0 if arguments.judge_only or tool not in asked or tool in problems else arguments.rounds
        costs[tool] = measure(tool, rounds)
    programs = [program for case in chosen for program in case.programs]
    answers = {}
    for tool in ["bare", *tools]:
        kept = Kept(tool)
        answers[tool] = {program.name: answer for program in programs if (answer := kept.get(program)) is not None}
    results = judge.judged(chosen, answers, tools)
    for tool, sums in results["tools"].items():
        sums["version"] = RIVALS[tool].version if tool in RIVALS else metadata.version("sleuth-ml")
        if tool in problems:
            sums["problem"] = problems[tool]
        if costs[tool]:
            sums["cost"] = costs[tool]
    table = judge.markdown(results)
    print(table)
    if arguments.cases is None and arguments.zoo == ROOT / "zoo":
        about = {"python": platform.python_version(), "torch": metadata.version("torch"), "threads": 1}
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps({"about": about, **results}, indent=1)
        (RESULTS / "rivals.json").write_text(text + "\n", encoding="utf-8")
        (RESULTS / "rivals.md").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
