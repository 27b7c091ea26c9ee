"""A program that counts what it has gathered over all rounds, and misses those that were left out."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._certainty import raised_by_torch

_NUMBER = re.compile(r"\d[\d,]*")


def is_of_rounds_left_out(crash: Crash) -> bool:
    """`Got 768 predictions and 10,570 features`: does it complain of as many as there would have been?"""
    if raised_by_torch(crash):
        return False
    told = {int(number.replace(",", "")) for number in _NUMBER.findall(str(crash.error))}
    return bool(told & crash.stage.shortened)
