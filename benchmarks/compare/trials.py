"""One comparison after the other, of a pair with a fault in it or of a clean one; each follows from seed and number."""

from __future__ import annotations

import os
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from compare import judge, networks
from compare.fault import Fault
from sleuth.compare.comparison import Comparison, compare_on
from sleuth.compare.side import Side
from sleuth.compare.sides.torch_ import TorchSide

PAIRS = ("onnx", "keras-torch", "keras-jax", "keras-tensorflow")
# Of every network: weights as they are drawn, and trained ones twice.
VARIANTS = ("fresh", "trained", "trained")
_FORMS = ("as exported", "basic", "extended")
Batch = tuple[NDArray[Any], ...]


@dataclass(frozen=True, slots=True)
class Trial:
    pair: str
    seed: int
    number: int
    clean: bool

    @property
    def kind(self) -> str:
        return list(networks.KINDS)[self.number % len(networks.KINDS)]

    @property
    def variant(self) -> int:
        return self.number // len(networks.KINDS) % len(VARIANTS)

    @property
    def form(self) -> str:
        """How a clean ONNX file is optimised before it is compared."""
        return _FORMS[self.number // (len(networks.KINDS) * len(VARIANTS)) % len(_FORMS)]

    def rng(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, PAIRS.index(self.pair), self.number, int(self.clean)])


def carried_out(trial: Trial, folder: Path) -> dict[str, Any]:
    """What is to be known of it, ready to be written down."""
    rng = trial.rng()
    batch = networks.batch(trial.kind, rng)
    told: dict[str, Any] = {"number": trial.number, "clean": trial.clean, "kind": trial.kind, "variant": trial.variant}
    reference = _reference(trial.pair, trial.seed, trial.kind, trial.variant)
    dropped: Counter[str] = Counter()
    make = _onnx if trial.pair == "onnx" else _keras
    target, fault = make(trial, batch, rng, dropped, folder)
    start = time.process_time()
    try:
        done = compare_on(reference, target(), batch)
    except Exception as problem:  # a comparison that throws has failed, and the next one goes on
        told["raised"] = f"{type(problem).__name__}: {problem}".splitlines()[0][:160]
        done = None
    told["seconds"] = round(time.process_time() - start, 3)
    told["dropped"] = dict(dropped)
    if fault is not None:
        told.update(family=fault.family, what=fault.what, named=fault.cause, amount=fault.amount, change=fault.change)
    return {**told, **_outcome(done, fault)}


def _outcome(done: Comparison | None, fault: Fault | None) -> dict[str, Any]:
    if done is None:
        return {"found": False, "place": "none", "cause": "none"}
    outputs = max(min(one.score, 1e30) for one in done.outputs)
    if fault is None:
        return {"found": not done.same, "output": round(outputs, 3)}
    return {"output": round(outputs, 3), **judge.judged(done, fault)}


def weights_seed(pair: str, seed: int, kind: str, variant: int) -> int:
    return zlib.crc32(f"{pair} {seed} {kind} {variant}".encode()) % 2**31


@cache
def _module(pair: str, seed: int, kind: str, variant: int) -> nn.Module:
    make: Callable[[str, int], nn.Module] = networks.fresh if VARIANTS[variant] == "fresh" else networks.trained
    return make(kind, weights_seed(pair, seed, kind, variant))


@cache
def _reference(pair: str, seed: int, kind: str, variant: int) -> TorchSide:
    return TorchSide(_module(pair, seed, kind, variant))


@cache
def _exported(pair: str, seed: int, kind: str, variant: int) -> Any:
    """The last variant without the exporter's own optimisation: batch norms that stay, constants that are computed."""
    module = _module(pair, seed, kind, variant)
    example = tuple(map(torch.from_numpy, networks.batch(kind, np.random.default_rng(0))))
    plain = variant == len(VARIANTS) - 1
    program: Any = torch.onnx.export(module, example, dynamo=True, verbose=False, optimize=not plain)
    return program.model_proto


Made = tuple[Callable[[], Side], Fault | None]


def _onnx(trial: Trial, batch: Batch, rng: np.random.Generator, dropped: Counter[str], folder: Path) -> Made:
    import onnx

    from compare import onnx_faults
    from sleuth.compare.sides.onnx_ import OnnxSide

    key = (trial.pair, trial.seed, trial.kind, trial.variant)
    model, fault = _exported(*key), None
    path = folder / f"{os.getpid()}.onnx"
    if not trial.clean:
        model, fault = onnx_faults.draw(onnx_faults.Exported(model, _module(*key), batch), rng, dropped)
    onnx.save(model, str(path))
    if trial.clean and trial.form != "as exported":
        _optimise(path, trial.form)
    return lambda: OnnxSide(path), fault


def _optimise(path: Path, level: str) -> None:
    """The file as ONNX Runtime itself would write it down after its optimisations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.optimized_model_filepath = str(path)
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_BASIC if level == "basic" else levels.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])


def _keras(trial: Trial, batch: Batch, rng: np.random.Generator, dropped: Counter[str], folder: Path) -> Made:
    from compare import keras_faults, keras_plan
    from sleuth.compare.sides.keras_ import KerasSide

    ported = keras_plan.Ported(trial.kind, _module(trial.pair, trial.seed, trial.kind, trial.variant), batch)
    if trial.clean:
        model = keras_plan.Plan(ported).built()
        return lambda: KerasSide(model), None
    model, fault = keras_faults.draw(ported, rng, dropped)
    return lambda: KerasSide(model), fault
