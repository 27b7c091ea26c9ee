"""The model runs on an accelerator that this machine need not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sleuth.testing import wording
from sleuth.testing.given import called, checked_model, copied_model, fresh, loss_of, passed
from sleuth.testing.undisturbed import undisturbed

if TYPE_CHECKING:
    from torch import nn

    from sleuth.dry.in_process import Held, Numbers

_DEVICES = ("cuda", "mps")


def assert_runs_on(
    model: nn.Module,
    inputs: Any,
    device: str = "cuda",
    loss: Callable[..., Any] | None = None,
    targets: Any = None,
    *,
    numbers: Numbers = "auto",
) -> None:
    """On the device (`cuda`, `cuda:1`, `mps`; pretended, so none is needed) the model takes the inputs: every tensor is
    where it must be, of a type that the device has. With a `loss`, which is called as loss(outputs, targets), or as
    loss(outputs) where there are no targets, backward runs, too.

    A copy of the model is moved with `.to(device)`, and so are inputs and targets. `numbers="fake"` computes shapes
    only, for models too large for this machine."""
    __tracebackhide__ = True
    checked_model(model)
    _check(device, loss, targets)
    with undisturbed():
        failure = _failure(model, inputs, device, loss, targets, numbers)
    if failure is not None:
        raise AssertionError(failure)


def _check(device: Any, loss: Any, targets: Any) -> None:
    kind = str(device).partition(":")[0]
    if kind not in _DEVICES:
        raise ValueError(f"the device must be one of {', '.join(_DEVICES)}, with or without a number, not {device!r}")
    if loss is not None and not callable(loss):
        raise TypeError(f"the loss must be callable as loss(outputs, targets), not {type(loss).__name__}")
    if loss is None and targets is not None:
        raise ValueError("targets without a loss: give the loss too")


def _failure(model: Any, inputs: Any, device: Any, loss: Any, targets: Any, numbers: Numbers) -> str | None:
    from sleuth.dry.in_process import hold
    from sleuth.dry.scenario import Scenario

    def act() -> None:
        from sleuth.integrations.dry import moved

        copy, _ = copied_model((model, loss))
        there, criterion = _moved_parts(copy, device)
        outputs = passed(there, moved(fresh(inputs), str(device)))
        if criterion is not None:
            _loss(criterion, outputs, moved(fresh(targets), str(device))).backward()

    held = hold(act, Scenario("<test>", device=str(device)), numbers)
    if held.error is None:
        return None
    if isinstance(held.error, Exception) and _fails_anyway(model, inputs, loss, targets):
        raise held.error
    return _message(held, str(device))


def _moved_parts(parts: tuple[Any, Any], device: Any) -> tuple[Any, Any]:
    from torch import nn

    model, loss = parts
    return model.to(device), loss.to(device) if isinstance(loss, nn.Module) else loss


def _loss(loss: Any, outputs: Any, targets: Any) -> Any:
    return (
        loss_of(loss, outputs, targets) if targets is not None else loss_of(lambda given, _: loss(given), outputs, None)
    )


def _fails_anyway(model: Any, inputs: Any, loss: Any, targets: Any) -> bool:
    """Does it not even run where it is? Then the device is not to blame."""
    try:
        copy, criterion = copied_model((model, loss))[0]
        outputs = called(copy, inputs)
        if criterion is not None:
            _loss(criterion, outputs, targets).backward()
    except Exception:
        return True
    return False


def _message(held: Held, device: str) -> str:
    errors = [finding for finding in held.findings if finding.severity == "error"]
    said = f"{type(held.error).__name__}: {str(held.error).strip()}"
    return wording.message(f"the model does not run on {device}", [wording.told(errors) if errors else said])
