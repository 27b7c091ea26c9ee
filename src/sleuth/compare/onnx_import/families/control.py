"""Branches and loops, written out as they run on the batch; sequences are lists of values."""

from __future__ import annotations

from typing import Any

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step, operation

_LONGEST = 4096


@operation("If")
def _if(b: Builder, s: Step) -> list[Any]:
    branch = s.get("then_branch") if bool(s.known(0).reshape(-1)[0]) else s.get("else_branch")
    results: list[Any] = s.walk.inner(branch, s.around, [])
    return results


@operation("Loop")
def _loop(b: Builder, s: Step) -> list[Any]:
    body = s.get("body")
    turns = int(s.known(0).reshape(-1)[0]) if s.has(0) else _LONGEST
    going, carried = s.input(1), list(s.inputs[2:])
    stacked: list[list[Any]] = [[] for _ in range(len(body.output) - 1 - len(carried))]
    for turn in range(turns):
        if going is not None and not _holds(b, going):
            break
        if turn == _LONGEST:
            raise s.refuse("with more turns than can be written out")
        going_in = going if going is not None else b.constant(torch.tensor(True))
        going, *results = s.walk.inner(body, s.around, [b.constant(torch.tensor(turn)), going_in, *carried])
        carried, more = results[: len(carried)], results[len(carried) :]
        for rows, row in zip(stacked, more, strict=True):
            rows.append(row)
    return [*carried, *[_stacked(b, rows, 0) for rows in stacked]]


def _holds(b: Builder, condition: Traced) -> bool:
    if not condition.constant:
        b.batch_bound.append("a Loop's length depends on the numbers")
    return bool(condition.example.reshape(-1)[0])


def _stacked(b: Builder, rows: list[Traced], axis: int) -> Traced:
    return b.call(aten.stack.default, rows, axis) if rows else b.constant(torch.zeros(0))


@operation("Scan")
def _scan(b: Builder, s: Step) -> list[Any]:
    body, count = s.get("body"), s.get("num_scan_inputs")
    if s.opset < 9:
        raise s.refuse("of version 8")
    kept = len(s.inputs) - count
    carried, rows = list(s.inputs[:kept]), s.inputs[kept:]
    axes = s.get("scan_input_axes") or [0] * count
    backwards = s.get("scan_input_directions") or [0] * count
    size = rows[0].shape[axes[0]]
    outputs = len(body.output) - kept
    stacked: list[list[Any]] = [[] for _ in range(outputs)]
    for turn in range(size):
        now = [
            b.call(aten.select.int, row, axis, size - 1 - turn if back else turn)
            for row, axis, back in zip(rows, axes, backwards, strict=True)
        ]
        results = s.walk.inner(body, s.around, [*carried, *now])
        carried = results[:kept]
        for place, row in enumerate(results[kept:]):
            stacked[place].append(row)
    out_axes = s.get("scan_output_axes") or [0] * outputs
    reverse = s.get("scan_output_directions") or [0] * outputs
    return [
        *carried,
        *[
            _stacked(b, list(reversed(one)) if back else one, axis)
            for one, axis, back in zip(stacked, out_axes, reverse, strict=True)
        ],
    ]


@operation("SequenceConstruct")
def _construct(b: Builder, s: Step) -> list[Any]:
    return [list(s.inputs)]


@operation("SequenceEmpty")
def _empty(b: Builder, s: Step) -> list[Any]:
    return [[]]


@operation("SequenceAt")
def _at(b: Builder, s: Step) -> list[Any]:
    return [s.inputs[0][s.ints(1)[0]]]


@operation("SequenceLength")
def _length(b: Builder, s: Step) -> Traced:
    return b.constant(torch.tensor(len(s.inputs[0])))


@operation("SequenceInsert")
def _insert(b: Builder, s: Step) -> list[Any]:
    found = list(s.inputs[0])
    found.insert(s.ints(2)[0] if s.has(2) else len(found), s.inputs[1])
    return [found]


@operation("SequenceErase")
def _erase(b: Builder, s: Step) -> list[Any]:
    found = list(s.inputs[0])
    found.pop(s.ints(1)[0] if s.has(1) else -1)
    return [found]


@operation("SplitToSequence")
def _split_to_sequence(b: Builder, s: Step) -> list[Any]:
    value, axis = s.inputs[0], s.get("axis", 0)
    size = value.shape[axis]
    if s.has(1):
        told = s.ints(1)
        each = told[0]
        sizes = told if s.inputs[1].rank else [min(each, size - start) for start in range(0, size, each)]
    else:
        sizes = [1] * size
    several = b.call(aten.split_with_sizes.default, value, sizes, axis)
    parts = [b.item(several, place) for place in range(len(sizes))]
    if not s.has(1) and not s.get("keepdims", 1):
        parts = [b.call(aten.squeeze.dim, part, axis) for part in parts]
    return [parts]


@operation("ConcatFromSequence")
def _concat_from_sequence(b: Builder, s: Step) -> Traced:
    target: Any = aten.stack.default if s.get("new_axis", 0) else aten.cat.default
    return b.call(target, list(s.inputs[0]), s.get("axis"))


@operation("Optional")
def _optional(b: Builder, s: Step) -> list[Any]:
    return [s.input(0)]


@operation("OptionalGetElement")
def _element(b: Builder, s: Step) -> list[Any]:
    return [s.inputs[0]]


@operation("OptionalHasElement")
def _has_element(b: Builder, s: Step) -> Traced:
    return b.constant(torch.tensor(s.has(0)))
