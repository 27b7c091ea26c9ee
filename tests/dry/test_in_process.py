"""sleuth.dry(fn, inputs): a rehearsal in the caller's process, which is afterwards bit for bit what it was."""

from __future__ import annotations

import copy
import gc
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.modules import module
from torch.overrides import _get_current_function_mode_stack

import sleuth
from sleuth.findings import Report

X, Y = torch.randn(8, 3), torch.randint(0, 2, (8,))
MODEL = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
OPTIMIZER = torch.optim.Adam(MODEL.parameters(), lr=0.1)


def step(x: torch.Tensor, y: torch.Tensor) -> None:
    """Trains what it finds in its module."""
    MODEL.cuda()
    OPTIMIZER.zero_grad()
    functional.cross_entropy(MODEL(x.cuda()), y.cuda()).backward()
    OPTIMIZER.step()


def forgetful(x: torch.Tensor, y: torch.Tensor) -> None:
    model = nn.Linear(3, 2).cuda()
    functional.cross_entropy(model(x.cuda()), y).backward()


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.scale = nn.Linear(3, 2), torch.ones(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) * self.scale  # here


class Trainer:
    def __init__(self) -> None:
        self.model = nn.Linear(3, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 1)
        self.steps = 0

    def fit(self, x: torch.Tensor) -> None:
        self.model.to("cuda").eval()
        for _ in range(2):
            self.model(x.cuda()).pow(2).mean().backward()
            self.optimizer.step()
            self.scheduler.step()


SCALED, TRAINER = Scaled(), Trainer()


PRETENDED = {"torch", "numpy", "random", "builtins", "os", "io", "subprocess", "socket", "pickle", "time"}


def attributes() -> dict[str, Any]:
    """Every function and class of torch and of what else is pretended, and those in its classes."""
    found: dict[str, Any] = {}
    for name, one in list(sys.modules.items()):
        if name.split(".")[0] not in (
            "torch",
            "numpy",
            "random",
            "builtins",
            "os",
            "io",
            "subprocess",
            "socket",
            "pickle",
        ):
            continue
        for attribute, value in list(vars(one).items()):
            if callable(value):
                found[f"{name}.{attribute}"] = value
            if issubclass(type(value), type):  # not isinstance, which asks objects that warn of being asked
                methods = {key: method for key, method in vars(value).items() if not isinstance(method, int)}
                found |= {f"{name}.{attribute}.{key}": method for key, method in methods.items()}
    return found


def state() -> dict[str, Any]:
    found: dict[str, Any] = {f"model {name}": value.clone() for name, value in MODEL.state_dict().items()}
    found |= {f"gradient {name}": p.grad for name, p in MODEL.named_parameters()}
    found |= {f"place {name}": p.data_ptr() for name, p in MODEL.named_parameters()}
    found["optimizer"] = copy.deepcopy(OPTIMIZER.state_dict())
    found["training"] = [part.training for part in MODEL.modules()]
    found["torch"], found["python"] = torch.get_rng_state(), random.getstate()
    found["numpy"] = repr(numpy.random.get_state())
    found["flags"] = (torch.is_grad_enabled(), torch.get_default_dtype(), torch.cuda.is_available())
    found["modes"] = len(_get_current_function_mode_stack())
    found["hooks"] = (len(module._global_forward_hooks), len(module._global_forward_pre_hooks))
    found["environment"] = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    found["process"] = (list(sys.meta_path), threading.active_count())
    return found


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other)


@pytest.fixture
def undisturbed() -> Iterator[None]:
    sleuth.dry(lambda: None)  # imports what it needs, and torch what it makes on first use
    gc.collect()
    names, before = attributes(), state()
    yield
    after = state()
    assert {name for name, value in before.items() if not same(value, after[name])} == set()
    now = attributes()
    assert {name for name, value in names.items() if now.get(name) is not value} == set()


def diagnoses(report: Report) -> list[str]:
    return [finding.diagnosis for finding in report.findings]


@pytest.mark.usefixtures("undisturbed")
def test_a_healthy_function_that_trains_what_it_finds_leaves_it_as_it_was() -> None:
    report = sleuth.dry(step, (X, Y))
    assert report.command == "dry"
    assert report.program == "step"
    assert diagnoses(report) == []


@pytest.mark.usefixtures("undisturbed")
def test_without_numbers_it_is_the_same() -> None:
    assert diagnoses(sleuth.dry(step, (X, Y), numbers="fake")) == []
    assert diagnoses(sleuth.dry(forgetful, (X, Y), numbers="fake")) == diagnoses(sleuth.dry(forgetful, (X, Y)))
    assert len(diagnoses(sleuth.dry(SCALED, X, numbers="fake"))) == 1


