"""What a comparison costs beside forward passes and the export, and beside two other tools on the same pair.

A GPT of 6 layers (width 128) and a residual CNN go from PyTorch to ONNX with one fault each: an epsilon of 1e-3 in one
layer norm, one convolution scaled by 1.001. Sleuth, `torch.onnx.verification` (compare_intermediates) and Polygraphy
(the faulty file in ONNX Runtime, once against PyTorch's outputs, once with all values against those of the faultless
file) get the same files and inputs, in turns. CPU seconds of one thread; Polygraphy's are of its process, and what that
takes to start is told apart."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import logging
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from compare import networks
from sleuth.compare.comparison import compare_on
from sleuth.compare.sides.onnx_ import OnnxSide
from sleuth.compare.sides.torch_ import TorchSide

RESULT = Path(__file__).parent / "results" / "compare_cost.json"
ENVIRONMENT = Path.home() / ".cache" / "sleuth-benchmarks" / "polygraphy"
POLYGRAPHY = "polygraphy==0.53.6"
# What both other tools' documentation takes for a difference worth a look.
TOLERANCE = 1e-5


@dataclass(slots=True)
class Case:
    """One pair: the module, its faulty export, and where the fault is."""

    name: str
    module: nn.Module
    batch: tuple[NDArray[Any], ...]
    spoil: Callable[[Any], str]
    layer: str
    folder: Path
    program: Any = None
    wrong: str = ""
    times: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    said: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        return tuple(map(torch.from_numpy, self.batch))

    def timed(self, what: str, act: Callable[[], Any]) -> Any:
        wall, cpu = time.perf_counter(), _cpu()
        result = act()
        self.times.setdefault(what, []).append((_cpu() - cpu, time.perf_counter() - wall))
        print(f"{self.name}: {what}: {self.times[what][-1][0]:.2f} CPU seconds", flush=True)
        return result


def _cpu() -> float:
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--verification-rounds", type=int, default=1, help="it takes about a minute of CPU")
    parser.add_argument("--only", default="", help="pairs whose name begins so")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    polygraphy = set_up()
    with tempfile.TemporaryDirectory() as name:
        cases = [case for case in made(Path(name)) if case.name.startswith(options.only)]
        for case in cases:
            export(case)
        for number in range(options.rounds):
            for case in cases:
                one_round(case, polygraphy, number < options.verification_rounds)
        result = {
            "what": " ".join((__doc__ or "").split()),
            "machine": {"cpu": platform.machine(), "cores": os.cpu_count(), "threads": 1},
            "versions": {one: importlib.metadata.version(one) for one in ("torch", "onnx", "onnxruntime")},
            "polygraphy": POLYGRAPHY if polygraphy else "could not be installed from the package index",
            "pairs": {case.name: summary(case) for case in cases},
        }
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result["pairs"], indent=1))


def made(folder: Path) -> list[Case]:
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    gpt = networks.Gpt(composed=False, layers=6, width=128, longest=128).eval()
    tokens = (rng.integers(0, networks.VOCABULARY, (4, 64)),)
    many = (rng.integers(0, networks.VOCABULARY, (16, 128)),)
    cnn = networks.trained("resnet", 0)
    images = ((0.4 + rng.standard_normal((8, 3, 16, 16))).astype(np.float32),)
    return [
        Case("gpt, 4 x 64 tokens", gpt, tokens, _other_epsilon, "blocks.3.ln1", folder),
        Case("gpt, 16 x 128 tokens", gpt, many, _other_epsilon, "blocks.3.ln1", folder),
        Case("cnn, 8 images", cnn, images, _scaled_kernel, "stages.1.", folder),
    ]


def _other_epsilon(program: Any) -> str:
    """Of the seventh layer norm, the first of block 3."""
    import onnx_ir

    node = [node for node in program.model.graph if node.op_type == "LayerNormalization"][6]
    node.attributes["epsilon"] = onnx_ir.AttrFloat32("epsilon", 1e-3)
    return str(node.outputs[0].name)


def _scaled_kernel(program: Any) -> str:
    import onnx_ir

    node = [node for node in program.model.graph if node.op_type == "Conv"][4]
    weight = node.inputs[1]
    weight.const_value = onnx_ir.tensor(weight.const_value.numpy() * np.float32(1.001), name=weight.name)
    return str(node.outputs[0].name)


def export(case: Case) -> None:
    """Once before it is timed, to warm up; the faultless file is kept for Polygraphy."""
    right: Any = torch.onnx.export(case.module, case.tensors, dynamo=True, verbose=False)
    right.save(str(_path(case, "right")))
    case.program = torch.onnx.export(case.module, case.tensors, dynamo=True, verbose=False)
    case.wrong = case.spoil(case.program)
    case.program.save(str(_path(case, "wrong")))


def _path(case: Case, what: str) -> Path:
    return case.folder / f"{re.sub('[^a-z0-9]', '', case.name)}-{what}.onnx"


def one_round(case: Case, polygraphy: Path | None, verify: bool) -> None:
    with torch.no_grad():
        case.module(*case.tensors)
        case.timed("one forward pass, eager", lambda: case.module(*case.tensors))
    case.timed("torch.export", lambda: torch.export.export(case.module, case.tensors, strict=False))
    case.timed("torch.onnx.export", lambda: torch.onnx.export(case.module, case.tensors, dynamo=True, verbose=False))
    sleuth(case)
    if verify:
        verification(case)
    if polygraphy is not None:
        others(case, polygraphy)


def sleuth(case: Case) -> None:
    """The whole, and the part of it that is the export of the reference."""
    side = TorchSide(case.module)
    case.timed("Sleuth: export of the reference", lambda: side.reference(case.batch))
    done = case.timed("Sleuth: comparison", lambda: compare_on(side, OnnxSide(_path(case, "wrong")), case.batch))
    first = done.troubles[0] if done.troubles else None
    node = (first.explanation.node if first.explanation else first.parting.node) if first else ""
    layer = done.graph.value(node).layer if node else ""
    case.said["Sleuth"] = {
        "found": not done.same,
        "place": f"{node}, layer {layer}" if node else "",
        "place right": layer.startswith(case.layer),
        "cause": f"{first.explanation.diagnosis}: {first.explanation.proposal.says}"
        if first and first.explanation
        else "",
    }


def verification(case: Case) -> None:
    from torch.onnx.verification import verify_onnx_program

    infos = case.timed(
        "torch.onnx.verification",
        lambda: verify_onnx_program(case.program, case.tensors, compare_intermediates=True),
    )
    beyond = [one.name for one in infos if one.max_abs_diff > TOLERANCE]
    case.said["torch.onnx.verification"] = {
        "found": "differences of every value are listed; no verdict",
        "values listed": len(infos),
        "values more than 1e-5 off": len(beyond),
        "the first of them": beyond[0] if beyond else "",
        "place right": bool(beyond) and beyond[0] == case.wrong,
        "cause": "",
    }


def set_up() -> Path | None:
    """Polygraphy in an environment of its own, outside the repository."""
    tool = ENVIRONMENT / "bin" / "polygraphy"
    if tool.exists():
        return tool
    needs = [f"{name}=={importlib.metadata.version(name)}" for name in ("onnx", "onnxruntime", "numpy")]
    try:
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(ENVIRONMENT / "bin" / "pip"), "install", "-q", POLYGRAPHY, *needs], check=True)
    except subprocess.CalledProcessError as problem:
        print(f"Polygraphy is not measured: {problem}")
        return None
    return tool


def others(case: Case, tool: Path) -> None:
    """Against PyTorch's outputs, which is what there is; and, value by value, against a file without the fault."""
    inputs, golden, right = (case.folder / f"{what}.json" for what in ("inputs", "golden", "right"))
    _run(tool.with_name("python"), ["-c", _WRITE, str(inputs), str(golden), *_arrays(case)])
    case.timed("Polygraphy: its process alone", lambda: _run(tool, ["run", "--help"]))
    given = ["--onnxrt", "--load-inputs", str(inputs)]
    every = ["--onnx-outputs", "mark", "all"]
    wrong = ["run", str(_path(case, "wrong")), *given]
    told = case.timed("Polygraphy: outputs", lambda: _run(tool, [*wrong, "--load-outputs", str(golden)]))
    _run(tool, ["run", str(_path(case, "right")), *given, *every, "--save-outputs", str(right)])
    layers = case.timed(
        "Polygraphy: all values, against a faultless file",
        lambda: _run(tool, [*wrong, *every, "--load-outputs", str(right)]),
    )
    mismatched = _mismatched(layers)
    case.said["Polygraphy"] = {
        "found, from the outputs": "Passed: 0/1" in told,
        "found, value by value": "Passed: 0/1" in layers,
        "values that it lists as other": len(mismatched),
        "the first of them": mismatched[0] if mismatched else "",
        "place right": bool(mismatched) and mismatched[0] == case.wrong,
        "cause": "",
    }


