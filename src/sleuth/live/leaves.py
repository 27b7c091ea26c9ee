"""Causes that no operation gave birth to: a bad sample, weight, buffer or constant that was there before the step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import IterableDataset

from sleuth.findings import Evidence, Fix, Link, Place, RootCause
from sleuth.live import numbers
from sleuth.live.batches import Batch, Dealer, Dealt, named_tensors
from sleuth.live.births import operation_name
from sleuth.live.naming import module_entry, same_memory, variable_name
from sleuth.live.origin import Origin
from sleuth.live.snapshot import RandomStates
from sleuth.live.trace import Op, Trace
from sleuth.program import line_of, place_at

# Looking a sample up runs the user's data set code; a batch of more than this is not searched sample by sample.
SEARCHED = 512
LISTED = 8


@dataclass(frozen=True, slots=True)
class LeafVerdict:
    """Which leaf it was."""

    diagnosis: str
    title: str
    place: Place | None
    story: Link
    evidence: tuple[Evidence, ...]
    fixes: tuple[Fix, ...]
    root_cause: RootCause | None = None


def verdict(origin: Origin, trace: Trace, dealer: Dealer) -> LeafVerdict:
    """Name the leaf from which the origin's operation read a non-finite value."""
    assert origin.leaf is not None
    assert origin.leaf.tensor is not None
    tensor = origin.leaf.tensor
    reader = origin.op.place
    sample = _in_batch(tensor, dealer)
    if sample is not None:
        return _bad_sample(*sample, reader)
    entry = module_entry(tensor)
    if entry is not None:
        if entry.kind == "parameter":
            return _bad_weight(entry.tensor, entry.name, reader, origin.leaf.numbers)
        return _bad_buffer(entry.tensor, entry.name, reader)
    name = variable_name(tensor)
    if tensor.requires_grad or isinstance(tensor, nn.Parameter):
        return _bad_weight(tensor, name or "a parameter", reader, origin.leaf.numbers)
    if _looks_like_data(tensor, origin, trace):
        return _bad_rows(tensor, name, reader, origin.op.notes.get("row", numbers.first_bad_row(tensor)))
    return _bad_constant(tensor, name, reader, operation_name(origin.op))


def _in_batch(tensor: Tensor, dealer: Dealer) -> tuple[Dealt, Batch, str, Tensor] | None:
    for dealt in [*dealer.current(), *filter(None, [dealer.newest()])]:
        for batch in reversed(dealt.recent):
            for name, part in batch.tensors():
                if same_memory(part, tensor):
                    return dealt, batch, name, part
    return None


def culprit(op: Op, dealer: Dealer) -> Iterator[Evidence]:
    """The sample whose row an operation made non-finite first, where its result has one row a sample, and not all are
    bad. A loader that fetches ahead leaves it open which batch that was."""
    dealt, row = dealer.newest(), op.notes.get("bad row")
    if dealt is None or dealt.ended or row is None or dealer.keeps > 1 or op.output.bad == op.output.count:
        return
    batch = dealt.recent[-1]
    sizes = {len(part) for _, part in batch.tensors() if part.dim()}
    if len(sizes) != 1 or op.output_shape.count(size := sizes.pop()) != 1 or op.output_shape[0] != size:
        return
    yield Evidence("row in batch", row)
    if isinstance(batch.indices, list) and len(batch.indices) == size and isinstance(batch.indices[row], int):
        yield Evidence("sample index", batch.indices[row])


def _bad_sample(dealt: Dealt, batch: Batch, part: str, tensor: Tensor, reader: Place | None) -> LeafVerdict:
    row = numbers.first_bad_row(tensor)
    held = numbers.look(tensor)
    evidence = [Evidence("part of the batch", part or "the batch"), Evidence("batch number", batch.number)]
    if row is not None:
        evidence.append(Evidence("row in batch", row))
    index = _index_in_dataset(dealt, batch, row)
    if index is not None:
        evidence.append(Evidence("sample index", index))
    evidence += [*_bad_values(held), Evidence("position of the first", numbers.first_bad_index(tensor))]
    where = f"sample {index} of the data set" if index is not None else f"row {row} of batch {batch.number}"
    return LeafVerdict(
        "non-finite-sample",
        f"{where} holds {_worst(held)}",
        reader,
        Link(
            f"{where} came with {_worst(held)} in {part or 'the batch'}",
            _loop_line(batch),
        ),
        tuple(evidence),
        (
            Fix(f"drop or mend {where} before training, e.g. keep only rows where torch.isfinite(x).all()"),
            Fix("find what made it: a missing value read as NaN, a division or log in the preprocessing"),
        ),
    )


def _loop_line(batch: Batch) -> Place | None:
    """The line of the loop that took the batch. Python gives the whole `for` statement as its position."""
    if batch.dealt_at is None:
        return None
    return place_at(batch.dealt_at[0].co_filename, line_of(*batch.dealt_at))


def _index_in_dataset(dealt: Dealt, batch: Batch, row: int | None) -> int | None:
    """The data set's own index of the bad row: the one the sampler drew, made sure of by looking at that sample."""
    indices = batch.indices
    if isinstance(indices, int):
        return indices
    if isinstance(dealt.dataset, IterableDataset):
        known = batch.samples_before is not None and row is not None
        return (batch.samples_before or 0) + (row or 0) if known else None
    if not isinstance(indices, list | tuple) or not all(isinstance(i, int) for i in indices):
        return None
    drawn = indices[row] if row is not None and row < len(indices) else None
    state = RandomStates().take()
    try:
        if drawn is not None and _sample_is_bad(dealt.dataset, drawn):
            return int(drawn)
        return next((int(i) for i in indices[:SEARCHED] if _sample_is_bad(dealt.dataset, i)), None)
    except Exception:
        # The user's data set refused to be read once more; the row in the batch stays right.
        return None
    finally:
        state.restore()


