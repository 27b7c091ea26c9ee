"""One model against all its deployments: a row each, whatever becomes of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare import deployments
from sleuth.compare.deployments import Row, deploy
from sleuth.compare.latency import Latency, by_turns, call_of
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.tell_deployments import findings_of_rows
from sleuth.compare.values import Batch
from sleuth.compare.variants.autocast import AutocastSide

Seeded = Callable[[Callable[[], nn.Module]], nn.Module]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 8, 3), nn.Linear(8 * 16, 12)

    def forward(self, x: Tensor) -> Any:
        return self.head(torch.relu(self.conv(x)).flatten(1))


@pytest.fixture
def side(seeded: Seeded) -> TorchSide:
    return TorchSide(seeded(Net))


@pytest.fixture
def batch() -> Batch:
    return (np.random.default_rng(0).standard_normal((8, 3, 6, 6), dtype=np.float32),)


def test_every_deployment_has_a_row_and_a_failure_stops_no_other(side: TorchSide, batch: Batch) -> None:
    heard: list[str] = []
    rows = deploy(side, ["bf16", "fused", "int8", "float64", "bf16"], batch, heard.append)
    assert heard == [row.name for row in rows] == ["bf16", "fused", "int8", "float64"]
    assert [row.verdict for row in rows] == ["same for its format", "not made", "same for its format", "same"]
    half, failed, int8, _ = rows
    assert failed.reason == "Net has no batch normalisation that could be fused"
    assert (failed.score, failed.latency, failed.agreement, failed.slower) == (None, None, None, False)
    assert half.score is not None
    assert half.score < 6
    assert half.size_ratio == pytest.approx(0.5)
    assert half.metrics is not None
    assert half.metrics.positions == 8
    assert half.agreement is not None
    assert half.agreement >= 0.75
    assert int8.left_in_float == ("conv",)
    assert int8.precision == "int8"
    assert int8.latency is not None
    assert int8.latency.ratio > 0


def test_a_deployment_that_differs_says_where(
    side: TorchSide, batch: Batch, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = seeded(Net)
    other.get_submodule("head").bias.data.add_(1.0)  # type: ignore[union-attr,operator]
    monkeypatch.setattr(deployments, "variant", lambda *_: AutocastSide(TorchSide(other), "bfloat16"))
    (row,) = deploy(side, ["autocast"], batch)
    assert row.verdict == "differs"
    assert row.comparison is not None
    assert [one.parting.node for one in row.comparison.troubles] == ["linear"]


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (CannotCompare("it cannot be had"), "it cannot be had"),
        (ValueError("first line\nsecond line"), "ValueError: first line"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_whatever_goes_wrong_is_the_reason_of_its_row(
    side: TorchSide, batch: Batch, problem: Exception, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Side:
        raise problem

    monkeypatch.setattr(deployments, "variant", fail)
    assert deploy(side, ["bf16"], batch) == [Row("bf16", "not made", reason=reason)]


def test_a_deployment_that_is_not_known_is_refused_before_any_is_made(side: TorchSide, batch: Batch) -> None:
    with pytest.raises(CannotCompare, match="no variant called int3"):
        deploy(side, ["bf16", "int3"], batch)


def _clock(costs: dict[str, float], calls: list[str]) -> Callable[[], float]:
    """A clock that goes on only by what the calls cost."""
    return lambda: sum(costs[name] for name in calls)


@pytest.mark.parametrize(("cost", "slower"), [(20.0, True), (1.15, False), (0.5, False)])
def test_slower_is_by_the_ratio_of_calls_by_turns(cost: float, slower: bool) -> None:
    calls: list[str] = []
    clock = _clock({"one": cost, "other": 1.0}, calls)
    found = by_turns(lambda: calls.append("one"), lambda: calls.append("other"), clock)
    assert found.ratio == pytest.approx(cost)
    assert found.slower == slower
    assert calls[:6] == ["one", "other"] * 3
    assert calls.count("one") == calls.count("other") >= 10


def test_one_slow_moment_of_the_machine_makes_nothing_slower() -> None:
    costs: Iterator[float] = iter([1.0] * 6 + [9.0, 1.0] * 6 + [1.0, 1.0] * 20)
    now = [0.0]

    def work() -> None:
        now[0] += next(costs)

    found = by_turns(work, work, lambda: now[0])
    assert found.ratio > 1.2
    assert not found.slower


def test_a_machine_that_is_busy_now_and_then_makes_nothing_slower() -> None:
    """The deployment needs what the others take: most of its calls are slow, some are not."""
    costs: Iterator[float] = iter([1.0] * 6 + [6.0, 1.0, 6.0, 1.0, 1.5, 1.4] * 30)
    now = [0.0]

    def work() -> None:
        now[0] += next(costs)

    found = by_turns(work, work, lambda: now[0])
    assert found.ratio == 6.0
    assert found.at_best > 1.2
    assert not found.slower


def test_the_price_of_a_call_makes_nothing_slower() -> None:
    calls: list[str] = []
    clock = _clock({"one": 9e-5, "other": 1e-5}, calls)
    found = by_turns(lambda: calls.append("one"), lambda: calls.append("other"), clock)
    assert found.ratio == pytest.approx(9.0)
    assert not found.slower


@pytest.mark.parametrize(("name", "told"), [("float64", []), ("onnx", ["slower-after-conversion"])])
def test_what_is_computed_in_float64_is_slower_on_purpose(side: TorchSide, name: str, told: list[str]) -> None:
    row = Row(name, "same", latency=Latency(3.0, 1.0, 3.0, 3.0, 2.9, 40))
    found = list(findings_of_rows(side, [row]))
    assert [one.diagnosis for one in found] == told
    for one in found:
        assert (one.certainty, one.severity) == ("hint", "note")
        assert any("40 calls of each by turns" in str(fact.value) for fact in one.evidence)


def test_what_is_timed_is_the_model_as_it_is_deployed(side: TorchSide, batch: Batch) -> None:
    timed: Any = call_of(AutocastSide(side, "bfloat16"), batch)()
    assert timed.dtype is torch.bfloat16
    assert not timed.requires_grad
    plain: Any = call_of(side, batch)()
    assert plain.dtype is torch.float32
