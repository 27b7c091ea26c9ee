"""What the numbers of a training's log say, where nobody says it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sleuth.triage import ask
from sleuth.triage.curves import Curve, curve

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HEALTHY = tomllib.loads((Path(__file__).with_name("healthy_logs.toml")).read_text(encoding="utf-8"))


def keras(losses: list[float], tested: list[float], accuracy: float = 0.0) -> str:
    return "\n".join(
        f"Epoch {n}/9\n88/88 [=====] - 5s 2ms/step - loss: {loss} - acc: {0.5 + n / 100} - val_loss: {other} - "
        f"val_acc: {accuracy or 0.5 + n / 100}"
        for n, (loss, other) in enumerate(zip(losses, tested, strict=True), 1)
    )


FALLING = [1.3, 1.1, 0.8, 0.6, 0.5, 0.4]


def plain(losses: list[float]) -> str:
    return "\n".join(f"step {n * 100} loss={loss} lr=0.01" for n, loss in enumerate(losses))


@pytest.mark.parametrize(
    ("log", "diagnosis"),
    [
        (keras(FALLING, FALLING, accuracy=0.4455), "stuck-at-chance"),
        ("\n".join(f"epoch {n} accuracy: 10.00%" for n in range(5)), "stuck-at-chance"),
        (keras(FALLING, [1.0, 0.8, 0.7, 0.8, 0.9, 1.1]), "overfitting"),
        (plain([2.3, 2.4, 3.1, 5.0, 9.5, 17.0, 40.0]), "loss-diverges"),
        (keras(FALLING, FALLING), None),
        (plain(FALLING), None),
        ("\n".join(f"{{'loss': {loss}, 'learning_rate': 4e-05}}" for loss in FALLING), None),
    ],
)
def test_a_log_shows_what_is_wrong_or_that_nothing_is(log: str, diagnosis: str | None) -> None:
    found = curve(log)
    assert found is not None
    assert found.diagnosis == diagnosis
    answer = ask(log)
    assert [one.name for one in answer.diagnoses] == ([diagnosis] if diagnosis else [])
    assert answer.kind == ("training-anomaly" if diagnosis else None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the loss is 3",
        "loss 0.3\nloss 0.4",
        plain([2.0, 2.4, 1.9, 2.2, 2.1, 2.3]),
        f"{plain(FALLING)}\nWhy is it so slow, and how can I make it faster?",
        f"I train a small network on pictures.\nIt prints the following lines.\nWhat do they mean?\n{plain(FALLING)}",
    ],
)
def test_too_little_noise_or_a_question_shows_nothing(text: str) -> None:
    assert curve(text) is None


def test_a_perfect_accuracy_may_stay_as_it_is() -> None:
    assert curve(keras(FALLING, FALLING, accuracy=1.0)) == Curve(None)


def test_an_error_at_the_end_of_a_log_comes_first() -> None:
    answer = ask(keras(FALLING, FALLING, accuracy=0.44) + "\nIndexError: Target 7 is out of bounds.\n")
    assert answer.kind == "program-crash"
    assert [one.name for one in answer.diagnoses] == ["label-out-of-range"]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log_shows_nothing_wrong(name: str) -> None:
    found = curve(HEALTHY[name])
    assert found is None or found.diagnosis is None
