"""What `sleuth ask` recognises in a text, and the traceback of an error that is made to happen."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from sleuth.known_errors.matching import Match, matches
from sleuth.known_errors.reading import read


def errors_in(text: str) -> list[Match]:
    """Every error message that is known in the text, the one to believe first."""
    return [match for match in matches(read(text)) if not match.signature.symptom]


@cache
def raised(program: Callable[[], Any]) -> BaseException:
    """The error this program ends with, which it must."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program()
        except BaseException as error:
            return error
    raise AssertionError("nothing was raised")


def traceback_of(program: Callable[[], Any]) -> str:
    """What Python prints when this program fails."""
    return "".join(traceback.format_exception(raised(program)))


def message_of(program: Callable[[], Any]) -> str:
    """The last line of that."""
    error = raised(program)
    return f"{type(error).__name__}: {error}"
