"""The exporter's values and the reference's nodes: the right one, or none."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional

from sleuth.compare.comparison import Comparison, compare_on
from sleuth.compare.origins import Origin
from sleuth.compare.partners import partners
from sleuth.compare.reference import Reference
from sleuth.compare.scores import LIMIT
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.variants.onnx_export import exported


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.turned = nn.ConvTranspose2d(6, 4, 2, 2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = self.pool(functional.hardswish(self.turned(x)))
        return self.head(x.flatten(1))


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(30, 16)
        self.places = nn.Embedding(8, 16)
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 30)

    def forward(self, x):
        x = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        for _ in range(2):
            batch, length, width = x.shape
            q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 2, 8).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + mixed.transpose(1, 2).reshape(batch, length, width)
        return self.out(x)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(30, 8)
        self.memory = nn.LSTM(8, 6, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 4)

    def forward(self, x):
        every, (last, _) = self.memory(self.tokens(x))
        return self.head(every.mean(1)), last


MODELS = {
    "cnn": (Convolutional, lambda: torch.randn(2, 3, 8, 8)),
    "gpt": (Attending, lambda: torch.randint(0, 30, (2, 8))),
    "lstm": (Recurrent, lambda: torch.randint(0, 30, (2, 5))),
}


@pytest.fixture(scope="module")
def clean() -> dict[str, Comparison]:
    done = {}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for name, (model, example) in MODELS.items():
            side, batch = TorchSide(model()), (example().numpy(),)
            with_onnx = exported(side, batch)
            done[name] = compare_on(side, with_onnx, batch)
            with_onnx.close()
    return done


def pairs(done: Comparison) -> dict[str, str]:
    return {step.target.name: step.node.name for step in done.steps if step.how == "name"}


@pytest.mark.parametrize("name", MODELS)
def test_no_pair_of_a_clean_export_is_wrong(clean, name):
    assert clean[name].same
    assert max(step.score.score for step in clean[name].steps) <= LIMIT


@pytest.mark.parametrize(("name", "at_least"), [("cnn", 7), ("gpt", 20), ("lstm", 5)])
def test_nearly_all_values_are_paired_by_the_exporters_word(clean, name, at_least):
    assert len(pairs(clean[name])) >= at_least


def test_a_convolution_fused_with_its_normalisation_is_the_normalisation(clean):
    found = {node: value for value, node in pairs(clean["cnn"]).items()}
    assert found["batch_norm"] == "getitem"
    assert "conv2d" not in found


def test_an_operation_that_the_exporter_takes_apart_is_paired_by_its_result(clean):
    nodes = set(pairs(clean["cnn"]).values())
    assert {"adaptive_avg_pool2d", "conv_transpose2d", "flatten"} <= nodes


def test_equal_names_that_mean_other_nodes_are_not_believed(clean):
    """`view_1` of the exporter is the reference's `reshape`; its own `view_1` comes in the second round."""
    assert pairs(clean["gpt"])["view_1"] == "reshape"
    assert pairs(clean["gpt"])["view_2"] == "view_1"


def test_the_parts_of_a_recurrent_layer_are_paired_in_their_order(clean):
    steps = {step.target.name: step.node for step in clean["lstm"].steps}
    assert clean["lstm"].graph.nodes[steps["getitem"].name].args[1] == 0
    assert clean["lstm"].graph.nodes[steps["getitem_1"].name].args[1] == 1


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        x = functional.linear(functional.linear(x, self.a.weight), self.b.weight)
        return x.view(2, 2, 2).relu().view(2, 4).sin().view(8)


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference.of(Twice(), (torch.randn(2, 4),))


def told(reference: Reference, node: str, **changed) -> Origin:
    """As an exporter would write it that takes nothing apart."""
    found = reference.nodes[node]
    weights = {
        one.name: f"p_{str(one.target).replace('.', '_')}" for one in found.all_input_nodes if one.op == "get_attr"
    }
    arguments = tuple(weights.get(one.name, one.name) for one in found.all_input_nodes)
    value = reference.value(node)
    return replace(Origin(node, value.op, value.layer, found.meta["stack_trace"], arguments), **changed)


def origins(reference: Reference, *nodes: str, **changed) -> dict[str, Origin]:
    return {node: told(reference, node, **changed) for node in nodes}


ALL = ("linear", "linear_1", "view", "relu", "view_1", "sin", "view_2")


def test_what_an_exporter_leaves_as_it_is_is_paired_with_itself(reference):
    assert partners(reference, origins(reference, *ALL)) == {name: name for name in ALL}


def test_a_gap_in_the_numbers_is_a_value_that_was_fused(reference):
    found = partners(reference, origins(reference, "linear", "linear_1", "view", "view_2"))
    assert found["view_2"] == "view_2"


def test_nothing_is_said_when_it_could_be_one_of_several(reference):
    assert partners(reference, origins(reference, "view_1")) == {}


def test_a_value_of_other_weights_is_not_paired(reference):
    """In the order of the file alone the two would be exchanged."""
    first, second = told(reference, "linear"), told(reference, "linear_1")
    swapped = {
        "p": replace(first, node="linear", arguments=("x", "p_b_weight")),
        "q": replace(second, node="linear_1", arguments=("linear", "p_a_weight")),
    }
    assert partners(reference, swapped) == {}


def test_a_pair_that_contradicts_what_it_is_computed_from_is_dropped(reference):
    wrong = origins(reference, "relu", "sin")
    wrong["relu"] = replace(wrong["relu"], arguments=("sin",))
    assert partners(reference, wrong) == {}


def test_lines_that_have_moved_since_the_export_do_not_matter(reference):
    moved = {name: replace(one, stack='File "elsewhere.py", line 3') for name, one in origins(reference, *ALL).items()}
    assert partners(reference, moved) == {name: name for name in ALL}


def test_a_model_exported_within_another_is_paired_by_its_lines(reference):
    inner = {name: replace(one, layer="wrapped.model") for name, one in origins(reference, *ALL).items()}
    assert partners(reference, inner) == {name: name for name in ALL}


def test_without_notes_there_are_no_partners():
    assert partners(SimpleNamespace(), {}) == {}
