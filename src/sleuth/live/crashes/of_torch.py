"""What the two listeners at torch's taps know of the moment at which the program failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from sleuth.findings import Link
from sleuth.live.batches import Batch as DealtBatch
from sleuth.live.batches import Dealt
from sleuth.live.crashes.arrays import sizes
from sleuth.live.crashes.at_hand import AtHand, Batch, Outside
from sleuth.live.learning.inspection import Call, Inspection
from sleuth.live.snapshot import RandomStates

if TYPE_CHECKING:
    from sleuth.live.learning.listener import Learning
    from sleuth.live.nonfinite import NonFinite

_FLATTENING = {"flatten", "view", "reshape", "view_as"}
# They hand on what they were given.
_TRANSPARENT = {"contiguous", "detach", "clone", "to", "float", "dropout", "relu"}
_MOST_LINKS = 8
_FARTHEST = 200
# So many samples are looked at again.
_LOOKED_AT = 8


def at_hand(story: NonFinite, learning: Learning, error: BaseException) -> AtHand:
    run, inspection = learning.run, learning.inspection
    return AtHand(
        step=run.step if run.optimizers or run.backwards else None,
        batch=_batch(story, error),
        made=learning.making.place,
        history=lambda tensor: _history(inspection, tensor),
        is_flattened=lambda tensor: _is_flattened(inspection, tensor),
        quietly=learning.quietly,
    )


def _batch(story: NonFinite, error: BaseException) -> Batch | None:
    dealt = story.dealt_to(error)
    if dealt is None:
        return None
    batch = dealt.recent[-1]
    tensors = [tensor for _, tensor in batch.tensors() if tensor.dim()]
    if not tensors:
        return None
    indices = batch.indices if isinstance(batch.indices, list | tuple) else ()
    known = tuple(indices) if all(type(one) is int for one in indices) else ()
    return Batch(len(tensors[0]), dealt.usual, known, lambda rows, outside: _confirmed(dealt, batch, rows, outside))


def _confirmed(dealt: Dealt, batch: DealtBatch, rows: Sequence[int], outside: Outside) -> tuple[int, ...]:
    """The samples behind these rows, as far as a look at them shows such a number: a collate_fn may reorder them."""
    state = RandomStates().take()
    try:
        drawn = [batch.indices[row] for row in rows[:_LOOKED_AT] if row < len(batch.indices)]
        return tuple(index for index in drawn if any(outside(number) for number in _numbers(dealt.dataset[index])))
    except Exception:
        # The user's data set refused to be read once more.
        return ()
    finally:
        state.restore()


def _numbers(sample: Any) -> Iterator[int]:
    if isinstance(sample, list | tuple):
        for item in sample:
            yield from _numbers(item)
    elif isinstance(sample, dict):
        yield from _numbers(list(sample.values()))
    elif isinstance(sample, int):
        yield sample
    elif hasattr(sample, "tolist") and not _is_floating(sample):
        yield from _numbers(sample.tolist())


def _is_floating(value: Any) -> bool:
    return value.is_floating_point() if isinstance(value, Tensor) else getattr(value.dtype, "kind", "f") not in "iu"


def _history(inspection: Inspection, tensor: Any) -> list[Link]:
    """Every call that made another shape, and every layer, the oldest first."""
    calls = list(_trunk(inspection.call_of(tensor)))[::-1]
    links: list[Link] = []
    before: tuple[int, ...] | None = None
    for call in calls:
        if call.shape != before or _is_layer(call):
            of = f" of {before}" if before is not None else ""
            links.append(Link(f"{_maker(inspection, call)} made {call.shape}{of}", call.place))
        before = call.shape
    source = next((one for reference in calls[0].sources if (one := reference()) is not None), None) if calls else None
    if source is not None and links:
        links[0] = Link(f"{links[0].what} of {sizes(source)}", links[0].place)
    return links[-_MOST_LINKS:]


def _trunk(call: Call | None) -> Iterator[Call]:
    """From this call back to the input."""
    for _ in range(_FARTHEST):
        if call is None:
            return
        yield call
        call = call.inputs[0] if call.inputs else None


def _is_layer(call: Call) -> bool:
    return call.depth > 0 and bool(call.parameters)


def _maker(inspection: Inspection, call: Call) -> str:
    if call.depth == 0 or call.module is None:
        return f"{call.name}()"
    kind = type(call.module).__name__
    for root in inspection.roots:
        model = root.module()
        for name, part in model.named_modules() if isinstance(model, nn.Module) else ():
            if part is call.module and name:
                return f"{'layer ' if name[:1].isdigit() else ''}{name} ({kind})"
    return kind


def _is_flattened(inspection: Inspection, tensor: Any) -> bool:
    for call in _trunk(inspection.call_of(tensor)):
        if call.name not in _TRANSPARENT:
            return call.name in _FLATTENING
    return False
