"""Which networks are frozen: what `requires_grad = False` over their parameters does to them."""

from __future__ import annotations

from sleuth.source.values import Value
from sleuth.source.weights import holds_weights

# Networks nest; this deep we follow.
_DEEPEST = 4


def network_of(parameter: Value) -> Value | None:
    """The network a parameter was taken from."""
    if parameter.op != "parameter" or not parameter.inputs:
        return None
    source = parameter.inputs[0]
    return source.inputs[0] if source.op in ("parameters", "named_parameters") and source.inputs else source


def set_on_parameter(parameter: Value, flag: bool | None) -> None:
    """`p.requires_grad = flag` for each p of a network's parameters. None is: perhaps, or only for some."""
    network = network_of(parameter)
    if network is not None:
        set_on_network(network, flag)
    elif parameter.kind == "tensor":
        parameter.grad = flag


def set_on_network(network: Value, flag: bool | None, depth: int = _DEEPEST) -> None:
    """Note that all parameters of a network are frozen, are not, or are perhaps."""
    if network.op.startswith(("attr:", "index")) and network.inputs:
        # A part of another network: that one is no longer frozen as a whole.
        if flag is not False:
            set_on_network(network.inputs[0], None, depth)
        return
    network.grad = flag
    for part in (*network.attrs.values(), *(network.parts or ())) if depth else ():
        if part.kind in ("module", "instance"):
            set_on_network(part, flag, depth - 1)


def is_frozen(network: Value, depth: int = _DEEPEST) -> bool:
    """Are surely all of its parameters frozen, those of layers set later included?"""
    if network.grad is not False or network.op == "phi":
        return False
    inner = [part for part in (*network.attrs.values(), *(network.parts or ())) if holds_weights(part)]
    return depth > 0 and all(is_frozen(part, depth - 1) for part in inner)
