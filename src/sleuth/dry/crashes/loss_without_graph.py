"""A loss that hangs on no parameter: where its way back was cut."""

from __future__ import annotations

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix, Link

_WORDS = "does not require grad and does not have a grad_fn"
_CUTS = {
    "detach": "cuts it off",
    "data": "cuts it off",
    "argmax": "gives whole numbers, which have no gradient",
    "round": "has a gradient of 0",
    "sign": "has a gradient of 0",
    "long": "gives whole numbers, which have no gradient",
    "int": "gives whole numbers, which have no gradient",
    "from_numpy": "makes a new tensor of bare numbers",
    "tensor": "makes a new tensor of bare numbers",
    "as_tensor": "makes a new tensor of bare numbers",
    "eq": "gives truth values, which have no gradient",
    "gt": "gives truth values, which have no gradient",
    "lt": "gives truth values, which have no gradient",
}


def explain(crash: Crash) -> Finding | None:
    if _WORDS not in crash.message:
        return None
    loss = crash.call.births[0] if crash.call is not None and crash.call.births else None
    frozen = _all_frozen(crash)
    cut = None if loss is None or frozen else _cut(loss)
    if frozen:
        title = f"no parameter of {frozen} asks for a gradient, so there is nothing to differentiate"
        fix = Fix("leave at least one parameter with requires_grad=True")
    elif cut is not None:
        title = f"{_words.operation(cut.operation)} {_CUTS[cut.operation]}: the loss hangs on no parameter"
        fix = Fix(f"compute the loss without {_words.operation(cut.operation)}")
    else:
        title, fix = "", Fix("look for torch.no_grad(), .detach() or .item() between the model and the loss")
    return told(
        "loss-without-graph",
        crash,
        title=title or None,
        chain=[*_story(loss), *([Link("here the way back is cut", cut.place)] if cut is not None else [])],
        fixes=[fix],
    )


def _story(loss: Birth | None) -> list[Link]:
    return [] if loss is None else _history.of_shapes(loss)


def _cut(loss: Birth) -> Birth | None:
    return next((one for one in _history.trunk(loss) if one.operation in _CUTS), None)


def _all_frozen(crash: Crash) -> str:
    for root in _scene.roots(crash):
        parameters = list(root.parameters())
        if parameters and not any(parameter.requires_grad for parameter in parameters):
            return type(root).__name__
    return ""
