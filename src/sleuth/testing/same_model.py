"""Two versions of a model compute the same, up to the noise of their number format."""

from __future__ import annotations

from typing import Any

from sleuth.testing import wording
from sleuth.testing.undisturbed import undisturbed


def assert_same_model(
    model: Any, other: Any = None, *, inputs: Any = None, variant: str | None = None, train: bool = False, seed: int = 0
) -> None:
    """`other`, or a variant of the model itself such as `"onnx"`, computes what the model does.

    Each may be a model, a file, or a reference such as `"model.py:Net"`. There is no tolerance to choose: what float32
    costs the model itself is the measure. A failure names the first layer that parts, and why where that is known."""
    __tracebackhide__ = True
    from sleuth.compare.verdict import Verdict, Wishes, compare_deployments, compare_two

    if (other is None) == (variant is None):
        raise TypeError("give another model, or the name of a variant")
    wishes = Wishes(inputs, seed, train=train)
    with undisturbed():
        done: Verdict
        done = compare_deployments(model, [variant], wishes) if variant else compare_two(model, other, wishes)
    made = [row for row in done.rows if row.verdict == "not made"]
    if made:
        raise AssertionError(wording.message(f"{made[0].name} of {done.title} could not be made", [made[0].reason]))
    parting = [finding for finding in done.findings if finding.kind == "model-migration"]
    if not done.same:
        raise AssertionError(wording.message(f"{done.title} do not compute the same", [wording.told(parting)]))
