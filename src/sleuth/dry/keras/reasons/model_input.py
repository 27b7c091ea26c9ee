"""Data that is not what the model's Input says."""

from __future__ import annotations

import math
import re

from sleuth.dry.keras.trouble import Shape, Trouble, shape_in
from sleuth.findings import Finding, Link, Place

_SHAPES = re.compile(r"Expected shape (\(.*?\)), but input has incompatible shape (\(.*?\)|torch\.Size\(.*?\))")
_NUMBER = re.compile(r"expects (\d+) (?:named )?input\(s\).*?received (\d+) input tensors", re.DOTALL)


def explain(trouble: Trouble) -> Finding | None:
    if trouble.notes.unlike_declared is not None and trouble.layer is not None and trouble.is_about_shapes:
        return _shape(trouble, *trouble.notes.unlike_declared[1:])
    shapes, number = _SHAPES.search(trouble.text), _NUMBER.search(trouble.text)
    if shapes is not None:
        return _shape(trouble, shape_in(shapes[1]), shape_in(shapes[2]))
    if number is not None:
        wanted, given = int(number[1]), int(number[2])
        title = f"the model has {wanted} inputs and is given {given}"
        return trouble.finding("shape-mismatch", title, fixes=[f"pass a list of {wanted} arrays"])
    return None


def _shape(trouble: Trouble, expected: Shape, given: Shape) -> Finding:
    declared = _input_line(trouble)
    more = [] if declared is None else [Link(f"the model is built for {expected}", declared)]
    return trouble.finding(
        "shape-mismatch",
        f"the model expects {expected} and is given {given}",
        [("expected shape", expected), ("given shape", given)],
        [_advice(expected, given)],
        more,
        place=trouble.crash.place,
    )


def _input_line(trouble: Trouble) -> Place | None:
    unlike = trouble.notes.unlike_declared
    inputs = [unlike[0]] if unlike is not None else getattr(trouble.layer, "inputs", None)
    return trouble.notes.place_made(inputs[0]._keras_history.operation) if inputs else None


def _advice(expected: Shape, given: Shape) -> str:
    inner, got = expected[1:], given[1:]
    if given == inner or (len(given) == len(inner) and None in inner):
        return "a single sample needs a batch axis: x[None]"
    if None not in inner and sorted(inner) == sorted(got) and len(inner) > 2:
        moved = (-1, 1) if got[-1] < got[0] else (1, -1)
        return f"the channels are on the other side: np.moveaxis(x, {moved[0]}, {moved[1]}), or keras.Input({got})"
    if None not in inner and math.prod(inner) == math.prod(got):
        size = ", ".join(map(str, inner))
        return f"x.reshape(-1, {size}), or keras.Input({got}) and a Flatten layer: {math.prod(got)} numbers either way"
    return f"keras.Input({got}), or data of shape {expected}"
