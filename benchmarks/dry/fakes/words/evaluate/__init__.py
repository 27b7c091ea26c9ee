"""A metric that counts what is right, whatever it is called."""

from __future__ import annotations

from typing import Any

_NAMES = (
    "accuracy",
    "f1",
    "exact_match",
    "score",
    "overall_precision",
    "overall_recall",
    "overall_f1",
    "overall_accuracy",
)


class Metric:
    def __init__(self) -> None:
        self.right = self.seen = 0

    def add_batch(self, predictions: Any, references: Any) -> None:
        for given, wanted in zip(list(predictions), list(references), strict=True):
            self.seen += 1
            self.right += str(given) == str(wanted)

    def compute(self, predictions: Any = (), references: Any = (), **_: Any) -> dict[str, float]:
        self.add_batch(predictions, references)
        result = self.right / max(1, self.seen)
        self.right = self.seen = 0
        return dict.fromkeys(_NAMES, result)


def load(*_: Any, **__: Any) -> Metric:
    return Metric()