def _sample_is_bad(dataset: Any, index: int) -> bool:
    return any(not numbers.is_finite(t) for _, t in _tensors_of_sample(dataset[index]) if numbers.readable(t))


def _tensors_of_sample(sample: Any) -> Iterator[tuple[str, Tensor]]:
    if hasattr(sample, "dtype") and not isinstance(sample, Tensor):
        sample = torch.as_tensor(sample)
    elif isinstance(sample, float):
        sample = torch.tensor(sample)
    elif isinstance(sample, list | tuple):
        for item in sample:
            yield from _tensors_of_sample(item)
        return
    elif isinstance(sample, dict):
        for item in sample.values():
            yield from _tensors_of_sample(item)
        return
    yield from named_tensors(sample)


def _bad_weight(tensor: Tensor, shown: str, reader: Place | None, read: numbers.Numbers) -> LeafVerdict:
    """`read` is what the operation found there: FSDP may have given the memory back since."""
    held = numbers.look(tensor)
    held = read if held.finite else held
    first = numbers.first_bad_index(tensor)
    return LeafVerdict(
        "non-finite-weight",
        f"the weight {shown} holds {_worst(held)}",
        reader,
        Link(f"{shown} already held {_worst(held)} when it was used here", reader),
        (
            Evidence("weight", shown),
            *_bad_values(held),
            *((Evidence("position of the first", first),) if first is not None else ()),
        ),
        (
            Fix(f"look at how {shown} is initialised or which checkpoint it is loaded from"),
            Fix("after initialising or loading, assert that torch.isfinite(p).all() holds for every parameter"),
        ),
    )


def _bad_buffer(tensor: Tensor, name: str, reader: Place | None) -> LeafVerdict:
    held = numbers.look(tensor)
    return LeafVerdict(
        "non-finite-buffer",
        f"the buffer {name} holds {_worst(held)}",
        reader,
        Link(f"{name} already held {_worst(held)} when it was used here", reader),
        (Evidence("buffer", name), *_bad_values(held)),
        (
            Fix(
                "find the batch that poisoned it: running statistics keep a NaN for ever; reset them with "
                "module.reset_running_stats() and check the batches of the training phase"
            ),
        ),
    )


def _looks_like_data(tensor: Tensor, origin: Origin, trace: Trace) -> bool:
    """A tensor with a row for each sample, rather than a constant: it is indexed or sliced on its way in, or it is as
    long as the other data that comes in."""
    leaf = origin.leaf
    assert leaf is not None
    if tensor.dim() == 0 or tensor.shape[0] < 2:
        return False
    if origin.op.name in {"index", "index_select", "gather"} and leaf.index == 0:
        return True
    if tensor.dim() >= 2 or tensor.untyped_storage().nbytes() > tensor.numel() * tensor.element_size():
        return True
    lengths = {
        operand.shape[0]
        for op in trace.ops
        for operand in op.operands
        if operand.maker is None
        and operand is not leaf
        and len(operand.shape) >= 2
        and operand.tensor is not None
        and not operand.tensor.requires_grad
    }
    return tensor.shape[0] in lengths


def _bad_rows(tensor: Tensor, name: str | None, reader: Place | None, row: int | None) -> LeafVerdict:
    whole = _whole(tensor)
    rows = (~torch.isfinite(whole.detach()).reshape(whole.shape[0], -1).all(dim=1)).nonzero().flatten().tolist()
    held = numbers.look(whole)
    shown = variable_name(whole) or name or "the input"
    everywhere = len(rows) == whole.shape[0]
    where = f"every row of {shown}" if everywhere else f"row {rows[0]} of {shown}"
    evidence = [
        Evidence("sample index", rows[0]),
        Evidence("row in batch", row),
        Evidence("bad rows", tuple(rows[:LISTED])),
        Evidence("number of bad rows", len(rows)),
    ]
    return LeafVerdict(
        "non-finite-sample",
        f"{where} holds {_worst(held)}",
        reader,
        Link(f"{where} came with {_worst(held)}", reader),
        (*evidence, *_bad_values(held), Evidence("position of the first", numbers.first_bad_index(whole))),
        (
            Fix(f"look at how {shown} is prepared: a division by a zero standard deviation spoils a whole column")
            if everywhere
            else Fix(
                f"drop or mend the bad rows of {shown}, e.g. {shown} = {shown}[torch.isfinite({shown}).all(dim=1)]"
            ),
        ),
        root_cause="data-preprocessing" if everywhere else None,
    )


def _whole(tensor: Tensor) -> Tensor:
    """The tensor this is a slice of, so that rows are counted as the user counts them."""
    base = tensor._base
    return base if base is not None and base.dim() == tensor.dim() and base.shape[1:] == tensor.shape[1:] else tensor


def _bad_constant(tensor: Tensor, name: str | None, reader: Place | None, operation: str) -> LeafVerdict:
    held = numbers.look(tensor)
    shown = name or "a constant"
    return LeafVerdict(
        "non-finite-constant",
        f"{shown} is {_worst(held)} and reached the loss",
        reader,
        Link(f"{shown} was {_worst(held)} before the step began and met {operation} here", reader),
        (Evidence("constant", shown), Evidence("operation", operation), *_bad_values(held)),
        (Fix(f"compute {shown} so that it stays finite: check the counts or constants it is made of"),),
    )


def _worst(held: numbers.Numbers) -> str:
    if held.nan:
        return "NaN"
    return "inf" if held.positive_infinity else "-inf"


def _bad_values(held: numbers.Numbers) -> tuple[Evidence, ...]:
    return (Evidence("non-finite values", held.bad), Evidence("values", held.count))
