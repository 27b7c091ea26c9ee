"""assert_deterministic: the same seed gives the same result, or the message says where chance came in."""

from __future__ import annotations

import os
import random
import re
import time
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor, nn

from sleuth.testing import assert_deterministic

X = torch.randn(6, 5, generator=torch.Generator().manual_seed(3))
calls = 0
cache: list[float] = []


class Net(nn.Module):
    seen = 0

    def __init__(self, how: str = "") -> None:
        super().__init__()
        self.layer = nn.Linear(5, 5)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("count", torch.zeros(()))
        self.rng = numpy.random.default_rng(3)
        self.parts = {nn.Linear(5, 5) for _ in range(6)}
        self.how = how

    def forward(self, x: Tensor) -> Tensor:
        h = self.drop(self.layer(x))
        return getattr(self, self.how or "plain")(h)

    def plain(self, h: Tensor) -> Tensor:
        return h

    def numpys(self, h: Tensor) -> Tensor:
        return h + torch.from_numpy(numpy.random.rand(5)).float()  # here

    def pythons(self, h: Tensor) -> Tensor:
        return h * random.random()  # here

    def clock(self, h: Tensor) -> Tensor:
        return h * (time.perf_counter() * 1e6 % 1000)  # here

    def entropy(self, h: Tensor) -> Tensor:
        return h * float(os.urandom(4)[0] + 256 * os.urandom(4)[1])  # here

    def fresh_generator(self, h: Tensor) -> Tensor:
        return h * float(numpy.random.default_rng().random())  # here

    def seeded_generator(self, h: Tensor) -> Tensor:
        return h * float(numpy.random.default_rng(7).random())

    def class_state(self, h: Tensor) -> Tensor:
        Net.seen += 1
        return h + Net.seen  # here

    def buffers(self, h: Tensor) -> Tensor:
        self.count += 1
        return h + self.count

    def careful_buffers(self, h: Tensor) -> Tensor:
        if self.training:
            self.count += 1
        return h + self.count

    def gradients(self, h: Tensor) -> Tensor:
        h.register_hook(lambda gradient: gradient * random.random())
        return h


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_healthy_models_are_deterministic(healthy: Any, untouched: Any) -> None:
    model, inputs, _ = healthy
    untouched(model)
    assert_deterministic(model, inputs)


@pytest.mark.parametrize("how", ["plain", "seeded_generator", "careful_buffers"])
def test_seeded_chance_and_state_of_training_are_fine(how: str, untouched: Any) -> None:
    model = Net(how)
    untouched(model)
    assert_deterministic(model, X, times=3)
    assert_deterministic(model.eval().train(), {"x": X})


def test_what_knows_no_equality_is_not_compared() -> None:
    assert_deterministic(lambda x: {"cache": object(), "scores": x}, X)


def test_functions_are_deterministic_too() -> None:
    assert_deterministic(lambda x: {"noise": torch.rand(3) + x, "name": "same", "number": float("nan")}, X[0, :3])
    assert_deterministic(lambda: numpy.random.rand(3), seed_all=True)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("numpys", "random numbers come from numpy.random, not from torch's generator"),
        ("pythons", "random numbers come from random, not from torch's generator"),
        ("clock", "time.perf_counter gives something else at every call"),
        ("entropy", "os.urandom gives something else at every call"),
        ("fresh_generator", "numpy.random.default_rng gives something else at every call"),
        ("class_state", "running it changes what the next run finds: Net.seen"),
    ],
)
def test_the_source_of_chance_is_named_with_its_line(
    how: str, says: str, failure: Any, line_of: Any, untouched: Any
) -> None:
    model = Net(how)
    untouched(model)
    message = failure(assert_deterministic, model, X)
    assert message.startswith("the same seed does not give the same result\n")
    assert re.search(r"run 2 is unlike run 1: the output differs: \d+ of 30 values, by up to \d", message)
    assert re.search(r"the first call that gives something else is \w+ ", message)
    assert re.search(line_of(__file__), message)
    assert says in message


def test_global_generators_may_be_seeded_too() -> None:
    assert_deterministic(Net("numpys"), X, seed_all=True)
    assert_deterministic(Net("pythons"), X, seed_all=True)


def test_a_generator_that_goes_on_is_named(failure: Any) -> None:
    generator = numpy.random.default_rng(0)

    def noisy(x: Tensor) -> Tensor:
        return x + float(generator.random())

    message = failure(assert_deterministic, noisy, X)
    assert "random numbers come from generator, a numpy.random.Generator that goes on from run to run" in message


def test_state_that_a_function_keeps_is_named(failure: Any) -> None:
    def remembering(x: Tensor) -> Tensor:
        cache.append(1.0)
        return x + len(cache)

    message = failure(assert_deterministic, remembering, X)
    assert "running it changes what the next run finds: cache" in message


def test_the_order_of_a_set_is_suspected(failure: Any) -> None:
    class Ordered(Net):
        def plain(self, h: Tensor) -> Tensor:
            for part in self.parts:
                h = torch.tanh(part(h))
            return h

    message = failure(assert_deterministic, Ordered(), X, times=20)
    assert "self.parts is a set, and the order of its members goes by their addresses" in message


def test_a_model_that_remembers_its_last_call_in_evaluation(failure: Any, untouched: Any) -> None:
    model = Net("buffers")
    untouched(model)
    message = failure(assert_deterministic, model, X)
    assert message.startswith("the same seed does not give the same result: the model remembers its last call")
    assert "running it changes its own state: self.count" in message


def test_gradients_count_too(failure: Any) -> None:
    message = failure(assert_deterministic, Net("gradients"), X)
    assert "the gradient of layer.weight differs" in message


def test_results_without_tensors_are_compared(failure: Any) -> None:
    message = failure(assert_deterministic, lambda: {"pick": random.randint(0, 10**12)})
    assert re.search(r"the output\['pick'\] differs: \d+ and \d+", message)


def test_misuse_is_told_in_a_line() -> None:
    with pytest.raises(ValueError, match="times must be 2 or more"):
        assert_deterministic(Net(), X, times=1)
    with pytest.raises(TypeError, match="a model or a function, not Tensor"):
        assert_deterministic(X)
