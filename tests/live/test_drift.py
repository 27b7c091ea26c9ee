"""What the ranks' fingerprints come to, look by look."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sleuth.live.ranks.drift import Drift
from sleuth.live.rules import ranks_drift_apart
from sleuth.live.signals import Run

NAMES = ["first.weight", "second.weight"]


class Wrapper:
    """Stands for a model that is wrapped, as far as a drift asks."""

    _comm_hooks = ()


def looked(*looks: tuple[list[float], list[float]], gradients: tuple[list[float], list[float]]) -> Run:
    """A run of two ranks whose weights were like this at the looks."""
    run, wrapper = Run(), Wrapper()
    drift: Any = Drift(SimpleNamespace(run=run))  # type: ignore[arg-type]
    drift._wrapped, drift._forwards = [(lambda: wrapper, set())], 1
    for number, weights in enumerate(looks):
        words = {
            rank: {"weights": weights[rank], "gradients": gradients[rank], "data": None, "steps": number, "clips": 0}
            for rank in (0, 1)
        }
        drift._weigh(number, words, NAMES, [True, True])
    return run


SAME = ([1.0, 2.0], [1.0, 2.0])
ONE_APART = ([1.0, 2.0], [1.0, 3.0])
BOTH_APART = ([1.0, 2.0], [5.0, 3.0])


def test_step_parameter_and_amount_are_those_of_the_first_look_with_a_difference() -> None:
    run = looked(SAME, ONE_APART, BOTH_APART, gradients=([1.0], [1.0]))
    finding = ranks_drift_apart.look(run)
    assert finding is not None
    evidence = {item.name: item.value for item in finding.evidence}
    assert finding.step == 1
    assert evidence["first parameter that differs"] == "second.weight"
    assert evidence["parameters that differ"] == "1 of 2"
    assert evidence["looks with a difference"] == 2


@pytest.mark.parametrize(
    ("gradients", "told"),
    [
        (([1.0], [1.0]), "the gradients were the same on every rank"),
        (([1.0], [2.0]), "the gradients that the step uses are not the same"),
        (([], []), "was not seen"),
    ],
)
def test_a_cause_is_told_only_as_far_as_it_was_seen(gradients: tuple[list[float], list[float]], told: str) -> None:
    finding = ranks_drift_apart.look(looked(SAME, ONE_APART, BOTH_APART, gradients=gradients))
    assert finding is not None
    assert told in finding.chain[0].what
    assert bool(finding.fixes) == bool(gradients[0])
