"""The bare PyTorch loop: five bugs that every way of training shares, their twins, and loops as people write them."""

from __future__ import annotations

from typing import Any

COLUMN = "bare"
FRAMEWORK = ("torch", "accelerate")


def test_the_bug_is_named_with_its_line(bug: Any, run: Any) -> None:
    ran = run(bug.source)
    assert ran.named == [bug.found], ran.stderr
    assert ran.status == 1


def test_the_twin_with_that_line_mended_is_silent(bug: Any, run: Any) -> None:
    ran = run(bug.mended)
    assert (ran.named, ran.status) == ([], 0), ran.stderr


def test_a_healthy_loop_is_silent(healthy: Any, run: Any) -> None:
    ran = run(healthy.source)
    assert (ran.named, ran.status) == ([], 0), ran.stderr
