"""What is known of a DataLoader: who loops over it, whether a loop learns from it, and in which order it deals."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from sleuth.findings import Fix
from sleuth.source import tell, training
from sleuth.source.scopes import ClassInfo
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value, ancestors, made_by


def loader_behind(source: Value) -> Value | None:
    """The DataLoader that a loop goes over, also through enumerate, zip and tqdm."""
    if source.kind != "iterator" or source.op == "range":
        return source if source.kind == "loader" else None
    for one in ancestors(source, stop=lambda value: value.kind == "loader", most=12):
        if one.kind == "loader":
            return one
        if one is not source and one.kind != "iterator":
            return None
    return None


def loops_over_loaders(trace: Trace) -> Iterator[tuple[Step, Value]]:
    for step in trace.of("loop"):
        loader = None if step.receiver is None else loader_behind(step.receiver)
        if loader is not None:
            yield step, loader


def first_batches(trace: Trace) -> Iterator[tuple[Step, Value]]:
    """Each `next(iter(loader))` that a training step in the same loop learns from, and the loader."""
    for first in trace.of("first_batch"):
        if not first.loops:
            continue
        loader, loop = first.receiver, first.loops[-1]
        if loader is None or loader.kind != "loader" or training.made_in(loader, loop, first.site.spot.file):
            continue
        losses = [
            step.receiver for step in trace.within(loop) if step.act in training.BACKWARD and step.loops[-1] is loop
        ]
        if any(loss is not None and first.site.result in ancestors(loss) for loss in losses):
            yield first, loader


def keeps_order(loader: Value) -> bool:
    """Does the loader surely deal the samples in the data set's own order?"""
    for position, name in (("2", "shuffle"), ("3", "sampler"), ("4", "batch_sampler")):
        given = loader.option(name, position)
        if given is not None and given.const is not False and given.const is not None:
            return False
    data = loader.option("dataset", "0")
    return not _has_hidden_arguments(loader) and data is not None and is_map_style(data)


def _has_hidden_arguments(loader: Value) -> bool:
    """Is it no plain DataLoader, or one made with *args or **kwargs?"""
    node = loader.node
    if loader.api != "torch.utils.data.DataLoader" or not isinstance(node, ast.Call):
        return True
    return any(one.arg is None for one in node.keywords) or any(isinstance(one, ast.Starred) for one in node.args)


def is_sorted(data: Value) -> bool:
    """A data set that lists all samples of one class, then those of the next."""
    if data.api == "torch.utils.data.TensorDataset" and data.inputs:
        labels = made_by(data.inputs[-1], "expand", through=_SAME_ORDER)
        called = getattr(getattr(labels, "node", None), "func", None)
        return isinstance(called, ast.Attribute) and called.attr == "repeat_interleave"
    return data.api in ("torchvision.datasets.ImageFolder", "torchvision.datasets.DatasetFolder")


_SAME_ORDER: Final = frozenset("to long float type cast clone cpu cuda unsqueeze squeeze as_tensor".split())


def is_map_style(data: Value) -> bool:
    """A data set with an order of its own, rather than a stream."""
    if data.kind == "dataset":
        return not data.api.endswith("IterableDataset")
    if data.kind == "instance" and isinstance(data.info, ClassInfo):
        bases = data.info.framework_bases()
        return data.info.method("__getitem__") is not None and not any("Iterable" in base for base in bases)
    return data.kind == "tensor"


def learnt_from(trace: Trace) -> Iterator[tuple[Step, Value]]:
    """Each loader that a training loop goes over, once, and the loop."""
    if not trace.of(*training.BACKWARD):
        return
    told: set[int] = set()
    for loop, loader in loops_over_loaders(trace):
        inside = trace.within(loop.node)
        trains = any(one.act in training.BACKWARD and one.loops[-1] is loop.node for one in inside)
        if trains and any(training.optimizer_of(one) is not None for one in inside) and id(loader) not in told:
            told.add(id(loader))
            yield loop, loader


def shuffle_fix(loader: Value) -> list[Fix]:
    """Pass shuffle=True, where the call says nothing about it."""
    title = "pass shuffle=True"
    node = loader.node
    if (
        not isinstance(node, ast.Call)
        or loader.unit is None
        or loader.option("shuffle", "2", "sampler", "3") is not None
    ):
        return [Fix(title)]
    return [Fix(title, (tell.add_argument(loader.unit, node, "shuffle=True"),))]
