"""What users say of their own run: "the loss falls by half within 200 steps"."""

from __future__ import annotations

from sleuth.live.expectations.board import Expectations
from sleuth.live.expectations.expectation import Expectation, said
from sleuth.live.expectations.sentence import CannotExpect, NotUnderstood

__all__ = ["CannotExpect", "Expectation", "Expectations", "NotUnderstood", "said"]
