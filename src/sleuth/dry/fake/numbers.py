"""Sees every operation on its way to torch's kernels: runs the small ones whose numbers are known, answers the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from sleuth.dry.fake import guesses, hollow, lenient, operations, own_answers, reality, values
from sleuth.dry.fake.operations import Operation
from sleuth.dry.fake.plans import Plans
from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_Unseen = torch_private.get("torch._C.DisableTorchFunction")

# Elements a call may have, in and out, to be run with its real numbers: labels, masks and small images do.
LIMIT = 1 << 20
# Two tensors that are broadcast against each other may make as many elements as both have multiplied.
_SURELY_SMALL = 1 << 22
_NO_FAKE_KERNEL = tuple(
    torch_private.get(f"torch._subclasses.fake_tensor.{name}")
    for name in (
        "DataDependentOutputException",
        "DynamicOutputShapeException",
        "UnsupportedFakeTensorException",
        "UnsupportedOperatorException",
    )
)


class Numbers(TorchDispatchMode):
    """Beneath autograd, so that everything autograd checks and keeps is real."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stage = stage
        self.limit = LIMIT
        self._plans = Plans()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here, and torch's guard against it takes longer than the call."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # In a backward pass the mode that sees the program's calls is on, and these are none.
        with _Unseen():
            return self.perform(func, args, kwargs or {})

    def perform(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        operation = operations.of(func)
        if operation.structural or _is_for_no_memory(kwargs):
            return func(*args, **kwargs)
        if operation.composite:
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        given = operations.tensors_in(args, kwargs)
        if not all(map(hollow.has_plain_memory, given)):
            return func(*args, **kwargs)
        known = operation.shape_only or not any(hollow.guess_of(one) is not hollow.KNOWN for one in given)
        if known and self._is_small(func, operation, args, kwargs, given):
            return func(*args, **kwargs)
        return self._answer(func, operation, args, kwargs, given)

    def _is_small(
        self, func: Any, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[torch.Tensor]
    ) -> bool:
        if not given or operation.growing:
            return self._planned_elements(func, operation, args, kwargs, given) <= self.limit
        sizes = sorted([one.numel() for one in given], reverse=True)
        if sum(sizes) > self.limit:
            return False
        if len(sizes) == 1 or sizes[0] * sizes[1] <= _SURELY_SMALL:
            return True
        return self._planned_elements(func, operation, args, kwargs, given) <= self.limit

    def _planned_elements(
        self, func: Any, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[torch.Tensor]
    ) -> int:
        if operation.name in own_answers.KEEP_REAL_WHILE_KNOWN:
            return 0
        if sum(one.numel() for one in given) > self.limit and not operation.shape_only:
            return self.limit + 1
        try:
            return self._plans.of(func, operation, args, kwargs, given, _nothing).elements
        except Exception:  # the call itself will say what is wrong with it
            return 0

    def _answer(
        self, func: Any, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[torch.Tensor]
    ) -> Any:
        """What the call returns and does, as far as that can be told without numbers."""
        if lenient.is_refused(operation.name, args, kwargs):
            return reality.in_its_own_words(func, args, kwargs)
        own = own_answers.TABLE.get(operation.name)
        if own is not None:
            result = own(self, func, args, kwargs)
            if result is not own_answers.NONE:
                return result
        values.check(operation, func, args, kwargs)
        try:
            plan = self._plans.of(
                func, operation, args, kwargs, given, lambda: reality.check_types(func, operation, args, kwargs)
            )
        except _NO_FAKE_KERNEL:
            return reality.without_fake_kernel(func, operation, args, kwargs, given)
        except reality.WrongTypes as wrong:
            raise wrong.error from None
        except Exception:
            return reality.in_its_own_words(func, args, kwargs)
        changed = operations.changed_tensors(operation, args, kwargs)
        guess = guesses.of(self.stage, func, operation, args, kwargs)
        for one in changed:
            hollow.forget_numbers(one, guess if len(changed) == 1 and hollow.is_whole(one) else hollow.ANYTHING)
        return plan.carried_out(given, guess)


def _is_for_no_memory(kwargs: dict[str, Any]) -> bool:
    device = kwargs.get("device")
    return device is not None and torch.device(device).type == "meta"


def _nothing() -> None:
    pass
