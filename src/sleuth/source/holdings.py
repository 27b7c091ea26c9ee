"""Which networks an optimiser was given the parameters of."""

from __future__ import annotations

from sleuth.source.values import Value

# Ways to put several networks' parameters together.
_JOINING = ("api:itertools.chain", "add", "api:itertools.chain.from_iterable")


def of_optimizer(optimizer: Value | None) -> list[Value]:
    """The networks whose parameters it surely holds; a network inside another is not listed again."""
    given = optimizer.option("0", "params") if optimizer is not None else None
    return [] if given is None else _networks(given)


def _networks(given: Value, depth: int = 4) -> list[Value]:
    if given.op == "parameters":
        return [given.inputs[0]] if given.inputs and given.inputs[0].op != "phi" else []
    if depth == 0:
        return []
    if given.kind == "mapping":
        inner = given.attrs.get("params")
        return [] if inner is None else _networks(inner, depth - 1)
    if given.kind == "sequence":
        parts = [*(given.parts or ()), *given.inputs]
    else:
        parts = list(given.inputs) if given.op in _JOINING else []
    return [network for part in parts for network in _networks(part, depth - 1)]


def parts_of(network: Value) -> list[Value]:
    """The layers and networks a network consists of, as far as they are known."""
    return [*network.attrs.values(), *(network.parts or ())]


def shared(one: Value, other: Value) -> bool:
    """Do the two have parameters in common: are they the same, or is one a part of the other?"""
    return one is other or any(part is one for part in parts_of(other)) or any(part is other for part in parts_of(one))
