"""Each signature knows the message that the installed torch, NumPy or Python gives, and no other does."""

from __future__ import annotations

from typing import Any

import loader_errors
import pytest
import python_errors
import torch_errors
from recognising import errors_in, message_of, traceback_of

from sleuth.known_errors.matching import Strength

CASES = [
    pytest.param(name, program, id=f"{name}-{number}")
    for table in (torch_errors.RAISED, loader_errors.RAISED, python_errors.RAISED)
    for name, programs in table.items()
    for number, program in enumerate(programs)
]


@pytest.mark.parametrize(("name", "program"), CASES)
def test_the_message_is_known_by_this_signature_alone(name: str, program: Any) -> None:
    found = errors_in(traceback_of(program))
    others = [match.signature.name for match in found[1:] if not match.signature.wraps]
    assert found[0].signature.name == name
    assert found[0].strength is Strength.STATED
    assert not others
    # Without the traceback, and in the words of somebody who asks.
    message = message_of(program)
    for text in (message, f"I train a small network and get {message}\nWhat can I do?"):
        assert errors_in(text)[0].signature.name == name
    assert "…" not in found[0].recognised.why, "a number or name is missing in the reason"


def test_the_numbers_of_the_message_are_in_the_reason() -> None:
    text = traceback_of(torch_errors.RAISED["matmul-shapes"][0])
    reason = errors_in(text)[0].recognised.why
    assert "20" in reason
    assert "10" in reason
