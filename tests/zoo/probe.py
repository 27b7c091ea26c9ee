"""Runs zoo programs under hooks of its own, without Sleuth, and says when a number first went bad.

torch is imported once; each program then runs in a forked child. One JSON job a line on stdin, one answer on stdout.
A program that forks processes of its own gets a fresh interpreter. A job may have gradients shaken in their last bits.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # which the first optimiser would import in every child
from torch.amp import GradScaler
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

# Only against a program that never ends: on a busy machine the slowest takes minutes.
TIMEOUT = 600
# A scale below 1 shrinks the loss: no overflow was ever cured by it.
COLLAPSED = 1.0


def is_bad(tensors: list[torch.Tensor]) -> bool:
    dense = [t.coalesce().values() if t.is_sparse else t for t in tensors if t.is_floating_point()]
    return any(not bool(torch.isfinite(t).all()) for t in dense)


def leaves(root: torch.Tensor) -> list[torch.Tensor]:
    """The tensors whose `.grad` a backward pass from here fills."""
    found, seen, todo = [], set(), [root.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        todo += [following for following, _ in node.next_functions]
    return found


class Hooks:
    """Notes the first non-finite loss, gradient or weight, and leaves the program there."""

    def __init__(self, verdict: Path, shaken: int | None) -> None:
        self.verdict = verdict
        self.shaking = None if shaken is None else torch.Generator().manual_seed(shaken)
        self.steps = self.backwards = 0
        self.optimisers = self.scaled = False

    def install(self) -> None:
        self.plain_backward, torch.autograd.backward = torch.autograd.backward, self.backward
        self.plain_scale, self.plain_update = GradScaler.scale, GradScaler.update
        GradScaler.scale = lambda scaler, loss: self.scale(scaler, loss)
        GradScaler.update = lambda scaler, *args: self.update(scaler, *args)
        register_optimizer_step_pre_hook(self.before_step)
        register_optimizer_step_post_hook(self.after_step)

    def note(self, kind: str) -> None:
        # A program without an optimiser counts its backward passes.
        step = self.steps if self.optimisers else self.backwards
        self.verdict.write_text(json.dumps({"kind": kind, "step": step}))
        sys.stdout.flush()
        os._exit(0)

    def backward(self, tensors: Any, *args: Any, **kwargs: Any) -> None:
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        if not self.scaled and is_bad(roots):
            self.note("loss")
        parameters = [leaf for root in roots for leaf in leaves(root)]
        self.plain_backward(tensors, *args, **kwargs)
        # What an optimiser will not use is not judged: a scaler skips such steps by design.
        if not self.optimisers and is_bad([p.grad for p in parameters if p.grad is not None]):
            self.note("gradient")
        self.backwards += 1

    def scale(self, scaler: GradScaler, loss: Any) -> Any:
        self.scaled = True
        if isinstance(loss, torch.Tensor) and is_bad([loss]):
            self.note("loss")
        return self.plain_scale(scaler, loss)

    def update(self, scaler: GradScaler, *args: Any) -> None:
        self.plain_update(scaler, *args)
        if scaler.get_scale() < COLLAPSED:
            self.note("scale")

    def before_step(self, optimiser: torch.optim.Optimizer, *_: Any) -> None:
        gradients = [p.grad for p in parameters_of(optimiser) if p.grad is not None]
        if is_bad(gradients):
            self.note("gradient")
        if self.shaking is not None:
            shake(gradients, self.shaking)

    def after_step(self, optimiser: torch.optim.Optimizer, *_: Any) -> None:
        if is_bad(parameters_of(optimiser)):
            self.note("weight")
        self.steps += 1


def shake(gradients: list[torch.Tensor], generator: torch.Generator) -> None:
    """Move each number by two units in its last place or less, as another CPU's order of sums would."""
    for gradient in gradients:
        if not gradient.is_sparse:
            units = torch.randint(-2, 3, gradient.shape, generator=generator)
            gradient.data.mul_(1 + units.to(gradient.dtype) * torch.finfo(gradient.dtype).eps)


def parameters_of(optimiser: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [p for group in optimiser.param_groups for p in group["params"]]


def perform(job: dict[str, Any], folder: Path) -> None:
    """Run the program in this process; never returns."""
    for name, stream in (("stdout", 1), ("stderr", 2)):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), stream)
    os.chdir(job["folder"])
    sys.path.insert(0, job["folder"])
    hooks = Hooks(folder / "verdict", job["shaken"])
    hooks.optimisers = job["optimisers"]
    hooks.install()
    status = 0
    try:
        if job["run"][0] == "-m":
            sys.argv = job["run"][1:]
            runpy.run_module(job["run"][1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = job["run"]
            runpy.run_path(job["run"][0], run_name="__main__")
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            child = os.fork()
            if child == 0:
                signal.alarm(TIMEOUT)
                if json.loads(line)["forks"]:
                    os.execv(sys.executable, [sys.executable, __file__, line, name])
                perform(json.loads(line), folder)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            verdict = folder / "verdict"
            answer = {
                "status": status,
                "verdict": json.loads(verdict.read_text()) if verdict.exists() else None,
                "stdout": (folder / "stdout").read_text(),
                "stderr": (folder / "stderr").read_text(),
            }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        perform(json.loads(sys.argv[1]), Path(sys.argv[2]))
    main()
