"""The optimiser's own tensors are on the CPU, the parameters on the card."""

from __future__ import annotations

from typing import Any

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _messages, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Fix, Link

REFINES = ("device_mismatch", "batch_left_on_cpu", "mixed_devices")


def explain(crash: Crash) -> Finding | None:
    optimizer = _stepping(crash)
    if optimizer is None or not _messages.is_about_devices(crash.message):
        return None
    left = _left_behind(crash, optimizer)
    if left is None:
        return None
    name, state, parameter = left
    return told(
        "optimizer-state-left-on-cpu",
        crash,
        title=f"{name} of {type(optimizer).__name__} is on {state.device}, its parameter on {parameter.device}",
        evidence=[Evidence(name, f"{_words.shape(state.shape)} on {state.device}")],
        chain=[
            Link(f"{name} was made on {state.device}", state.place),
            Link(f"{parameter.name or 'the parameter'} is on {parameter.device}", parameter.place),
        ],
        fixes=[Fix("move the model to the card first, then make the optimiser and load its state")],
    )


def _stepping(crash: Crash) -> Any:
    from torch.optim import Optimizer

    values = (spot.values.get("self") for spot in reversed(_scene.spots(crash)))
    return next((value for value in values if isinstance(value, Optimizer)), None)


def _left_behind(crash: Crash, optimizer: Any) -> tuple[str, Birth, Birth] | None:
    from torch import Tensor

    births = crash.stage.births
    for parameter, state in optimizer.state.items():
        own = births[parameter]
        for name, value in state.items():
            birth = births[value] if isinstance(value, Tensor) and value.dim() else None
            if own is not None and birth is not None and birth.device != own.device:
                return str(name), birth, own
    return None
