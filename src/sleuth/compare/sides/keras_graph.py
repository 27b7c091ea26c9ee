"""A Keras model on the torch backend as a graph of PyTorch operations, for the reference's part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from traceback import StackSummary
from typing import Any

import torch
from keras.src.ops.operation import Operation
from torch import fx
from torch.fx import traceback

from sleuth.compare.reference import Reference, as_tensor
from sleuth.compare.scores import Noise, score
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.keras_as_torch import whole_operations
from sleuth.compare.sides.keras_mode import inference
from sleuth.compare.sides.keras_tensors import replaced
from sleuth.compare.values import Array, Batch
from sleuth.program import is_users

_LAYER = "keras_layer"
_ROUGHLY = 0.2


class _Called(torch.nn.Module):
    """The model with its inputs one by one."""

    def __init__(self, model: Any, arranged: Callable[[list[Any]], tuple[Any, ...]]) -> None:
        super().__init__()
        self.model = model
        self._arranged = arranged

    def forward(self, *tensors: Any) -> Any:
        return self.model(*self._arranged(list(tensors)), **inference(self.model))


def reference(
    model: Any, arranged: Callable[[list[Any]], tuple[Any, ...]], batch: Batch, answers: list[Array], precision: str
) -> Reference | None:
    """With whole operations if that gives the model's own answers, else with what Keras itself calls; else none."""
    for way in (whole_operations, nullcontext):
        try:
            with torch.no_grad(), _names_told(), way():
                found = Reference.of(_Called(model, arranged), tuple(as_tensor(array) for array in batch))
        except CannotCompare:
            continue
        _tidy(found.graph)
        found = Reference(found.graph)
        if _is_right(found, batch, answers, precision):
            return found
    return None


def _is_right(found: Reference, batch: Batch, answers: list[Array], precision: str) -> bool:
    """To float32's noise; a model that computes in less is only roughly what the graph computes."""
    truth, single = found.run(batch, torch.float64), found.run(batch, torch.float32)
    if len(truth) != len(answers):
        return False
    scores = [score(t, Noise.of(t, s), a) for t, s, a in zip(truth, single, answers, strict=True)]
    return not any(one.parted if precision in ("float32", "float64") else not one.error < _ROUGHLY for one in scores)


@contextmanager
def _names_told() -> Iterator[None]:
    """Every operation written down meanwhile has with it the layer it belongs to and the user's line that called it."""
    path: list[str] = []
    original = Operation.__call__

    @wraps(original)
    def call(operation: Any, *args: Any, **kwargs: Any) -> Any:
        path.append(operation.name)
        try:
            with traceback.annotate({_LAYER: ".".join(path[1:])}):
                return original(operation, *args, **kwargs)
        finally:
            path.pop()

    if not hasattr(traceback, "annotate"):  # an older PyTorch, which has no means to tell
        yield
        return
    with (
        traceback.preserve_node_meta(),
        replaced(Operation, "__call__", call),
        replaced(fx.proxy.TracerBase, "_filter_traceback_frames", _users_frames),
    ):
        yield


def _users_frames(tracer: Any, summary: StackSummary) -> StackSummary:
    """PyTorch keeps the frames of functions called `forward`; in Keras it is `call`, and what that calls."""
    names = [(frame.filename, frame.name) for frame in summary]
    start = names.index((__file__, "forward")) if (__file__, "forward") in names else 0
    return StackSummary.from_list([frame for frame in summary[start:] if is_users(frame.filename)])


def _tidy(graph: fx.GraphModule) -> None:
    """Without the checks that export leaves and the casts that change nothing here, and with the layers' names."""
    for node in list(graph.graph.nodes):
        if node.op != "call_function":
            continue
        if "assert" in str(node.target) and not node.users:
            graph.graph.erase_node(node)
        elif _is_idle_cast(node):
            node.replace_all_uses_with(node.args[0])
            graph.graph.erase_node(node)
        else:
            layer = (node.meta.get("custom") or {}).get(_LAYER, "")
            node.meta["nn_module_stack"] = {layer: (layer, "")} if layer else {}
    graph.recompile()


def _is_idle_cast(node: fx.Node) -> bool:
    """From one floating-point type to another: the reference computes in one type throughout."""
    source = node.args[0] if node.args else None
    if not str(node.target).startswith(("aten.to.", "aten._to_copy.")) or not isinstance(source, fx.Node):
        return False
    before, after = _kept(source), _kept(node)
    both_real = before is not None and after is not None and before.is_floating_point() and after.is_floating_point()
    return both_real or (before is not None and after is not None and before.dtype == after.dtype)


def _kept(node: fx.Node) -> Any:
    """An example of its value, as export kept it."""
    value = node.meta.get("val", node.meta.get("tensor_meta"))
    return value if isinstance(value, torch.Tensor) else None