_WRITE = """
import sys
import numpy as np
from polygraphy.comparator import IterationResult, RunResults
from polygraphy.json import save_json
inputs, golden, given, answers = sys.argv[1:5]
save_json([dict(np.load(given))], inputs)
results = RunResults()
results.add([IterationResult(dict(np.load(answers)), runner_name="pytorch")], runner_name="pytorch")
results.save(golden)
"""


def _arrays(case: Case) -> list[str]:
    given, answers = case.folder / "given.npz", case.folder / "answers.npz"
    names = [one.name for one in case.program.model.graph.inputs]
    np.savez(given, **dict(zip(names, case.batch, strict=True)))
    with torch.no_grad():
        result = case.module(*case.tensors).numpy()
    np.savez(answers, **{case.program.model.graph.outputs[0].name: result})
    return [str(given), str(answers)]


def _run(program: Path, words: list[str]) -> str:
    done = subprocess.run(
        [str(program), *words], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    return done.stdout + done.stderr


def _mismatched(text: str) -> list[str]:
    """In the order in which it tells them, which is that of the graph."""
    listed = re.search(r"Mismatched outputs: \[(.*?)\]", text, re.DOTALL)
    return re.findall(r"'([^']+)'", listed[1]) if listed else []


def summary(case: Case) -> dict[str, Any]:
    times = {
        what: {
            "CPU seconds": round(statistics.median(cpu for cpu, _ in seen), 4),
            "wall seconds": round(statistics.median(wall for _, wall in seen), 4),
            "rounds": len(seen),
        }
        for what, seen in case.times.items()
    }
    cpu = {what: entry["CPU seconds"] for what, entry in times.items()}
    spent = cpu["Sleuth: export of the reference"] + cpu["Sleuth: comparison"]
    return {
        "fault": f"in {case.layer}, value {case.wrong}",
        "times": times,
        "Sleuth's comparison, in forward passes": round(cpu["Sleuth: comparison"] / cpu["one forward pass, eager"], 1),
        "three forward passes and the ONNX export, CPU seconds": round(
            3 * cpu["one forward pass, eager"] + cpu["torch.onnx.export"], 3
        ),
        "Sleuth in all, its own export included, CPU seconds": round(spent, 3),
        "said": case.said,
    }


if __name__ == "__main__":
    main()
