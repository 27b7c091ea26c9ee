"""Where a NaN or Inf of one forward and backward pass is born, as the live engine tells it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from sleuth.findings import Finding


def bad_gradients(model: Any) -> list[str]:
    """The parameters whose gradients hold NaN or Inf."""
    import torch

    return [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is not None and not bool(torch.isfinite(parameter.grad).all())
    ]


def story(model: Any, number: Callable[[], Tensor]) -> list[Finding]:
    """The findings for a pass that is known to go wrong. `number` runs the model, a copy, and gives what is to be
    differentiated."""
    import torch

    from sleuth.live import Watch

    watch = Watch(show=say_nothing, experiments=0)
    with watch:
        anchor = torch.zeros((), requires_grad=True)
        optimizer = torch.optim.SGD([anchor, *(p for p in model.parameters() if p.requires_grad)], lr=0.0)

        def anchored() -> Tensor:
            value = number()
            return value if value.requires_grad else value + anchor.to(value.device)

        let_it_go_wrong(optimizer, anchored)
    return [finding for finding in watch.findings if finding.severity != "note"]


def let_it_go_wrong(optimizer: Any, number: Callable[[], Tensor]) -> None:
    """Within a watch: take the step that is known to go wrong, so that the watch tells why.

    The optimiser calls the pass itself: that is the one way in which the watch repeats a bad pass on the spot, rather
    than sending the loop around it, which is the user's, back to its beginning."""

    def closure() -> float:
        optimizer.zero_grad()
        value = number()
        value.backward()
        return float(value.detach())

    optimizer.step(closure)


def is_bad(value: float) -> bool:
    return not math.isfinite(value)


def say_nothing(report: object) -> None:
    """The findings become a part of the oracle's own message."""
