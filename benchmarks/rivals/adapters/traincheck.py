"""TrainCheck: invariants are inferred from the healthy twin, then the bug is checked against them, as its README says.
What it alarms on in a healthy program is found with the twin itself, run once more with other seeds.

The checked run is traced in full, as the reference is. With `--invariants` its trace is smaller and cheaper, but then a
healthy program violates three times as many invariants.

`--models-to-track` wants the name of the model's variable, which is read off the program's source. Inference takes time
that grows faster than the trace, so of a long run only about 16 steps are traced, with TrainCheck's own sampling."""

from __future__ import annotations

import ast
import json
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import processes
from environments import HERE, RIVALS, ROOT
from messages import Answer, Collector, Message
from programs import Case, Program

INFERENCE = 180  # seconds
WARM_UP, MORE = 10, 6  # steps traced at the beginning, and after it
SEED = re.compile(r"((?:seed|default_rng)\()(\d+)(\))")


class Trouble(Exception):
    """A part of TrainCheck did not get through."""


def model_names(source: str) -> list[str]:
    """Variables that hold a model: made by a call, and asked for their parameters or called in a program with one."""
    tree = ast.parse(source)
    made = [
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    asked = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("parameters", "named_parameters", "train", "eval")
        if isinstance(node.value, ast.Name)
    }
    likely = asked or {"model", "net", "network"}
    return [name for name in dict.fromkeys(made) if name in likely]


