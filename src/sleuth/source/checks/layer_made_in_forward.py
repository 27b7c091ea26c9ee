"""A layer with weights, or with a training mode, that is constructed inside `forward` and lost at its end."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

_WITH_STATE: Final = tuple(
    f"{framework}.{layer}()"
    for framework, layers in {
        "torch.nn": "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding "
        "LSTM GRU RNN LSTMCell GRUCell BatchNorm1d BatchNorm2d BatchNorm3d MultiheadAttention "
        "TransformerEncoderLayer PReLU Dropout Dropout1d Dropout2d Dropout3d AlphaDropout",
        "keras.layers": "Dense Conv1D Conv2D Conv3D Conv2DTranspose Embedding LSTM GRU SimpleRNN BatchNormalization",
    }.items()
    for layer in layers.split()
)
CALLS = _WITH_STATE


def call(site: Site) -> Finding | None:
    function, layer = site.spot.function, site.receiver
    if function is None or layer is None or not isinstance(layer.node, ast.Call) or layer.unit is not site.spot.file:
        return None
    if function.name not in ("forward", "call") or function.cls is None or not function.cls.is_module():
        return None
    if not function.contains(layer.node) or layer.attrs or layer.op == "phi" or _kept(layer.node, function.node):
        return None
    kind = layer.api.rpartition(".")[2]
    drops = "Dropout" in kind
    return tell.found(
        "layer-made-in-forward",
        site,
        node=layer.node,
        title=f"{kind} is made anew in every forward: it drops values in eval() too"
        if drops
        else f"{kind} is made anew in every {function.name}",
        chain=[
            tell.because(layer, f"{kind} is constructed inside {function.cls.name}.{function.name}"),
            tell.because(site.node, "it is used here, and thrown away when the call ends", site.spot.file),
        ],
        fixes=[Fix(f"construct the layer in __init__ and call it in {function.name}")],
    )


def _kept(made: ast.Call, function: ast.AST) -> bool:
    """Is it stored in an attribute (made on first use), or are its weights set by hand?"""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and node.value is made:
            if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
                return True
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            return any(
                isinstance(other, ast.Attribute)
                and other.attr in ("weight", "bias", "load_state_dict", "parameters")
                and isinstance(other.value, ast.Name)
                and other.value.id in names
                for other in ast.walk(function)
            )
    return False
