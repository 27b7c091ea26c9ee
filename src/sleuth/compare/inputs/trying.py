"""Whether a model takes an input: by its own word on sizes, and by running it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

from sleuth.compare import fit, python_reference
from sleuth.compare.reference import as_array
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Batch, gives_numbers


def problem_with(side: Side, batch: Batch) -> str | None:
    """Why the side does not take this batch, or has no finite numbers for it; None where all is well."""
    if not keeps_its_word(side, batch):
        return "takes other sizes"
    try:
        with quietly():
            outputs = side.run(batch)
    except Exception as problem:  # every runtime has its own
        return f"rejects it: {first_line(problem)}"
    return None if all(map(gives_numbers, outputs)) else "gives numbers that are not finite"


def keeps_its_word(side: Side, batch: Batch) -> bool:
    """Are these the sizes that the side says it takes? One that learnt from an example says nothing."""
    if not side.inputs or side.learnt:
        return True
    return len(side.inputs) == len(batch) and all(
        fit.has_shape(array.shape, one.shape) for one, array in zip(side.inputs, batch, strict=True)
    )


def problem_of_call(side: TorchSide, positional: Sequence[Any], named: Mapping[str, Any]) -> str | None:
    """Why the module does not take these arguments; None where it does and gives numbers back."""
    try:
        with quietly(), redirect_stdout(io.StringIO()):  # what a trial prints is not the user's affair
            result = side.called(tuple(positional), dict(named))
    except (NameError, ImportError) as problem:  # no input would help
        raise CannotCompare(python_reference.told(problem, f"{side.title} fails")) from None
    except Exception as problem:  # the user's forward on what was perhaps never meant for it
        if python_reference.needs_a_gpu(problem):
            raise CannotCompare(python_reference.told(problem, f"{side.title} fails")) from None
        return str(problem) or type(problem).__name__
    finite = all(gives_numbers(as_array(one)) for one in result)
    return None if finite and any(one.numel() for one in result) else "it gives no finite numbers"


def first_line(problem: Exception | str) -> str:
    return next(iter(str(problem).strip().splitlines()), type(problem).__name__)
