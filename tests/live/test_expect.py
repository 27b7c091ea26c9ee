"""Every sentence that the documentation offers, once where it holds and once where it is broken."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import sleuth
from sleuth import handbook
from sleuth.live.expectations.sentence import EXAMPLES, NotUnderstood, read

ROOT = Path(__file__).parents[2]


class Net(nn.Module):
    def __init__(self, stretch: float = 1.0) -> None:
        super().__init__()
        self.encoder = nn.Linear(8, 32)
        self.head = nn.Linear(32, 4)
        self.stretch = stretch

    def forward(self, x: Tensor) -> Tensor:
        logits = self.head(torch.relu(self.encoder(x))) * self.stretch
        return logits.log_softmax(-1)


def train(
    steps: int = 60,
    lr: float = 1e-2,
    frozen: bool = False,
    stretch: float = 1.0,
    times: Callable[[int], float] = lambda step: 1.0,
    each: Callable[[int], object] = lambda step: None,
    senseless: bool = False,
    validation: float | None = None,
) -> Net:
    torch.manual_seed(0)
    model = Net(stretch)
    if frozen:
        model.encoder.requires_grad_(False)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    x = torch.randn(512, 8)
    y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
    if senseless:
        y = torch.randint(0, 4, (512,))
    for step in range(steps):
        batch = torch.randint(0, 512, (64,))
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(model(x[batch]), y[batch]) * times(step)
        loss.backward()
        optimizer.step()
        each(step)
        if validation is not None and step % 50 == 49:
            model.eval()
            with torch.no_grad():
                nn.functional.nll_loss(model(x[:64]) * validation, y[:64])
            model.train()
    return model


def leak(kept: list[Tensor]) -> Callable[[int], object]:
    return lambda step: kept.append(torch.ones(2**18))


def pause(step: int) -> None:
    if step == 20:
        time.sleep(0.6)


# What makes each sentence true, and what breaks it.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "the gradient norm of every layer stays below 10": ({}, {"times": lambda step: 1e3}),
    "the gradient norm of encoder stays below 1 after 100 steps": (
        {"steps": 120, "times": lambda step: 1e3 if step < 50 else 1.0},
        {"steps": 120, "times": lambda step: 1e3 if step > 105 else 1.0},
    ),
    "the loss falls by half within 200 steps": ({"steps": 200}, {"steps": 200, "lr": 1e-6}),
    "the loss falls below 0.1 within 1000 steps": ({"steps": 1000}, {"steps": 1000, "lr": 1e-6}),
    "the loss stays below 5": ({}, {"times": lambda step: 10.0 if step == 30 else 1.0}),
    "the validation loss stays below 2 after 500 steps": (
        {"steps": 620, "validation": 1.0},
        {"steps": 620, "validation": 500.0},
    ),
    "the weights of encoder do not change": ({"frozen": True}, {}),
    "all weights change within 50 steps": ({}, {"frozen": True}),
    "the update ratio of every layer stays within [0, 0.1]": ({"lr": 1e-4}, {"lr": 1.0}),
    "the learning rate stays within [1e-5, 1e-3]": ({"lr": 1e-3}, {"lr": 1e-2}),
    "accuracy beats chance within 200 steps": ({"steps": 260}, {"steps": 260, "senseless": True, "lr": 1e-4}),
    "accuracy reaches 90% within 500 steps": ({"steps": 1300}, {"steps": 600, "lr": 1e-6}),
    "no tensor named logits leaves [-50, 50]": ({}, {"stretch": 1e3}),
    "memory does not grow": ({"steps": 200}, {"steps": 200, "each": leak([])}),
    "the step time stays below 0.5 s after 10 steps": ({}, {"each": pause}),
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_the_documentation_offers_what_is_tested() -> None:
    page = re.findall(r"^- ([^`\n]+)$", handbook.page("broken-expectation").sections["How Sleuth knows"], re.MULTILINE)
    assert page == list(EXAMPLES) == list(CASES)


def test_every_sentence_of_the_readme_is_tested() -> None:
    said = re.findall(r"(?:expect\(|--expect )\"([^\"]+)\"", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert said
    assert set(said) <= set(CASES)


@pytest.mark.parametrize("sentence", CASES)
def test_it_holds(sentence: str) -> None:
    with sleuth.expect(sentence) as expectation:
        train(**CASES[sentence][0])
    assert expectation.findings == []


def break_it(sentence: str) -> None:
    with pytest.raises(sleuth.ExpectationBroken, match="broken-expectation") as broken, sleuth.expect(sentence):
        train(**CASES[sentence][1])
    [finding] = [f for f in broken.value.findings if f.diagnosis == "broken-expectation"]
    assert sentence in finding.title
    assert finding.place is not None
    assert finding.place.path.endswith("test_expect.py")
    assert finding.step is not None
    assert finding.chain[0].place is not None


@pytest.mark.parametrize("sentence", [sentence for sentence in CASES if not sentence.startswith("memory")])
def test_it_is_broken(sentence: str) -> None:
    break_it(sentence)


def test_memory_that_grows_breaks_it() -> None:
    # Growth is judged against what the process already holds: gigabytes, when other tests ran in it before.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        process.submit(break_it, "memory does not grow").result()


def test_the_finding_names_the_layer_and_its_line() -> None:
    with pytest.raises(sleuth.ExpectationBroken) as broken, sleuth.expect("the gradient norm of head stays below 1e-9"):
        train(2)
    finding = broken.value.findings[0]
    assert finding.place is not None
    assert "self.head = nn.Linear" in Path(__file__).read_text().splitlines()[finding.place.line - 1]
    assert finding.evidence[0].name == "gradient norm of head.weight"


def test_a_named_tensor_is_traced_to_the_line_that_makes_it() -> None:
    with (
        pytest.raises(sleuth.ExpectationBroken) as broken,
        sleuth.expect("no tensor named logits leaves [-0.001, 0.001]"),
    ):
        train(2)
    place = broken.value.findings[0].place
    assert place is not None
    assert "logits =" in Path(__file__).read_text().splitlines()[place.line - 1]


def test_as_a_decorator_each_call_is_judged_by_itself() -> None:
    @sleuth.expect("the loss stays below 5")
    def run(times: float) -> None:
        train(10, times=lambda step: times)

    run(1.0)
    with pytest.raises(sleuth.ExpectationBroken):
        run(10.0)
    run(1.0)


def test_several_at_once_tell_all_that_broke() -> None:
    with (
        pytest.raises(sleuth.ExpectationBroken) as broken,
        sleuth.expect("the loss stays below 1", "the learning rate stays below 1e-9"),
    ):
        train(10)
    assert {f.title.split(";")[0] for f in broken.value.findings} == {
        "expected: the loss stays below 1",
        "expected: the learning rate stays below 1e-9",
    }


def test_as_a_statement_it_is_told_by_the_watch_and_training_goes_on() -> None:
    seen: list[int] = []
    with sleuth.live.Watch() as watch:
        sleuth.expect("the loss stays below 1")
        train(10, each=seen.append)
    assert [f.diagnosis for f in watch.findings] == ["broken-expectation"]
    assert len(seen) == 10


def test_with_stop_the_block_ends_at_once() -> None:
    seen: list[int] = []
    with pytest.raises(sleuth.ExpectationBroken), sleuth.expect("the loss stays below 1", stop=True):
        train(10, each=seen.append)
    assert seen == []


def test_a_question_of_ones_own() -> None:
    with sleuth.expect("the loss is positive", holds=lambda values: values["loss"] > 0):
        train(5)
    with (
        pytest.raises(sleuth.ExpectationBroken, match="the loss is negative"),
        sleuth.expect("the loss is negative", holds=lambda values: values["loss"] < 0),
    ):
        train(5)


def test_accuracy_on_a_batch_of_ones_own_leaves_the_training_as_it_is() -> None:
    x = torch.randn(64, 8)
    y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
    plain = train(60)
    model = Net()
    with (
        pytest.raises(sleuth.ExpectationBroken, match="most frequent class"),
        sleuth.expect("accuracy on this batch beats chance within 50 steps", batch=(x, y), model=model),
    ):
        # The model that is asked about is not the one that is trained.
        trained = train(60)
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), trained.parameters(), strict=True))


def test_warmup_every_and_tolerance() -> None:
    spike = {"times": lambda step: 10.0 if step == 3 else 1.0}
    with sleuth.expect("the loss stays below 5", warmup=4):
        train(10, **spike)
    with sleuth.expect("the loss stays below 5", every=2):
        train(10, **spike)
    with sleuth.expect("the loss stays below 5", tolerance=5.0):
        train(10, **spike)
    with pytest.raises(sleuth.ExpectationBroken), sleuth.expect("the loss stays below 5", every=3):
        train(10, **spike)


def test_a_run_too_short_to_tell_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with sleuth.expect("the loss falls by half within 200 steps"):
        train(10, lr=1e-6)
    assert "not decided, the run was shorter than 200 steps" in capsys.readouterr().err


def test_what_nothing_measured_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with sleuth.expect("no tensor named logitz leaves [-50, 50]"):
        train(5)
    assert "not decided, nothing in this run measured it" in capsys.readouterr().err


def test_an_error_of_the_program_is_not_hidden() -> None:
    def stumble(step: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), sleuth.expect("the loss stays below 1e-9"):
        train(3, each=stumble)


def test_a_part_that_is_not_there_breaks_it() -> None:
    with (
        pytest.raises(sleuth.ExpectationBroken, match="no parameter is called decoder"),
        sleuth.expect("the weights of decoder do not change"),
    ):
        train(5)


@pytest.mark.parametrize("sentence", ["the loss goes away", "gradients are nice", "", "the loss stays below"])
def test_what_cannot_be_read_is_refused_with_an_example(sentence: str) -> None:
    with pytest.raises(NotUnderstood, match="may read like") as refused:
        sleuth.expect(sentence)
    assert str(refused.value).split("'")[-2] in EXAMPLES


@pytest.mark.parametrize(
    ("sentence", "every", "warmup"),
    [
        ("the loss stays below 5 after 10 steps, every 4 steps", 4, 10),
        ("the loss stays below 5, every 4 steps", 4, None),
        ("The Loss stays under 5 after a warm-up of 1,000 steps.", None, 1000),
    ],
)
def test_a_sentence_says_how_often_and_from_when(sentence: str, every: int | None, warmup: int | None) -> None:
    reading = read(sentence)
    assert (reading.every, reading.warmup) == (every, warmup)


@pytest.mark.parametrize("wrong", [{"every": 0}, {"every": -3}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        sleuth.expect("the loss stays below 5", **wrong)


SCRIPT = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(20):
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
"""


