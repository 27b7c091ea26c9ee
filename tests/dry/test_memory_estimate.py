"""From counted bytes to a card: what it needs, whether that fits, what would save how much, and which batch fits."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from sleuth.dry.journal import Outcome
from sleuth.dry.memory import estimate, savings
from sleuth.dry.memory.largest_batch import largest_batch
from sleuth.dry.scenario import GIBIBYTE, Scenario
from sleuth.findings import Place, place_to_json

CARD = 24 * GIBIBYTE
LINE = place_to_json(Place("train.py", 12, 5, 12, "model(x)"))


def about(peak: float, **kinds: float) -> dict[str, Any]:
    """A card's note; what is not said is temporary."""
    held = dict.fromkeys(("weights", "gradients", "optimiser state", "activations", "data", "temporary"), 0)
    held |= {name.replace("_", " "): int(size * GIBIBYTE) for name, size in kinds.items()}
    held["temporary"] = int(peak * GIBIBYTE) - sum(held.values())
    return {
        "peak": int(peak * GIBIBYTE),
        "kinds": held,
        "lines": [{"place": LINE, "bytes": held["activations"], "kind": "activations"}],
        "layers": [],
        "activations by dtype": {"float32": held["activations"]},
        "full at": None,
    }


def memory(peak: float, batch: int | None = 64, steps: int = 2, **kinds: float) -> dict[str, Any]:
    return {"devices": {"cpu": about(900), "cuda:0": about(peak, **kinds)}, "batch": batch, "steps": steps}


def test_a_card_needs_more_than_its_tensors() -> None:
    needed = estimate.need(10 * GIBIBYTE)
    assert 10.3 * GIBIBYTE < needed.least < needed.likely < needed.most < 13 * GIBIBYTE


def test_the_rooms_of_a_card_are_what_its_needs_say() -> None:
    assert estimate.need(estimate.room(CARD)).least == CARD
    assert estimate.need(estimate.safe_room(CARD)).most == pytest.approx(CARD, rel=1e-6)


def test_what_does_not_fit_is_found_where_the_card_is_full() -> None:
    told = memory(30, activations=20)
    told["devices"]["cuda:0"]["full at"] = place_to_json(Place("train.py", 9))
    (finding,) = estimate.findings(told, CARD, 0)
    assert finding.place == finding.chain[0].place == Place("train.py", 9)
    assert finding.chain[1].place == Place("train.py", 12, 5, 12, "model(x)")


@pytest.mark.parametrize(("peak", "certainty"), [(24, "certain"), (23.0, "likely")])
def test_what_does_not_fit_is_found_on_the_line_that_holds_most(peak: float, certainty: str) -> None:
    (finding,) = estimate.findings(memory(peak, activations=20), CARD, 0)
    assert (finding.certainty, finding.severity) == (certainty, "error")
    assert finding.place is not None
    assert finding.place.line == 12
    assert "24 GB" in finding.title


@pytest.mark.parametrize("peak", [1, 10, 20, 21.5])
def test_what_may_well_fit_is_no_finding(peak: float) -> None:
    assert not list(estimate.findings(memory(peak), CARD, 0))


def test_the_memory_of_the_machine_itself_is_no_card() -> None:
    assert not list(estimate.findings({**memory(1), "devices": {"cpu": about(900)}}, CARD, 0))


def test_the_sentence_tells_the_range_and_the_parts() -> None:
    told = estimate.sentence(memory(10, weights=1, activations=8), CARD)
    assert told.startswith("needs 10.4 GB to 12.6 GB on cuda:0, of 24 GB; at the peak: activations 8 GB, ")
    assert estimate.sentence({"devices": {}}, CARD) == ""


def sized(found: list[savings.Saving], word: str) -> float:
    return next(one.size for one in found if word in one.what) / GIBIBYTE


def test_savings_are_reckoned_from_the_parts() -> None:
    held = about(40, weights=2, gradients=2, optimiser_state=4, activations=30, data=1)
    found = savings.of(held, 100, 64, 20 * GIBIBYTE)
    assert sized(found, "checkpointing") == pytest.approx(24)  # all but 2 / √100
    assert sized(found, "bfloat16") == pytest.approx(14)  # half of 30, less half of 2
    assert sized(found, "8-bit Adam") == pytest.approx(3)
    assert sized(found, "SGD with momentum") == pytest.approx(2)
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)


def test_a_smaller_batch_is_one_that_fits() -> None:
    held = about(40, weights=2, gradients=2, optimiser_state=4, activations=30, data=1)
    batch = next(one for one in savings.of(held, 0, 64, 20 * GIBIBYTE) if "batch" in one.what)
    assert batch.what == "a batch of 22 instead of 64"  # 9 do not grow: 11 / 31 of 64
    assert "not enough" not in batch.why


