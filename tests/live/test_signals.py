"""What rules see: curves stay small and true, facts are counted by place."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.findings import Place
from sleuth.live.rules import loss_keeps_graph, slow_convergence
from sleuth.live.signals import (
    STRETCHES,
    Curve,
    Facts,
    Look,
    LossLook,
    NoLaboratory,
    OptimizerSignals,
    Run,
    Trial,
)

NUMBERS = st.floats(-1e6, 1e6)


@given(st.lists(NUMBERS, min_size=1, max_size=4 * STRETCHES))
def test_a_curve_keeps_its_ends_its_extremes_and_its_mean_in_bounded_memory(values: list[float]) -> None:
    curve = Curve()
    for step, value in enumerate(values):
        curve.add(step, value)
    assert len(curve.stretches) <= STRETCHES + 1
    assert (curve.first, curve.last, len(curve)) == (values[0], values[-1], len(values))
    assert curve.highest == max(values)
    assert curve.part(0, 1) == pytest.approx(sum(values) / len(values), abs=1e-3)


def test_the_parts_of_a_curve_follow_the_run() -> None:
    curve = Curve()
    for step in range(10_000):
        curve.add(step, float(step))
    assert curve.part(0.8, 1.0) == pytest.approx(9_000, rel=0.02)
    parts = curve.means(5)
    assert parts == sorted(parts)


def test_an_empty_curve_has_no_mean() -> None:
    assert math.isnan(Curve().part(0, 1))
    assert math.isnan(Curve().lowest)


def test_facts_are_counted_by_what_happened_where_and_to_whom() -> None:
    facts = Facts()
    here, there = Place("a.py", 1), Place("a.py", 2)
    for step in (3, 5, 9):
        facts.note("clipped", step, here, numbers={"scale": step})
    facts.note("clipped", 4, there)
    often, once = facts.all("clipped")
    assert (often.place, often.times, often.first_step, often.last_step) == (here, 3, 3, 9)
    assert often.numbers == {"scale": 9}
    assert once.times == 1
    assert facts.first("seeded") is None


def a_loss(**changes: object) -> LossLook:
    values = {
        "function": "cross_entropy", "place": None, "value": 1.0, "input_shape": (8, 2), "target_shape": (8,),
        "target_kind": "class", "made_by": "linear", "made_at": None, "made_dim": None, "input_low": -1.0,
        "input_high": 1.0, "row_sum_error": 1.0, "row_log_sum": 1.0, "target_low": 0.0, "target_high": 1.0,
        "target_mean": 0.5, "target_variance": 0.25, "integral_targets": True, "labels": {},
        "predictions": {}, "reduction": "mean", "is_root": True, "negated_at": None, "share_of_loss": 1.0,
    }  # fmt: skip
    return LossLook(**{**values, **changes})  # type: ignore[arg-type]


def a_run(loss: LossLook, optimizers: int = 1, labels: dict[int, int] | None = None) -> Run:
    return Run(
        looks=[Look(step, 1.0, losses=[loss]) for step in range(4)],
        optimizers=[OptimizerSignals("SGD", None, False, steps=4) for _ in range(optimizers)],
        labels=labels or {},
    )


def test_chance_for_classes_is_the_entropy_of_their_labels() -> None:
    assert a_run(a_loss(), labels={0: 50, 1: 50}).chance == pytest.approx(math.log(2))
    assert a_run(a_loss(), labels={0: 90, 1: 10}).chance == pytest.approx(0.325, abs=1e-3)


def test_chance_for_a_regression_is_the_variance_of_its_targets() -> None:
    loss = a_loss(function="mse_loss", target_kind="number", target_variance=4.0)
    assert a_run(loss).chance == pytest.approx(4.0)


@pytest.mark.parametrize(
    "changes", [{"reduction": "sum"}, {"extra": {"weighted": True}}, {"extra": {"computed_targets": True}}]
)
def test_there_is_no_chance_level_where_it_would_not_be_true(changes: dict[str, object]) -> None:
    assert a_run(a_loss(**changes), labels={0: 1, 1: 1}).chance is None


def test_a_run_with_two_optimisers_is_not_judged_as_plain_supervised_training() -> None:
    assert a_run(a_loss()).supervised is not None
    assert a_run(a_loss(), optimizers=2).supervised is None


class TenTimesHelps(NoLaboratory):
    """In a short training ten times the rate goes much further."""

    def rates(self, factors: Iterable[float]) -> dict[float, Trial]:
        return {
            factor: Trial("rates", 0.7, 0.69 if factor < 10 else 0.3, "ten times goes further") for factor in factors
        }


def a_slow_run() -> Run:
    held = OptimizerSignals("SGD", Place("train.py", 9), False, steps=200, highest_rate=1e-5, usual_rate=1e-3)
    run = Run(optimizers=[held], laboratory=TenTimesHelps(), ended=True, labels={0: 50, 1: 50})
    run.looks = [Look(step, 0.69, losses=[a_loss()]) for step in range(4)]
    for step in range(200):
        run.loss.add(step, 0.7 - 1e-4 * step)
    return run


def test_a_higher_rate_is_advised_where_the_experiment_says_so() -> None:
    found = slow_convergence.look(a_slow_run())
    assert found is not None
    assert [(fix.title, fix.verified) for fix in found.fixes] == [("lr=0.0001", True)]


def test_no_rate_is_advised_where_a_part_of_the_network_is_not_trained_at_all() -> None:
    run = a_slow_run()
    run.facts.note("orphan", 3, Place("train.py", 4))
    assert slow_convergence.look(run) is None


@pytest.mark.parametrize(("keeper", "fixes"), [("history", 1), (None, 0)])
def test_what_keeps_graphs_is_advised_about_only_by_its_name(keeper: str | None, fixes: int) -> None:
    run = Run()
    run.facts.note("graph kept", 12, Place("train.py", 7), numbers={"name": keeper})
    found = loss_keeps_graph.look(run)
    assert found is not None
    assert len(found.fixes) == fixes
    assert all("history" in fix.title and not fix.verified for fix in found.fixes)
