"""Programs that crash, and what a watch says of the crash: which page, which line, which values."""

from __future__ import annotations

import gc
import sys
import textwrap
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sleuth.findings import Finding
from sleuth.live.watch import Watch

Watched = Callable[..., list[Finding]]
# Every program marks the line that is to be named.
MARK = "# here"
TRAINING = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def train(model, loader, loss_of):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        loss_of(model, *batch).backward()
        optimizer.step()


"""


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Run a program that crashes, in this process and watched; the variables it left are in the fixture's `left`."""

    def run(source: str, before: str = TRAINING) -> list[Finding]:
        path = tmp_path / "train.py"
        path.write_text(before.lstrip("\n") + textwrap.dedent(source).lstrip("\n"))
        monkeypatch.chdir(tmp_path)
        watch = Watch(show=lambda report: None)
        with pytest.raises(Exception), watch:  # noqa: B017, PT011
            exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
        assert watch.errors == []
        marked = [number for number, line in enumerate(path.read_text().splitlines(), 1) if MARK in line]
        for finding in watch.findings:
            assert finding.place is not None
            assert (Path(finding.place.path).name, finding.place.line) == ("train.py", marked[0])
        return watch.findings

    return run


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def evidence(finding: Finding) -> dict[str, Any]:
    return {item.name: item.value for item in finding.evidence}


def story(finding: Finding) -> list[str]:
    return [link.what for link in finding.chain]


