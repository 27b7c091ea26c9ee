"""What a rival costs: process-CPU time of a training step with it and without, in the rival's own environment.

The workloads and the way of measuring are those of `benchmarks/overhead.py`: a round trains all variants in shuffled
order, and a ratio is the median over the rounds of a variant's time divided by the bare loop's of that round."""

from __future__ import annotations

import copy
import importlib
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import overhead
import torch
from adapters import Monitor
from torch import nn


class Loop(overhead.Loop):
    def train_watched(self, monitor: Monitor) -> None:
        """The loop of `overhead.Loop`, with what the rival's documentation adds to it."""
        for inputs, targets in self.loader:
            loss = nn.functional.cross_entropy(self.model(inputs), targets)
            self.optimizer.zero_grad()
            monitor.backward(loss.backward)
            norm = None
            if monitor.wants_gradient_norm:
                norm = float(nn.utils.get_total_norm([p.grad for p in self.model.parameters() if p.grad is not None]))
            self.optimizer.step()
            monitor.step(loss.item(), self.optimizer.param_groups[0]["lr"], norm)


@contextmanager
def training(variant: str, loop: Loop) -> Iterator[Any]:
    """The way to train a round."""
    if variant in ("bare", "bare again"):
        yield loop.train
    else:
        monitor = importlib.import_module(f"adapters.{variant.replace('-', '_')}").Monitor(loop.model, loop.optimizer)
        try:
            yield lambda: loop.train_watched(monitor)
        finally:
            list(monitor.finish(True))
            vars(loop.optimizer).pop("step", None)


def measure_sleuth(workload: str, rounds: int) -> dict[str, Any]:
    """What `overhead` says: Sleuth looks closely at few steps only, and that is weighted there."""
    measured = overhead.measure(workload, rounds)
    ratios = measured["ratios"]
    whole = next(ratio for variant, ratio in ratios.items() if variant.startswith("sleuth"))
    return {"step_ms": measured["step_ms"], "ratio": whole, "noise": ratios["bare again (noise)"]}


def measure(tool: str, workload: str, rounds: int) -> dict[str, Any]:
    if tool == "sleuth":
        return measure_sleuth(workload, rounds)
    torch.manual_seed(0)
    build, steps = overhead.MODELS[workload]
    model, inputs, targets = build()
    variants = ["bare", "bare again", tool]
    loops = {variant: Loop(copy.deepcopy(model), inputs, targets, steps) for variant in variants}
    times: dict[str, list[float]] = {variant: [] for variant in variants}
    for number in range(rounds + 1):
        random.shuffle(variants)
        for variant in variants:
            with training(variant, loops[variant]) as train:
                train()
                started = time.process_time()
                train()
                spent = (time.process_time() - started) / steps
            if number:
                times[variant].append(spent)

    def ratio(variant: str) -> float:
        return round(statistics.median(a / b for a, b in zip(times[variant], times["bare"], strict=True)), 3)

    step = round(statistics.median(times["bare"]) * 1e3, 2)
    return {"step_ms": step, "ratio": ratio(tool), "noise": ratio("bare again")}


def main() -> None:
    tool, rounds = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    random.seed(0)
    print(json.dumps({workload: measure(tool, workload, rounds) for workload in overhead.MODELS}))


if __name__ == "__main__":
    main()
