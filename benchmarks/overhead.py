"""What watching costs: process-CPU time of a training step, watched and bare, from one interleaved run.

Every round trains all variants for a few steps in shuffled order; a ratio is the median over rounds of the variant's
CPU time divided by the bare loop's of the same round. Sleuth looks closely at some steps and leaves the others to its
sentinel: both kinds are timed, and weighted as they come in the first 1,000 steps of a run."""

from __future__ import annotations

import argparse
import copy
import json
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from sleuth.live.learning.listener import is_due
from sleuth.live.record import Record
from sleuth.live.watch import Watch

RESULT = Path(__file__).parent / "results" / "overhead.json"
LIMITS = {"MLP": 1.10, "CNN": 1.03, "transformer": 1.03}
STEPS_OF_A_RUN = 1000
LOOKS_OF_A_RUN = sum(is_due(step) for step in range(STEPS_OF_A_RUN))


def mlp() -> tuple[nn.Module, Tensor, Tensor]:
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    return model, torch.randn(128, 784), torch.randint(10, (128,))


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.body(x))


def cnn() -> tuple[nn.Module, Tensor, Tensor]:
    model = nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        *[Residual(64) for _ in range(4)],
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    )
    return model, torch.randn(16, 3, 32, 32), torch.randint(10, (16,))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(500, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(128, 500)

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.head(self.encoder(self.embedding(tokens)))
        return logits.transpose(1, 2)


def transformer() -> tuple[nn.Module, Tensor, Tensor]:
    return Transformer(), torch.randint(500, (8, 64)), torch.randint(500, (8, 64))


MODELS: dict[str, tuple[Callable[[], tuple[nn.Module, Tensor, Tensor]], int]] = {
    "MLP": (mlp, 100),
    "CNN": (cnn, 2),
    "transformer": (transformer, 4),
}


class Loop:
    """An ordinary training loop with everything it needs, kept apart from the other variants' loops."""

    def __init__(self, model: nn.Module, inputs: Tensor, targets: Tensor, steps: int) -> None:
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        data = TensorDataset(
            inputs.repeat(steps, *[1] * (inputs.dim() - 1)), targets.repeat(steps, *[1] * (targets.dim() - 1))
        )
        self.loader = DataLoader(data, batch_size=len(inputs))

    def train(self, before_each: Callable[[], object] | None = None) -> None:
        for inputs, targets in self.loader:
            if before_each is not None:
                before_each()
            loss = nn.functional.cross_entropy(self.model(inputs), targets)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


Before = Callable[[], object] | None


@contextmanager
def bare() -> Iterator[Before]:
    yield None


@contextmanager
def anomaly_mode() -> Iterator[Before]:
    with torch.autograd.detect_anomaly():
        yield None


@contextmanager
def watched(look: bool) -> Iterator[Before]:
    """Under the sentinel alone, or with a close look at every step."""
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(record=Record(Path(folder), "overhead"), experiments=0)
        watch.start()
        learning = watch._learning

        def no_longer_young() -> None:
            # The looks and the bookkeeping of a run's first steps are over; this is any later step.
            learning.run.step = max(learning.run.step, 10_001)

        try:
            yield learning.start_looking if look else no_longer_young
        finally:
            watch.end()
        assert not watch.errors, watch.errors
        assert not watch.findings, watch.findings
        assert watch.steps > 0


VARIANTS: dict[str, Callable[[], AbstractContextManager[Before]]] = {
    "bare": bare,
    "bare again (noise)": bare,
    "sleuth, sentinel": lambda: watched(look=False),
    "sleuth, close look": lambda: watched(look=True),
    "detect_anomaly": anomaly_mode,
}


def measure(name: str, rounds: int) -> dict[str, Any]:
    torch.manual_seed(0)
    build, steps = MODELS[name]
    model, inputs, targets = build()
    loops = {variant: Loop(copy.deepcopy(model), inputs, targets, steps) for variant in VARIANTS}
    times: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for number in range(rounds + 1):
        order = list(VARIANTS)
        random.shuffle(order)
        for variant in order:
            with VARIANTS[variant]() as before_each:
                # What a watch sets up once is not what a step costs, so each variant trains before it is timed.
                loops[variant].train()
                loops[variant].train(before_each)
                started = time.process_time()
                loops[variant].train(before_each)
                spent = (time.process_time() - started) / steps
            if number:
                times[variant].append(spent)
    plain = times["bare"]
    ratios = {
        variant: round(statistics.median(a / b for a, b in zip(times[variant], plain, strict=True)), 3)
        for variant in VARIANTS
        if variant != "bare"
    }
    looks = LOOKS_OF_A_RUN / STEPS_OF_A_RUN
    whole = (1 - looks) * ratios["sleuth, sentinel"] + looks * ratios["sleuth, close look"]
    return {
        "step_ms": round(statistics.median(plain) * 1e3, 2),
        "limit": LIMITS[name],
        "ratios": {f"sleuth, {STEPS_OF_A_RUN} steps": round(whole, 3), **ratios},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    random.seed(0)
    results = {name: measure(name, arguments.rounds) for name in MODELS}
    print("| way of watching | " + " | ".join(f"{name} {r['step_ms']} ms" for name, r in results.items()) + " |")
    print("|---|" + "---|" * len(results))
    for variant in next(iter(results.values()))["ratios"]:
        print(f"| {variant} | " + " | ".join(f"{r['ratios'][variant]:.3f}" for r in results.values()) + " |")
    RESULT.parent.mkdir(exist_ok=True)
    about = {"python": platform.python_version(), "torch": torch.__version__, "threads": 1, "rounds": arguments.rounds}
    about["looks"] = f"{LOOKS_OF_A_RUN} in {STEPS_OF_A_RUN} steps"
    RESULT.write_text(json.dumps({"about": about, "models": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