def test_a_linear_behind_a_flatten_is_told_with_its_numbers_and_every_shape_on_the_way(watched: Watched) -> None:
    source = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 4, 3)
            self.head = nn.Linear(4 * 8 * 8, 3)

        def forward(self, x):
            x = torch.relu(self.conv(x))
            x = x.flatten(1)
            return self.head(x)  # here

    data = TensorDataset(torch.randn(8, 1, 8, 8), torch.arange(8) % 3)
    train(Net(), DataLoader(data, 4), lambda model, x, y: F.cross_entropy(model(x), y))
    """
    found = only(watched(source))
    assert (found.diagnosis, found.certainty, found.step) == ("flatten-linear-mismatch", "certain", 0)
    assert found.title == "head (Linear) is made for 256 features and is given 144"
    assert evidence(found)["x"] == "(4, 144) float32"
    assert "in_features=256" in evidence(found)["head (Linear)"]
    assert evidence(found)["samples in the batch"] == (0, 1, 2, 3)
    assert story(found)[-3:-1] == [
        "conv (Conv2d) made (4, 4, 6, 6) of (4, 1, 8, 8)",
        "flatten() made (4, 144) of (4, 4, 6, 6)",
    ]
    made = found.chain[-1].place
    assert made is not None
    assert made.code == "nn.Linear(4 * 8 * 8, 3)"


def test_a_label_beyond_the_classes_is_told_with_the_sample_it_belongs_to(watched: Watched) -> None:
    source = """
    labels = torch.arange(24) % 3
    labels[17] = 3
    model = nn.Linear(2, 3)
    loader = DataLoader(TensorDataset(torch.randn(24, 2), labels), batch_size=4)
    train(model, loader, lambda model, x, y: F.cross_entropy(model(x), y))  # here
    """
    found = only(watched(source))
    assert (found.diagnosis, found.step) == ("label-out-of-range", 4)
    told = evidence(found)
    assert (told["classes"], told["rows in batch"], told["samples"]) == (3, (1,), (17,))
    assert told["y"].endswith("from 0 to 3")


def test_a_sample_is_not_named_where_the_batch_has_another_order(watched: Watched) -> None:
    source = """
    labels = torch.arange(8) % 3
    labels[1] = 3

    def backwards(samples):
        return torch.stack([x for x, _ in samples[::-1]]), torch.stack([y for _, y in samples[::-1]])

    loader = DataLoader(TensorDataset(torch.randn(8, 2), labels), batch_size=4, collate_fn=backwards)
    train(nn.Linear(2, 3), loader, lambda model, x, y: F.cross_entropy(model(x), y))  # here
    """
    told = evidence(only(watched(source)))
    assert told["rows in batch"] == (2,)
    assert "samples" not in told


def test_an_index_beyond_an_embedding_is_told_with_its_rows(watched: Watched) -> None:
    source = """
    tokens = torch.arange(32).reshape(8, 4) % 10
    tokens[5, 2] = 10
    model = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(16, 2))
    loader = DataLoader(TensorDataset(tokens, torch.arange(8) % 2), batch_size=4)
    train(model, loader, lambda model, x, y: F.cross_entropy(model(x), y))  # here
    """
    found = only(watched(source))
    assert (found.diagnosis, found.title) == ("embedding-too-small", "layer 0 (Embedding) has 10 rows, the index is 10")
    assert evidence(found)["samples"] == (5,)


@pytest.mark.parametrize(
    ("source", "diagnosis", "shown"),
    [
        ("a, b = torch.randn(4, 3), torch.randn(5, 2)\na @ b  # here", "shape-mismatch", {"a": "(4, 3) float32"}),
        (
            "picture = torch.randn(2, 1, 8, 8)\nnn.Conv2d(3, 4, 3)(picture)  # here",
            "channel-mismatch",
            {"picture": "(2, 1, 8, 8) float32"},
        ),
        (
            "import numpy\nx = torch.from_numpy(numpy.ones((4, 2)))\nnn.Linear(2, 1)(x)  # here",
            "float64-into-float32-model",
            {"x": "(4, 2) float64"},
        ),
        (
            "y = torch.tensor([0.0, 1.0])\nF.nll_loss(torch.randn(2, 3), y)  # here",
            "class-targets-as-float",
            {"y": "(2,) float32"},
        ),
        (
            "y = torch.ones(4)\nF.binary_cross_entropy_with_logits(torch.randn(4, 1), y)  # here",
            "target-size-mismatch",
            {"y": "(4,) float32"},
        ),
        (
            "loss = F.mse_loss(nn.Linear(2, 1)(torch.ones(3, 2)), torch.ones(3, 1), reduction='none')\n"
            "loss.backward()  # here",
            "loss-not-scalar",
            {"loss": "(3, 1) float32"},
        ),
        (
            "loss = nn.Linear(2, 1)(torch.ones(3, 2)).pow(2).mean()\nloss.backward()\nloss.backward()  # here",
            "backward-twice",
            {"loss": "() float32"},
        ),
        (
            "w = torch.ones(3, requires_grad=True)\ns = torch.sigmoid(w)\ns += 1\ns.sum().backward()  # here",
            "inplace-breaks-backward",
            {"s": "(3,) float32"},
        ),
        ("out = nn.Linear(2, 1)(torch.ones(3, 2))\nout.numpy()  # here", "numpy-of-grad-tensor", {}),
        ("torch.optim.Adam([torch.ones(1, requires_grad=True)], lr=-1.0)  # here", "negative-learning-rate", {}),
        ("x = torch.ones(2)\nnn.Linear(2, 2)(x).to('cuda')  # here", "hard-coded-cuda", {}),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value and " " not in value else "",
)
def test_a_known_message_gets_its_page_its_line_and_the_tensors_that_met(
    watched: Watched, source: str, diagnosis: str, shown: dict[str, str]
) -> None:
    found = only(watched(source))
    assert found.diagnosis == diagnosis
    assert shown.items() <= evidence(found).items()


def test_samples_that_cannot_be_stacked_are_told_by_their_index(watched: Watched) -> None:
    source = """
    recordings = [torch.zeros(3)] * 6 + [torch.zeros(5)] + [torch.zeros(3)]
    for batch in DataLoader(recordings, batch_size=4):  # here
        pass
    """
    found = only(watched(source))
    assert found.diagnosis == "uneven-samples-stacked"
    assert evidence(found)["samples"] == (4, 6)


def test_a_list_of_tensors_is_told_by_its_shapes(watched: Watched) -> None:
    found = only(watched("parts = [torch.ones(3), torch.ones(3), torch.ones(5)]\ntorch.stack(parts)  # here"))
    assert evidence(found)["parts"] == "2 × (3,), (5,)"


def test_the_line_in_a_worker_is_named_and_not_the_loop_that_waits_for_it(watched: Watched) -> None:
    source = """
    class Data:
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return torch.ones(3) @ torch.ones(2, 3)  # here

    before = torch.ones(7)
    for before in DataLoader(Data(), num_workers=1, multiprocessing_context="fork"):
        pass
    """
    found = only(watched(source))
    assert found.diagnosis == "shape-mismatch"
    assert set(evidence(found)) == {"error"}


def test_a_size_taken_from_the_first_batch_is_told_by_both_sizes(watched: Watched) -> None:
    source = """
    loader = DataLoader(TensorDataset(torch.randn(10, 6)), batch_size=4)
    train(nn.Linear(3, 1), loader, lambda model, x: model(x.view(4, 2, 3)).pow(2).mean())  # here
    """
    found = only(watched(source))
    assert (found.diagnosis, found.certainty, found.step) == ("batch-size-baked-in", "likely", 2)
    assert (evidence(found)["usual batch"], evidence(found)["this batch"]) == (4, 2)


def test_an_optimiser_without_parameters_is_told_by_what_the_model_is(watched: Watched) -> None:
    source = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = {layers}

    model = Net()
    parameters = {parameters}
    {use}
    torch.optim.SGD({given}, lr=0.1)  # here
    """
    hidden = {"layers": "[nn.Linear(2, 2)]", "parameters": "None", "use": "", "given": "model.parameters()"}
    walked = {"layers": "nn.Linear(2, 2)", "parameters": "model.parameters()", "use": "list(parameters)"}
    nothing = {"layers": "nn.Linear(2, 2)", "parameters": "[]", "use": ""}
    assert only(watched(source.format(**hidden))).diagnosis == "modules-in-plain-list"
    assert only(watched(source.format(**walked, given="parameters"))).diagnosis == "consumed-generator"
    assert watched(source.format(**nothing, given="parameters")) == []


