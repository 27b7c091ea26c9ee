"""Training and test data that are normalised differently."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import datasets, tell
from sleuth.source.sites import Trace
from sleuth.source.values import Value

Numbers = tuple[float, ...]


def trace(trace: Trace) -> Iterator[Finding]:
    made = datasets.made_in_trace(trace)
    train = [one for one in made if datasets.part_of(one) == "train"]
    test = [one for one in made if datasets.part_of(one) == "test"]
    if len(train) != 1:
        return
    for data in test:
        if data.api == train[0].api:
            difference = _difference(train[0], data)
            if difference is not None:
                step = next(step for step in trace.of("dataset") if step.site.result is data)
                yield tell.found(
                    "normalisation-differs",
                    step.site,
                    certainty="likely",
                    severity="warning",
                    chain=[tell.because(train[0], "the training data"), tell.because(data, difference)],
                    fixes=[Fix("normalise both with the mean and deviation of the training data")],
                )


def _difference(train: Value, test: Value) -> str | None:
    steps = [datasets.steps_of(one) for one in map(datasets.transform_of, (train, test)) if one is not None]
    if len(steps) != 2 or None in steps:
        return None
    first, second = (_normalised(one or []) for one in steps)
    if first is None or second is None or first == second:
        return None
    if not second:
        return "the test data are not normalised, the training data are"
    if not first:
        return "the test data are normalised, the training data are not"
    return "the test data are normalised with other numbers"


def _normalised(steps: list[Value]) -> list[tuple[Numbers, Numbers]] | None:
    """The numbers of all Normalize steps; None where they are not written out."""
    found = []
    for step in steps:
        if step.api.rpartition(".")[2] != "Normalize":
            continue
        mean, deviation = _numbers(step.option("mean", "0")), _numbers(step.option("std", "1"))
        if mean is None or deviation is None:
            return None
        found.append((mean, deviation))
    return found


def _numbers(given: Value | None) -> Numbers | None:
    if given is None:
        return None
    parts = given.parts if given.kind == "sequence" and given.parts is not None else [given]
    numbers = [one.number() for one in parts]
    return None if None in numbers or not given.exact else tuple(float(one) for one in numbers if one is not None)
