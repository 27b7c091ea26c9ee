"""`sleuth compare`, `sleuth.compare()` and `assert_same_model`, as people call them."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import sleuth
from sleuth import program
from sleuth.cli import main
from sleuth.testing import assert_same_model

MODELS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, eps=1e-5, p=0.5, detached=False):
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(20, 16)
        self.norm = nn.LayerNorm(16, eps=eps)
        self.mix = nn.Linear(16, 16)
        self.drop = nn.Dropout(p)
        self.head = nn.Linear(16, 5)
        self.detached = detached

    def forward(self, ids):
        hidden = self.norm(self.embed(ids))
        shortcut = hidden.detach() if self.detached else hidden
        return self.head(self.drop(torch.relu(self.mix(hidden))) + shortcut)


def original():
    return Net()


def faithful():
    return Net()


def other_epsilon():
    return Net(eps=1e-3)


def detached():
    return Net(detached=True)


def talking():
    print("number of parameters: 1,234")
    return Net()


def broken():
    raise RuntimeError("no such checkpoint")


class Failing(nn.Linear):
    def __init__(self):
        super().__init__(4, 4)

    def forward(self, x):
        raise FileNotFoundError("no vocabulary at vocab.txt")


number = 3
"""


@pytest.fixture
def sleuth_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Call the command in a folder with the models; gives the status, standard output and standard error."""
    (tmp_path / "models_to_compare.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(program, "_started_in", lambda: str(tmp_path))  # else that of the first test in the process

    def call(*words: str) -> tuple[int, str, str]:
        status = main(["compare", *words])
        out, err = capsys.readouterr()
        return status, out, err

    return call


ORIGINAL = "models_to_compare.py:original"


def test_two_that_agree_are_silent_but_for_the_verdict(sleuth_in: Callable[..., Any]) -> None:
    status, out, err = sleuth_in(ORIGINAL, "models_to_compare.py:faithful")
    assert status == 0
    assert out == ""
    assert "agree: on" in err
    assert "times the noise of float32" in err


def test_a_difference_is_told_with_its_line_its_cause_and_what_to_change(sleuth_in: Callable[..., Any]) -> None:
    status, out, err = sleuth_in(ORIGINAL, "models_to_compare.py:other_epsilon")
    assert status == 1
    assert "epsilon-differs" in out
    assert "models_to_compare.py:17" in out
    assert "0.001, not 1e-05" in out
    assert "do not agree" in err


def test_the_worst_input_is_kept_and_compared_on_again(sleuth_in: Callable[..., Any], tmp_path: Path) -> None:
    sleuth_in(ORIGINAL, "models_to_compare.py:other_epsilon")
    status, _, err = sleuth_in(ORIGINAL, "models_to_compare.py:other_epsilon", "--inputs", ".sleuth/worst.npz")
    assert status == 1
    assert "on 1 input at most" in err


def test_json_has_the_findings_and_every_step(sleuth_in: Callable[..., Any]) -> None:
    status, out, _ = sleuth_in(ORIGINAL, "models_to_compare.py:other_epsilon", "--format", "json", "--rounds", "0")
    told = json.loads(out)
    assert status == told["exit"] == 1
    assert told["command"] == "compare"
    assert [finding["diagnosis"] for finding in told["findings"]] == ["epsilon-differs"]
    assert told["findings"][0]["kind"] == "model-migration"
    comparison = told["comparison"]
    assert comparison["partings"][0]["cause"] == "epsilon-differs"
    steps = {step["node"]: step["score"] for step in comparison["steps"]}
    assert steps["embedding"] < 6 < steps["layer_norm"]


def test_a_page_is_written(sleuth_in: Callable[..., Any], tmp_path: Path) -> None:
    sleuth_in(ORIGINAL, "models_to_compare.py:other_epsilon", "--html", "page.html", "--rounds", "0")
    page = (tmp_path / "page.html").read_text()
    assert "first parts here: norm (layer_norm)" in re.sub(r"</?tspan>", "", page)
    assert "<script" not in page


def test_a_diagnosis_can_be_left_out(sleuth_in: Callable[..., Any]) -> None:
    status, out, _ = sleuth_in(ORIGINAL, "models_to_compare.py:other_epsilon", "--ignore", "epsilon-differs")
    assert (status, out) == (0, "")


def test_training_is_compared_too(sleuth_in: Callable[..., Any]) -> None:
    assert sleuth_in(ORIGINAL, "models_to_compare.py:detached")[0] == 0
    status, out, err = sleuth_in(ORIGINAL, "models_to_compare.py:detached", "--train")
    assert status == 1
    assert "gradients-part" in out
    assert "training does not agree" in err
    status, out, err = sleuth_in(ORIGINAL, "models_to_compare.py:faithful", "--train")
    assert (status, out) == (0, "")
    assert "training agrees" in err


def test_deployments_make_one_table(sleuth_in: Callable[..., Any]) -> None:
    _, out, err = sleuth_in(ORIGINAL, "--as", "float64,bf16,cuda", "--format", "json")
    rows = {row["name"]: row for row in json.loads(out)["deployments"]}
    assert list(rows) == ["float64", "bf16", "cuda"]
    assert rows["float64"]["verdict"] == "same"
    assert rows["bf16"]["verdict"] == "same for its format"
    if not torch.cuda.is_available():
        assert rows["cuda"]["verdict"] == "not made"
        assert rows["cuda"]["why_not"]
    assert "deployment  verdict" in err


def test_weights_are_compared_and_the_code_converts(sleuth_in: Callable[..., Any], tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    kernel, bias = draw.standard_normal((4, 6)), draw.standard_normal(4)
    np.savez("a.npz", **{"fc.weight": kernel, "fc.bias": bias})
    np.savez("b.npz", **{"dense/kernel": kernel.T, "dense/bias": bias})
    status, out, _ = sleuth_in("--weights", "a.npz", "b.npz", "--code", "convert.py")
    assert status == 0
    assert "dense/kernel = fc.weight, transposed" in out
    namespace: dict[str, Any] = {}
    exec((tmp_path / "convert.py").read_text(), namespace)
    np.testing.assert_array_equal(namespace["convert"](np.load("a.npz"))["dense/kernel"], kernel.T)
    np.savez("c.npz", **{"dense/kernel": kernel.T + 1, "dense/bias": bias})
    status, out, _ = sleuth_in("--weights", "a.npz", "c.npz", "--format", "json")
    told = json.loads(out)["weights"]
    assert status == 1
    assert not told["same"]
    assert [one["how"] for one in told["matches"]] == ["differs", "same"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([ORIGINAL], "two models, or one and --as"),
        ([ORIGINAL, ORIGINAL, "--as", "bf16"], "name one model"),
        ([ORIGINAL, "--as", "origami"], "origami"),
        ([ORIGINAL, "none.onnx"], "none.onnx"),
        ([ORIGINAL, "models_to_compare.py:nothing"], "nothing"),
        ([ORIGINAL, "models_to_compare.py:number"], "number"),
        ([ORIGINAL, "models_to_compare.py:broken"], "no such checkpoint"),
        (["models_to_compare.py:Failing", "models_to_compare.py:Failing"], "no vocabulary at vocab.txt"),
        ([ORIGINAL, "empty.onnx"], "empty.onnx"),
        ([ORIGINAL, ORIGINAL, "--inputs", "none.npz"], "none.npz"),
        ([ORIGINAL, ORIGINAL, "--rounds", "-1"], "--rounds"),
        ([ORIGINAL, ORIGINAL, "--worst", "x.txt"], "--worst"),
        ([ORIGINAL, "--as", "bf16", "--train"], "--train"),
        ([ORIGINAL, ORIGINAL, "--code", "x.py"], "--weights"),
        (["--weights", "a.npz", "b.npz"], "no such file"),
    ],
)
def test_bad_input_is_refused_in_one_line(sleuth_in: Callable[..., Any], words: list[str], says: str) -> None:
    Path("empty.onnx").write_bytes(b"not a model")
    status, out, err = sleuth_in(*words)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_what_a_model_prints_does_not_spoil_the_report(sleuth_in: Callable[..., Any]) -> None:
    status, out, err = sleuth_in("models_to_compare.py:talking", ORIGINAL, "--format", "json")
    assert (status, json.loads(out)["findings"]) == (0, [])
    assert "number of parameters" in err


class Small(nn.Module):
    def __init__(self, gain: float = 1.0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(6, 8)
        self.second = nn.Linear(8, 3)
        self.gain = gain

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(x)) * self.gain)


def test_called_from_code_it_gives_a_report_with_the_numbers() -> None:
    x = torch.randn(8, 6)
    same = sleuth.compare(Small(), Small(), inputs=(x,))
    assert same.findings == ()
    assert same.exit == 0
    assert same.verdict.same
    other = sleuth.compare(Small(), Small(gain=1.01), inputs=(x,))
    assert other.exit == 1
    assert not other.same
    assert other.verdict.session is not None
    assert other.verdict.session.comparison.outputs[0].score > 6


def test_called_from_code_it_leaves_chance_and_models_alone() -> None:
    torch.manual_seed(3)
    model = Small().train()
    state = torch.get_rng_state()
    sleuth.compare(model, Small(), inputs=(torch.ones(4, 6),))
    assert torch.equal(state, torch.get_rng_state())
    assert model.training


def test_called_without_a_second_model_or_variants_it_says_so() -> None:
    with pytest.raises(TypeError, match="a second model, or variants"):
        sleuth.compare(Small())


def test_the_oracle_passes_and_fails_with_the_layer() -> None:
    x = torch.randn(8, 6)
    assert_same_model(Small(), Small(), inputs=(x,))
    with pytest.raises(AssertionError, match="do not compute the same") as failed:
        assert_same_model(Small(), Small(gain=1.01), inputs=(x,))
    assert "mul" in str(failed.value)


def test_the_oracle_compares_a_variant() -> None:
    assert_same_model(Small(), variant="bf16", inputs=(torch.randn(8, 6),))
    with pytest.raises(TypeError, match="another model, or the name of a variant"):
        assert_same_model(Small())


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--help"]) == 0
    told = capsys.readouterr().out
    assert "sleuth compare model.py:Net model.onnx" in told
    assert textwrap.dedent("exit status: 0 they agree") in told