class Session:
    """One reference, and the programs that are checked against it, in one folder."""

    def __init__(self, folder: Path, seconds: float, steps: int) -> None:
        self.folder = folder
        self.seconds = seconds
        self.sampling = ["--warm-up-steps", WARM_UP, "--sampling-interval", max(1, (steps - WARM_UP) // MORE)]
        self.invariants = folder / "invariants.json"

    def call(self, part: str, *arguments: object, seconds: float | None = None) -> processes.Ended:
        command = [str(RIVALS["traincheck"].python), "-m", f"traincheck.{part}", *map(str, arguments)]
        return processes.run(command, self.folder, seconds or self.seconds)

    def collect(self, program: Program, name: str, change: Callable[[str], str] = str) -> processes.Ended:
        """Runs the program, traced, with its source changed."""
        place = self.folder / f"{name}-source"
        with program.copied() as copy:
            shutil.copytree(copy, place)
        script = place / program.script
        script.write_text(change(script.read_text(encoding="utf-8")), encoding="utf-8")
        return self.trace(script, name, self.sampling)

    def trace(self, script: Path, name: str, options: Sequence[object] = ()) -> processes.Ended:
        names = model_names(script.read_text(encoding="utf-8"))
        tracked = ["--models-to-track", *names] if names else []
        options = ["--output-dir", self.folder / name, *options, *tracked]
        ended = self.call("collect_trace", "--pyscript", script, *options)
        if not list((self.folder / name).glob("trace_API_*")):
            how = f"took over {self.seconds:g} s" if ended.status is None else f"failed: {ended.last_line}"
            raise Trouble(f"tracing {how}")
        return ended

    def said(self, name: str) -> str:
        """The last line of the traced program's own output."""
        lines = (self.folder / name / "program_output.txt").read_text(encoding="utf-8").split("\n")
        return next((line for line in reversed(lines) if line and "exited with code" not in line), "nothing")[:300]

    def infer(self, seconds: float = INFERENCE) -> None:
        ended = self.call("infer_engine", "-f", self.folder / "reference", "-o", self.invariants, seconds=seconds)
        if ended.status is None:
            raise Trouble(f"inference took over {seconds:g} s")
        if not self.invariants.exists():
            raise Trouble(f"inference failed: {ended.last_line}")

    def check(self, name: str) -> list[Message]:
        ended = self.call("checker", "-f", self.folder / name, "-i", self.invariants)
        summaries = list(self.folder.glob(f"traincheck_checker_results_*/{name}/violations_summary.json"))
        if ended.status is None:
            raise Trouble(f"the check took over {self.seconds:g} s")
        if ended.status or not summaries:
            raise Trouble(f"the check failed: {ended.last_line}")
        violations = json.loads(summaries[0].read_text(encoding="utf-8"))["violations"]
        return [
            Message("warning", one["display_name"], f"violated invariant ({one['relation_type']})")
            for one in violations
        ]


def other_seeds(source: str) -> str:
    return SEED.sub(lambda match: f"{match[1]}{int(match[2]) + 1}{match[3]}", source)


COST = """
import sys
sys.path[:0] = {paths}
import time
import torch
from torch import nn
import overhead

torch.set_num_threads(1)
torch.manual_seed(0)
built = overhead.MODELS[{workload!r}][0]()
model = built[0]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for number in range({warm_up} + {steps}):
    if number == {warm_up}:
        started = time.process_time()
    loss = nn.functional.cross_entropy(model(built[1]), built[2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("spent", (time.process_time() - started) / {steps})
"""


def spent(output: str) -> float:
    found = re.search(r"spent (\S+?)(?:\x1b|\s|$)", output)
    if found is None:
        raise Trouble("no time in: " + output[-300:])
    return float(found[1])


def cost(rounds: int) -> dict[str, Any]:
    """Time of a step with tracing as the checks here do it, beside bare. In `selective`, as its README advises for a
    run that is to be checked: only what the invariants speak of is traced, and that in every 10th step."""
    paths = [str(HERE.parent), str(ROOT / "src")]
    costs: dict[str, Any] = {}
    for workload in ("MLP", "CNN", "transformer"):
        with scratch() as folder:
            session = Session(folder, 600, 0)
            script = folder / "train.py"
            script.write_text(COST.format(paths=paths, workload=workload, warm_up=2, steps=6), encoding="utf-8")
            times: dict[str, list[float]] = {}
            try:
                session.trace(script, "reference")
                session.infer(600)
                script.write_text(COST.format(paths=paths, workload=workload, warm_up=10, steps=20), encoding="utf-8")
                for number in range(rounds):
                    bare = processes.run([RIVALS["traincheck"].python, script], folder, 600)
                    full = session.trace(script, f"full{number}")
                    some = session.trace(script, f"some{number}", ["--invariants", session.invariants])
                    for name, ended in (("bare", bare), ("full", full), ("some", some)):
                        times.setdefault(name, []).append(spent(ended.output))
            except Trouble as trouble:
                costs[workload] = {"trouble": str(trouble)}
                continue
        ratios = {
            name: round(statistics.median(a / b for a, b in zip(times[name], times["bare"], strict=True)), 2)
            for name in ("full", "some")
        }
        step = round(statistics.median(times["bare"]) * 1e3, 2)
        costs[workload] = {"step_ms": step, "ratio": ratios["full"], "selective": ratios["some"]}
    return costs


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rivals-traincheck-") as name:
        yield Path(name)


def answers(case: Case, seconds: float, steps: int) -> dict[str, Answer]:
    """The answers for the case's programs. `steps` is the number of steps the healthy program takes."""
    started = time.monotonic()
    with scratch() as folder:
        session = Session(folder, seconds, steps)
        try:
            reference = session.collect(case.healthy, "reference")
            if reference.status:
                raise Trouble(f"the program fails when traced: {session.said('reference')}")
            session.infer()
        except Trouble as trouble:
            took = round(time.monotonic() - started, 2)
            return {program.name: Answer("not run", 0, took, trouble=str(trouble)) for program in case.programs}
        found = {}
        for program in case.programs:
            healthy = program is case.healthy
            collector, trouble_, ended = Collector(), None, "done"
            try:
                run = session.collect(program, "again" if healthy else "target", other_seeds if healthy else str)
                ended = "done" if run.status == 0 else "crashed" if run.status else f"stopped after {seconds:g} s"
                collector.add(session.check("again" if healthy else "target"))
            except Trouble as trouble:
                trouble_ = str(trouble)
            took = round(time.monotonic() - started, 2)
            found[program.name] = Answer(ended, steps, took, collector.messages, trouble_)
            started = time.monotonic()
    return found
