"""Which layers of a module take which of its arguments first, read from a symbolic run of its `forward`."""

from __future__ import annotations

import inspect
import io
from contextlib import redirect_stdout
from typing import Any

from torch import fx, nn

from sleuth.compare.sides.quietly import quietly

# These ask a tensor about itself; what they give is not the data.
_ASKS = {"shape", "dtype", "device", "size", "dim", "ndim", "numel", "type", "is_cuda"}
_FAR = 12


def consumers(model: nn.Module) -> dict[str, list[nn.Module]]:
    """By argument, the layers that it reaches first; an argument that reaches none has an empty list."""
    found: dict[str, list[nn.Module]] = {}
    for node in _graph(model).nodes:
        if node.op == "placeholder":
            found[str(node.target).lstrip("*")] = _reached(model, node, _FAR)
    return found


def leaves(model: nn.Module) -> list[nn.Module]:
    """The layers without parts, or of PyTorch's own, in the order in which they were made."""
    found: list[nn.Module] = []
    for child in model.children():
        found += [child] if _is_whole(child) else leaves(child)
    return found or [model]


def _is_whole(module: nn.Module) -> bool:
    """One of PyTorch's layers with a word on its inputs, or a module without parts; no mere container."""
    if isinstance(module, nn.Sequential | nn.ModuleList | nn.ModuleDict):
        return False
    return type(module).__module__.startswith("torch.nn") or not any(True for _ in module.children())


class _Reader(fx.Tracer):
    """Goes on where a condition depends on the data: only the first steps matter."""

    def is_leaf_module(self, module: nn.Module, qualified_name: str) -> bool:
        return _is_whole(module)

    def to_bool(self, obj: fx.Proxy) -> bool:
        return True


def _graph(model: nn.Module) -> fx.Graph:
    """As far as it can be read."""
    reader = _Reader()
    try:
        optional = {
            one.name: one.default
            for one in inspect.signature(model.forward).parameters.values()
            if one.default is not inspect.Parameter.empty
        }
        with quietly(), redirect_stdout(io.StringIO()):
            return reader.trace(model, optional)
    except Exception:  # the user's forward on stand-ins may raise anything
        graph: fx.Graph = getattr(reader, "graph", fx.Graph())
        return graph


def _reached(model: nn.Module, node: fx.Node, far: int) -> list[nn.Module]:
    found: list[nn.Module] = []
    for user in node.users if far else ():
        if user.op == "call_module":
            module = model.get_submodule(str(user.target))
            found += [module] if has_word(module) else _reached(model, user, far - 1)
        elif not _asks(user):
            found += _reached(model, user, far - 1)
    return list(dict.fromkeys(found))


def _asks(node: fx.Node) -> bool:
    words: list[Any] = [node.target, *node.args[1:2]]
    return any(isinstance(word, str) and word in _ASKS for word in words)


def has_word(module: nn.Module) -> bool:
    """Does its kind of layer say what shape it takes?"""
    return isinstance(
        module,
        nn.Linear
        | nn.Bilinear
        | nn.Embedding
        | nn.EmbeddingBag
        | nn.RNNBase
        | nn.RNNCellBase
        | nn.LayerNorm
        | nn.GroupNorm
        | nn.MultiheadAttention
        | nn.TransformerEncoderLayer
        | nn.TransformerDecoderLayer
        | nn.TransformerEncoder
        | nn.TransformerDecoder
        | nn.Transformer
        | nn.modules.batchnorm._BatchNorm
        | nn.modules.conv._ConvNd,
    )