def test_a_cause_that_a_rule_names_is_not_told_a_second_time(watched: Watched) -> None:
    source = """
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    loader = DataLoader(TensorDataset(torch.randn(5, 2)), batch_size=4)
    train(model, loader, lambda model, x: model(x).pow(2).mean())  # here
    """
    found = only(watched(source))
    assert found.diagnosis == "batchnorm-on-one-sample"
    assert evidence(found)["x"] == "(1, 2) float32"
    assert evidence(found)["samples in the batch"] == (4,)


@pytest.mark.parametrize(
    "source",
    [
        "raise ValueError('bad config: index 3 is out of bounds for dimension 0 with size 2')",
        "config = {'rate': 1}\nconfig['acc']",
        "x = torch.ones(2, 3)\nassert x.shape == (3, 2), f'shape mismatch: {x.shape}'",
        "open('data/train.csv')",
        "int('seven')",
        "[][3]",
        "None.shape",
        "import no_such_module_at_all",
        "def helper(a):\n    pass\nhelper(b=1)",
        "next(iter([]))",
        "DataLoader([]).undefined",
        "torch.device('gpu')",
        "torch.distributions.Normal(torch.zeros(1), -torch.ones(1))",
    ],
    ids=str,
)
def test_what_a_program_raises_itself_and_plain_errors_of_python_get_no_finding(watched: Watched, source: str) -> None:
    assert watched(source) == []


def test_an_error_raised_over_another_is_explained_by_that_one(watched: Watched) -> None:
    source = """
    x = torch.ones(2, 5)
    try:
        nn.Linear(4, 2)(x)  # here
    except RuntimeError as error:
        raise SystemError("the forward pass failed") from error
    """
    assert only(watched(source)).diagnosis == "linear-size-mismatch"


def test_a_misspelt_name_is_no_more_than_a_hint(watched: Watched) -> None:
    found = only(watched("torch.ones(2).sumn()  # here"))
    assert (found.certainty, found.severity) == ("hint", "note")


def test_an_error_of_numpy_alone_is_known_too(watched: Watched) -> None:
    source = "import numpy\na = numpy.ones((2, 3))\na + numpy.ones((3, 2))  # here"
    found = only(watched(source, before=""))
    assert (found.diagnosis, evidence(found)["a"]) == ("shape-mismatch", "(2, 3) float64")


def test_code_of_the_users_is_not_run_to_find_values(watched: Watched) -> None:
    source = """
    class Batch:
        read = 0

        @property
        def x(self):
            Batch.read += 1
            return torch.ones(2, 3)

    batch = Batch()
    torch.ones(2, 4) @ batch.x  # here
    """
    assert only(watched(source + "\n")).diagnosis == "shape-mismatch"
    batch = next(one for one in gc.get_objects() if type(one).__name__ == "Batch" and hasattr(one, "read"))
    assert type(batch).read == 1


def test_no_tensor_outlives_the_report(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []
    monkeypatch.setattr(sys, "kept_by_the_test", kept, raising=False)
    source = """
    import sys, weakref
    x = torch.ones(2, 3)
    sys.kept_by_the_test.append(weakref.ref(x))
    x @ torch.ones(2, 3)  # here
    """
    found = only(watched(source))
    gc.collect()
    assert found.diagnosis == "shape-mismatch"
    assert isinstance(kept[0], weakref.ref)
    assert kept[0]() is None