def test_said_in_pyproject(run_script: Callable, tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.sleuth]\nexpect = ["the learning rate stays below 1e-3"]\n')
    ran = run_script(SCRIPT)
    assert ran.status == 1
    assert ran.only["diagnosis"] == "broken-expectation"
    assert ran.only["place"]["line"] == 9
    settings.write_text(
        "[tool.sleuth.run]\n"
        'expect = [{says = "the learning rate stays below 1e-3", tolerance = 20}, "the loss stays below 1000"]\n'
    )
    assert run_script(SCRIPT).status == 0


@pytest.mark.parametrize(
    "expect",
    [
        '["the loss goes away"]',
        '"the loss stays below 5"',
        "[{every = 3}]",
        '[{says = "the loss stays below 5", each = 1}]',
    ],
)
def test_what_is_wrong_in_pyproject_is_refused_before_the_program_runs(
    run_script: Callable, tmp_path: Path, expect: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.sleuth]\nexpect = {expect}\n")
    ran = run_script("open('ran', 'w')")
    assert ran.status == 2
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "ran").exists()


def test_said_on_the_command_line_and_silenced(run_script: Callable) -> None:
    sentence = "the learning rate stays below 1e-3"
    assert run_script(SCRIPT, options=("--expect", sentence)).only["diagnosis"] == "broken-expectation"
    assert run_script(SCRIPT, options=("--expect", sentence, "--ignore", "broken-expectation")).status == 0


def test_it_does_not_change_the_weights() -> None:
    plain = train(40)
    with sleuth.expect(
        "the gradient norm of every layer stays below 1000",
        "all weights change",
        "no tensor named logits leaves [-5000, 5000]",
        "memory does not grow",
        every=1,
    ):
        watched = train(40)
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), watched.parameters(), strict=True))