@pytest.mark.usefixtures("undisturbed")
def test_what_is_too_big_for_this_machine_is_rehearsed_without_numbers() -> None:
    def act(x: torch.Tensor) -> None:
        model = nn.Sequential(*(nn.Linear(9000, 9000) for _ in range(4))).cuda()
        model(x.cuda()).sum().backward()
        assert tuple(x.shape) == (512, 9000)
        x.numpy(force=True)
        model(x)

    (finding,) = sleuth.dry(act, (lambda: torch.randn(512, 9000),)).findings
    assert finding.place is not None
    assert finding.place.code == "model(x)"


@pytest.mark.usefixtures("undisturbed")
def test_a_crash_is_a_finding_and_leaves_everything_as_it_was() -> None:
    (finding,) = sleuth.dry(forgetful, (X, Y)).findings
    assert finding.effect == "crash"
    assert finding.place is not None
    assert finding.place.code == "functional.cross_entropy(model(x.cuda()), y)"


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps"])
def test_a_model_is_rehearsed_on_the_device_as_a_copy(device: str) -> None:
    model = SCALED
    before = copy.deepcopy(model.state_dict())
    (finding,) = sleuth.dry(model, X, device=device).findings
    assert finding.place is not None
    assert finding.place.code == "self.layer(x) * self.scale"
    assert same(before, model.state_dict())
    assert all(parameter.device.type == "cpu" and parameter.grad is None for parameter in model.parameters())
    assert diagnoses(sleuth.dry(MODEL, X, device=device)) == []


@pytest.mark.usefixtures("undisturbed")
def test_what_a_closure_or_an_object_holds_is_put_back() -> None:
    trainer = TRAINER
    trainer.model(X).sum().backward()
    gradient = trainer.model.weight.grad
    assert gradient is not None
    before = copy.deepcopy((trainer.model.state_dict(), trainer.optimizer.state_dict(), trainer.scheduler.state_dict()))
    numbers = gradient.clone()
    for fn in (trainer.fit, lambda x: trainer.fit(x)):
        assert diagnoses(sleuth.dry(fn, (X,))) == []
        now = (trainer.model.state_dict(), trainer.optimizer.state_dict(), trainer.scheduler.state_dict())
        assert all(same(one, other) for one, other in zip(before, now, strict=True))
        assert trainer.model.training
        assert trainer.model.weight.grad is gradient
        assert torch.equal(gradient, numbers)


@pytest.mark.usefixtures("undisturbed")
def test_inputs_are_copied_or_made_on_the_stage() -> None:
    seen = []

    def change(x: torch.Tensor, array: Any, made: torch.Tensor) -> None:
        seen.append((tuple(x.shape), type(array), tuple(made.shape)))
        x.zero_()
        array[:] = 0

    array, x = numpy.ones(3), X.clone()
    sleuth.dry(change, (x, array, lambda: torch.zeros(2, 2)))
    sleuth.dry(change, {"x": x, "array": array, "made": lambda: torch.zeros(2, 2)})
    assert seen == [((8, 3), numpy.ndarray, (2, 2))] * 2
    assert torch.equal(x, X)
    assert array.sum() == 3


def test_a_layer_that_learns_its_size_from_the_first_batch_is_healthy() -> None:
    assert diagnoses(sleuth.dry(nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2)), X)) == []


def test_a_line_may_be_silenced() -> None:
    def act(x: torch.Tensor, y: torch.Tensor) -> None:
        functional.cross_entropy(nn.Linear(3, 2).cuda()(x.cuda()), y)  # sleuth: ignore

    assert sleuth.dry(act, (X, Y)).findings == ()
    found = diagnoses(sleuth.dry(forgetful, (X, Y)))
    assert sleuth.dry(forgetful, (X, Y), ignore=found).findings == ()


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="a function or a model, not int"):
        sleuth.dry(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a size"):
        sleuth.dry(step, (X, Y), card="much")


REFUSED = """
from sleuth.dry import births
try:
    sleuth.dry(births)
except TypeError as error:
    print(error)
"""


@pytest.mark.parametrize("first", ["import sleuth", "import sleuth.dry.scenario, sleuth", "import sleuth; sleuth.dry"])
def test_it_is_a_function_and_a_package_whichever_is_imported_first(first: str) -> None:
    done = subprocess.run([sys.executable, "-c", first + REFUSED], capture_output=True, text=True, timeout=600)
    assert done.stdout == "sleuth.dry rehearses a function or a model, not module\n", done.stderr


def test_importing_sleuth_does_not_import_the_engine() -> None:
    code = "import sys, sleuth\nassert not [name for name in sys.modules if name.startswith(('sleuth.dry', 'torch'))]"
    assert subprocess.run([sys.executable, "-c", code], timeout=600).returncode == 0


def test_a_watch_around_it_hears_nothing() -> None:
    with sleuth.watch() as watch:
        sleuth.dry(step, (X, Y))
    assert [finding for finding in watch.findings if finding.severity == "error"] == []