def test_a_smaller_batch_that_does_not_help_is_said_not_to() -> None:
    held = about(40, weights=10, gradients=10, optimiser_state=15, activations=5)
    batch = next(one for one in savings.of(held, 0, 64, 20 * GIBIBYTE) if "batch" in one.what)
    assert batch.what == "a batch of 1 instead of 64"
    assert "not enough" in batch.why


def test_no_autocast_is_proposed_to_a_program_that_uses_it() -> None:
    held = {**about(40, activations=30), "activations by dtype": {"float32": 10, "bfloat16": 20}}
    assert not [one for one in savings.of(held, 0, None, 0) if "autocast" in one.what]


class Pretended:
    """A program whose tensors take `fixed` GiB and `each` for a sample."""

    def __init__(self, fixed: float, each: float, own: int, deals: bool = True) -> None:
        self.fixed, self.each, self.own, self.deals = fixed, each, own, deals
        self.asked: list[int] = []

    def __call__(self, scenario: Scenario) -> Outcome:
        assert scenario.numbers == "fake"
        self.asked.append(scenario.batch)
        batch = (scenario.batch if self.deals else 0) or self.own
        return Outcome(how="ended", notes={"memory": memory(self.fixed + self.each * batch, batch)})


def fits(program: Pretended, batch: int) -> bool:
    return (program.fixed + program.each * batch) * GIBIBYTE <= estimate.safe_room(CARD)


def scenario() -> Scenario:
    return Scenario("train.py", card_bytes=CARD)


def test_the_largest_batch_is_found_with_two_sizes_and_verified_with_a_third() -> None:
    program = Pretended(2, 0.05, 64)
    found = largest_batch(scenario(), run=program)
    assert program.asked == [0, 128, found.batch]
    assert found.batch is not None
    assert fits(program, found.batch)
    assert not fits(program, found.batch + 1)
    assert f"{found.batch:,} fits a card of 24 GB" in found.sentence


def test_a_batch_that_is_too_large_already_gets_smaller() -> None:
    program = Pretended(2, 1.0, 64)
    found = largest_batch(scenario(), run=program)
    assert found.batch is not None
    assert fits(program, found.batch)
    assert not fits(program, found.batch + 1)


def test_what_the_plain_rehearsal_has_told_is_not_asked_again() -> None:
    program = Pretended(2, 0.05, 64)
    found = largest_batch(scenario(), Outcome(how="ended", notes={"memory": memory(2 + 0.05 * 64, 64)}), program)
    assert program.asked == [128, found.batch]


def test_where_not_even_one_fits_that_is_said() -> None:
    found = largest_batch(scenario(), run=Pretended(30, 0.1, 8))
    assert found.batch is None
    assert "not even a batch of 1" in found.sentence


def test_a_batch_that_no_loader_deals_cannot_be_changed() -> None:
    found = largest_batch(scenario(), run=Pretended(1, 0.1, 8, deals=False))
    assert found.batch is None
    assert "DataLoader" in found.sentence


def test_a_program_that_trains_nothing_has_no_largest_batch() -> None:
    assert largest_batch(scenario(), run=lambda scene: Outcome()).batch is None


def test_a_small_batch_that_hides_behind_the_optimiser_does_not_mislead() -> None:
    def hides(scene: Scenario) -> Outcome:
        batch = scene.batch or 32
        return Outcome(how="ended", notes={"memory": memory(max(4 + 0.0001 * batch, 2 + 0.01 * batch), batch)})

    found = largest_batch(scenario(), run=hides)
    assert found.batch is not None
    assert 1700 <= found.batch <= 1760


def test_a_batch_too_large_to_be_rehearsed_is_not_the_end() -> None:
    def limited(scene: Scenario) -> Outcome:
        batch = scene.batch or 32
        return Outcome() if batch > 300 else Outcome(how="ended", notes={"memory": memory(2 + 0.01 * batch, batch)})

    found = largest_batch(scenario(), run=limited)
    assert found.batch is not None
    assert 200 <= found.batch <= 300


def test_memory_that_jumps_is_approached_from_both_sides() -> None:
    def jumps(scene: Scenario) -> Outcome:
        batch = scene.batch or 64
        peak = 2 + 0.05 * batch + (6 if batch > 256 else 0)
        return Outcome(how="ended", notes={"memory": memory(peak, batch)})

    found = largest_batch(scenario(), run=jumps)
    assert found.batch is not None
    assert 200 <= found.batch <= 256
