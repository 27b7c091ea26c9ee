"""The layers of a model, in the order of their calls, with shapes, parameters, operations and memory."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from sleuth.dry import journal  # noqa: E402
from sleuth.dry.memory import meter, summary  # noqa: E402
from sleuth.dry.scenario import Scenario  # noqa: E402
from sleuth.dry.stage import Stage  # noqa: E402


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(8 * 16 * 16, 10)

    def forward(self, images: Any) -> Any:
        return self.head(self.features(images).flatten(1))


def notes(folder: Path, program: Any) -> dict[str, Any]:
    path = folder / "journal"
    stage = Stage(Scenario("train.py", numbers="fake"), journal.Journal(path), folder)
    stage.now_on = "cuda:0"
    with FakeTensorMode(), meter.counted(stage), contextlib.suppress(RuntimeError):
        program()
    stage.patches.undo()
    stage.journal.close()
    return journal.read(path).notes


def only_model(folder: Path, program: Any) -> dict[str, Any]:
    (model,) = notes(folder, program)["table"]["models"]
    found: dict[str, Any] = model
    return found


def test_a_cnn_layer_by_layer(tmp_path: Path) -> None:
    model = only_model(tmp_path, lambda: Cnn()(torch.randn(4, 3, 32, 32)).sum().backward())
    assert (model["kind"], model["training"]) == ("Cnn", True)
    rows = model["rows"]
    assert [(row["depth"], row["name"], row["kind"]) for row in rows] == [
        (0, "", "Cnn"),
        (1, "features", "Sequential"),
        (2, "features.0", "Conv2d"),
        (2, "features.1", "ReLU"),
        (2, "features.2", "MaxPool2d"),
        (1, "head", "Linear"),
    ]
    conv, head = rows[2], rows[5]
    assert (conv["input"], conv["output"]) == ([[4, 3, 32, 32]], [[4, 8, 32, 32]])
    assert conv["parameters"] == 3 * 8 * 9 + 8
    assert conv["flops"] == 2 * 4 * 32 * 32 * 8 * 3 * 9
    assert conv["activations"] == 4 * 8 * 32 * 32 * 4
    assert (head["input"], head["output"]) == ([[4, 2048]], [[4, 10]])
    assert head["dtype"] == "float32"
    assert rows[0]["parameters"] == model["parameters"] == sum(row["parameters"] for row in (conv, head))
    assert rows[0]["flops"] == sum(row["flops"] for row in rows if row["leaf"])


def test_a_transformer_layer_by_layer(tmp_path: Path) -> None:
    def program() -> None:
        layers = [nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(2)]
        nn.Sequential(*layers)(torch.randn(2, 10, 32)).sum().backward()

    rows = only_model(tmp_path, program)["rows"]
    kinds = [row["kind"] for row in rows]
    assert kinds.count("MultiheadAttention") == 2
    assert kinds.count("Linear") == 4
    attention = rows[kinds.index("MultiheadAttention")]
    assert attention["input"] == [[2, 10, 32]] * 3
    assert attention["flops"] > 0
    assert [row["name"] for row in rows if row["depth"] == 1] == ["0", "1"]


def test_a_layer_that_is_called_twice_says_so(tmp_path: Path) -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, inputs: Any) -> Any:
            return self.layer(self.layer(inputs))

    model = only_model(tmp_path, lambda: Twice()(torch.randn(2, 8)).sum().backward())
    assert [row["again"] for row in model["rows"]] == [False, False, True]
    assert model["parameters"] == 72


def test_a_training_forward_takes_the_place_of_one_that_only_evaluates(tmp_path: Path) -> None:
    def program() -> None:
        model = Cnn()
        with torch.no_grad():
            model(torch.randn(1, 3, 32, 32))
        for _ in range(3):
            model(torch.randn(4, 3, 32, 32)).sum().backward()

    model = only_model(tmp_path, program)
    assert model["training"]
    assert model["rows"][0]["input"] == [[4, 3, 32, 32]]


def test_two_models_have_a_table_each(tmp_path: Path) -> None:
    def program() -> None:
        generator, critic = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 1))
        critic(generator(torch.randn(2, 4))).sum().backward()

    table = notes(tmp_path, program)["table"]
    assert [model["kind"] for model in table["models"]] == ["Linear", "Sequential"]


def test_what_is_given_by_name_is_shown_too(tmp_path: Path) -> None:
    class Named(nn.Module):
        def forward(self, *, tokens: Any, mask: Any) -> dict[str, Any]:
            return {"logits": tokens * mask}

    model = only_model(tmp_path, lambda: Named()(tokens=torch.ones(2, 7), mask=torch.ones(7)))
    (row,) = model["rows"]
    assert (row["input"], row["output"]) == ([[2, 7], [7]], [[2, 7]])


def test_a_layer_that_raises_is_the_last_row_and_has_no_output(tmp_path: Path) -> None:
    model = only_model(tmp_path, lambda: nn.Sequential(nn.Linear(3, 4), nn.Linear(3, 4))(torch.randn(2, 3)))
    assert [row["output"] for row in model["rows"]] == [None, [[2, 4]], None]


def test_a_table_ends_somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "MOST_ROWS", 3)
    model = only_model(tmp_path, lambda: nn.Sequential(*(nn.ReLU() for _ in range(5)))(torch.randn(2)))
    assert len(model["rows"]) == 3
    assert model["left off"] == 3


def test_the_batch_is_that_of_the_first_training_forward(tmp_path: Path) -> None:
    def program() -> None:
        for size in (32, 7):
            Cnn()(torch.randn(size, 3, 32, 32)).sum().backward()

    assert notes(tmp_path, program)["memory"]["batch"] == 32
