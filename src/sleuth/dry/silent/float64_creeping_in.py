"""A float32 model whose loss is differentiated in float64, because a float64 tensor met one of its tensors."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from sleuth import handbook
from sleuth.dry.births import Birth, Call
from sleuth.dry.silent._leaves import parameters_below
from sleuth.dry.tensors import tensors_in
from sleuth.dry.watchers import Watcher
from sleuth.findings import Evidence, Fix, Link

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


class Watch(Watcher):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        # The call at which each float64 tensor that depends on the model, or what it was made of, became one.
        self._meetings: dict[int, tuple[weakref.ref[Any], Call]] = {}

    def called(self, call: Call, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        made = [one for one in tensors_in(result) if one.dtype == torch.float64 and one.requires_grad]
        if not made:
            return
        given = list(tensors_in((args, kwargs)))
        meeting = next((known for one in given if (known := self._meeting(one)) is not None), None)
        if meeting is None and _is_mixed(given):
            meeting = call
        if meeting is not None:
            for one in made:
                self._note(one, meeting)

    def backward(self, roots: list[Any]) -> None:
        meeting = next((known for root in roots if (known := self._meeting(root)) is not None), None)
        if meeting is None or meeting.place is None or torch.get_default_dtype() == torch.float64:
            return
        kinds = {parameter.dtype for parameter in parameters_below(roots).values()}
        if torch.float32 in kinds and torch.float64 not in kinds:
            self._tell(meeting)

    def _meeting(self, tensor: Any) -> Call | None:
        reference, call = self._meetings.get(id(tensor), (None, None))
        return call if reference is not None and reference() is tensor else None

    def _note(self, tensor: Any, meeting: Call) -> None:
        key = id(tensor)

        def forget(reference: weakref.ref[Any]) -> None:
            if self._meetings.get(key, (None,))[0] is reference:
                del self._meetings[key]

        self._meetings[key] = (weakref.ref(tensor, forget), meeting)

    def _tell(self, meeting: Call) -> None:
        double = next((birth for birth in meeting.births if birth.dtype == "float64"), None)
        single = next((birth for birth in meeting.births if birth.dtype == "float32"), None)
        if double is None or single is None:
            return
        origin = _origin(double)
        in_layer = bool(meeting.layer)
        self.stage.journal.finding(
            handbook.finding(
                "float64-creeping-in",
                place=meeting.place,
                certainty="likely" if in_layer else "hint",
                severity="warning" if in_layer else "note",
                evidence=(
                    Evidence("operation", meeting.operation),
                    Evidence("float64 has the shape", double.shape),
                    Evidence("float32 has the shape", single.shape),
                ),
                chain=(
                    Link(f"{origin.operation} gives float64", origin.place),
                    Link(f"{meeting.operation} of it with a float32 tensor of the model gives float64", meeting.place),
                    Link("everything computed from that is float64, up to the loss"),
                ),
                fixes=(
                    Fix("make it float32 where it comes from: .float(), dtype=torch.float32 or astype(np.float32)"),
                ),
            )
        )


def _is_mixed(given: list[Any]) -> bool:
    """A tensor of the model in float32, and another in float64 that is not of the model."""
    single = any(one.dtype == torch.float32 and one.requires_grad for one in given)
    return single and any(one.dtype == torch.float64 and not one.requires_grad for one in given)


def _origin(birth: Birth) -> Birth:
    """The first that was float64 on the way to this one, as far as the user's lines tell."""
    origin = birth
    for one in _first_parents(birth):
        if one.place is not None:
            origin = one
    return origin


def _first_parents(birth: Birth) -> Iterator[Birth]:
    """The way back from one float64 to the float64 it was made of."""
    before: Birth | None = birth
    while before is not None:
        yield before
        before = next((parent for parent in before.parents if parent.dtype == "float64"), None)
