"""A second backward pass through a graph whose values are already gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix, Link

_WORDS = "Trying to backward through the graph a second time"


def explain(crash: Crash) -> Finding | None:
    if _WORDS not in crash.message:
        return None
    carried = _carried(crash)
    if carried is None:
        return _of_one_graph(crash)
    name, birth, earlier = carried
    return told(
        "backward-twice",
        crash,
        title=f"{name} carries its graph from one round to the next",
        chain=[
            Link(
                f"{_words.maker(earlier)} made {name} in a round before, {_words.shape(earlier.shape)}", earlier.place
            ),
            Link("backward() went through it and threw its values away"),
            Link(f"{name} of this round was made from it", birth.place),
            Link("backward() wants to go through both rounds", crash.place),
        ],
        fixes=[Fix(f"cut it off between the rounds: `{name} = {_detached(name, crash)}`")],
    )


def _of_one_graph(crash: Crash) -> Finding:
    """Several losses of one output, or one loss twice: the nearest that both passes went through."""
    shared = _shared(crash)
    title = None if shared is None else f"two backward passes go through {shared[0]}"
    chain = [] if shared is None else [Link(f"{_words.maker(shared[1])} made {shared[0]}", shared[1].place)]
    return told(
        "backward-twice",
        crash,
        title=title,
        chain=[*chain, Link("an earlier backward() threw its values away, this one needs them", crash.place)],
        fixes=[Fix("add the losses and call backward() once; or the first time with retain_graph=True")],
    )


def _shared(crash: Crash) -> tuple[str, Birth] | None:
    loss = crash.call.births[0] if crash.call is not None and crash.call.births else None
    for birth in list(loss.ancestors())[1:] if loss is not None else ():
        for spot in reversed(_scene.users_spots(crash)):
            for name, value in spot.values.items():
                if any(crash.stage.births[one] is birth and _is_used_up(one) for one in _tensors(value)):
                    return name, birth
    return None


def _is_used_up(tensor: Any) -> bool:
    """Has a backward pass thrown away what it was computed from?"""
    node = tensor.grad_fn
    for name in dir(node) if node is not None else ():
        if name.startswith("_saved_"):
            try:
                getattr(node, name)
            except RuntimeError:
                return True
    return False


def _carried(crash: Crash) -> tuple[str, Birth, Birth] | None:
    """A variable whose history holds an earlier value of itself, made by the same instruction."""
    for spot in reversed(_scene.users_spots(crash)):
        for name, value in spot.values.items():
            for tensor in _tensors(value):
                birth = crash.stage.births[tensor]
                earlier = None if birth is None or name.startswith("loss") else _the_round_before(birth, crash)
                if birth is not None and earlier is not None:
                    return name, birth, earlier
    return None


def _tensors(value: Any) -> Iterator[Any]:
    from torch import Tensor

    for one in value if isinstance(value, tuple | list) else (value,):
        if isinstance(one, Tensor):
            yield one


def _the_round_before(birth: Birth, crash: Crash) -> Birth | None:
    """Several steps within one round, as in a recurrent network, are made in one frame that is gone by now."""
    if birth.code is None:
        return None
    same = [one for one in birth.ancestors() if one is not birth and _is_same(one, birth)]
    return same[0] if same and len(same) < _rounds(crash) else None


def _is_same(one: Birth, birth: Birth) -> bool:
    alike = (one.code, one.instruction, one.operation, one.layer)
    return alike == (birth.code, birth.instruction, birth.operation, birth.layer) and one.device == birth.device


def _rounds(crash: Crash) -> int:
    """A tensor that is made once a round can be in the history no more often than there were rounds."""
    return max(2, crash.stage.acts["forward"])


def _detached(name: str, crash: Crash) -> str:
    for spot in _scene.users_spots(crash):
        if isinstance(spot.values.get(name), tuple):
            return f"tuple(one.detach() for one in {name})"
    return f"{name}.detach()"
