"""What a check for non-finite numbers is given, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from sleuth.findings import Evidence, Fix, Link, RootCause
from sleuth.live.history import History
from sleuth.live.naming import same_memory
from sleuth.live.numbers import NOTHING, Numbers
from sleuth.live.trace import Op, Trace, plain_name

# float16 has no normal number below 6.1e-5.
_EPSILON_OF_HALF = 1e-4


@dataclass(frozen=True, slots=True)
class Birth:
    """An operation that made NaN or Inf out of inputs that held none of that kind, its tensors still at hand."""

    op: Op
    inputs: Sequence[Tensor]
    arguments: Sequence[Any]
    keywords: dict[str, Any]
    output: Tensor
    trace: Trace
    history: History

    @property
    def name(self) -> str:
        """The operation's own name in ATen, without the underscore of its in-place form."""
        return self.op.name.rstrip("_")

    @property
    def in_derivative(self) -> bool:
        """Is this a part of one of torch's own derivatives, with no user code running inside it?"""
        return self.op.in_backward and self.op.code is None

    @property
    def in_forward(self) -> bool:
        return not self.op.in_backward

    @property
    def made_nan(self) -> bool:
        return bool(self.op.output.nan)

    @property
    def scalars(self) -> list[float]:
        return self.op.scalars

    def differentiates(self, *names: str) -> bool:
        """Is this a part of the derivative (of the first or a higher order) of one of these operations?"""
        op: Op | None = self.op
        while op is not None and op.node is not None:
            if any(op.node.startswith(f"{name}Backward") for name in names):
                return True
            op = op.forward
        return False

    def under_the_root(self) -> Op | None:
        """Where this is a part of the derivative of a root: the operation that made what the root was taken of."""
        forward = self.op.forward
        if forward is None or not forward.operands or not self.differentiates("Sqrt", "Pow"):
            return None
        return forward.operands[0].maker

    def held(self, index: int = 0) -> Numbers:
        """What an operand held before the operation ran."""
        operands = self.op.operands
        return operands[index].numbers if index < len(operands) else NOTHING

    def forward_held(self, index: int = 0) -> Numbers:
        """What the differentiated forward operation was given."""
        forward = self.op.forward
        return forward.operands[index].numbers if forward is not None and len(forward.operands) > index else NOTHING

    def epsilon(self, usual: float) -> float:
        """A number that is small for any type, but not 0 in the type of what the operation was given."""
        operands = (self.op.forward or self.op).operands
        half = any(operand.dtype == torch.float16 for operand in operands)
        return max(usual, _EPSILON_OF_HALF) if half else usual

    def counted(self, condition: Callable[[Tensor], Tensor], index: int = 0) -> int | None:
        """In how many values of an operand a condition holds; None where the operation has written over it."""
        if index >= len(self.inputs) or same_memory(self.inputs[index], self.output):
            return None
        return int(condition(self.inputs[index]).sum())

    def recomputed(self, dtype: torch.dtype) -> Tensor | None:
        """The same operation on the same inputs in another floating-point type; None where that cannot be done."""
        if any(same_memory(tensor, self.output) for tensor in self.inputs):
            return None
        try:
            result = self.op.func(*_cast(self.arguments, dtype), **_cast(self.keywords, dtype))
        except (RuntimeError, TypeError, NotImplementedError):
            return None
        result = result[0] if isinstance(result, tuple | list) else result
        return result if isinstance(result, Tensor) else None


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, Tensor):
        return value.detach().to(dtype) if value.is_floating_point() else value
    if isinstance(value, torch.dtype):
        return dtype if value.is_floating_point else value
    if isinstance(value, dict):
        return {key: _cast(item, dtype) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cast(item, dtype) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A change of the operation's own expression, tried before it is told: an operand gets this form, `{}` being what
    is written there now. `fix` is the place of the fix that says the same in general. `{ok}` is what the operation
    `chooser` is given as its operand number `condition`. Or the call gets a `keyword` argument more."""

    title: str
    form: str = ""
    operand: int = 0
    fix: int = 0
    chooser: Op | None = None
    condition: int = 0
    keyword: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check has to say about a birth. The diagnosis is the check's file name; `culprit` is the operand that was
    dangerous, by its place."""

    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    title: str | None = None
    root_cause: RootCause | None = None
    origin: tuple[Link, ...] = ()
    culprit: int = 0
    rewrites: tuple[Rewrite, ...] = ()
    diagnosis: str = field(default="")


def operation_name(op: Op) -> str:
    """The operation in the user's words; for a part of the backward pass, the forward operation."""
    if op.node is None or op.code is not None:
        return op.plain_name
    if op.forward is not None:
        return operation_name(op.forward)
    name = op.node.split("Backward")[0]
    return plain_name("".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_"))
