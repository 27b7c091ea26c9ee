"""`sleuth.compare(a, b)`: the same model in two runtimes, from code and in notebooks."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sleuth.findings import Report
from sleuth.program import silenced

if TYPE_CHECKING:
    from sleuth.compare.verdict import Verdict


class Compared(Report):
    """The report, and under `verdict` all numbers behind it."""

    __slots__ = ("verdict",)
    verdict: Verdict

    @property
    def same(self) -> bool:
        return self.verdict.same


def compare(
    first: Any,
    second: Any = None,
    *,
    inputs: Any = None,
    variants: Collection[str] | str = (),
    train: bool = False,
    seed: int = 0,
    rounds: int | None = None,
    backend: str | None = None,
    trust: bool = False,
    ignore: Collection[str] = (),
) -> Compared:
    """Whether `second` computes what `first` does: models, files, or references such as `"model.py:Net"`.

    With `variants=("onnx", "bf16")` and no second, one model against these forms of it. `inputs` is an example, a list
    or loader of them, or a file; without it they are made from the model's signature. Where that is not possible,
    `sleuth.compare.side.CannotCompare` says so in one line. Copies are used; models and chance stay as they were."""
    from sleuth.compare.verdict import ROUNDS, Wishes, compare_deployments, compare_two
    from sleuth.integrations.showing import known_to_notebook
    from sleuth.testing.undisturbed import undisturbed

    if (second is None) == (not variants):
        raise TypeError("sleuth.compare takes a second model, or variants of the first")
    names = [variants] if isinstance(variants, str) else list(variants)
    wishes = Wishes(inputs, seed, ROUNDS if rounds is None else rounds, trust, backend, train)
    with undisturbed():
        verdict = compare_deployments(first, names, wishes) if names else compare_two(first, second, wishes)
    found = tuple(finding for finding in verdict.findings if not silenced(finding, ignore))
    report = Compared("compare", verdict.title, found)
    object.__setattr__(report, "verdict", verdict)
    known_to_notebook()
    return report
