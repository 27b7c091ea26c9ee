"""The generator of random faults that the benchmark draws from: seeded, visible, and honest about where a fault is."""

from __future__ import annotations

import copy
import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
WORDS = "networks onnx_faults onnx_exact onnx_graph judge tally fault weight_faults"


@pytest.fixture(scope="module")
def generator() -> Iterator[SimpleNamespace]:
    """The benchmark's modules, found as its programs find them."""
    state = torch.random.get_rng_state()
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(f"compare.{name}") for name in WORDS.split()})
    finally:
        sys.path.remove(str(BENCHMARKS))
        torch.random.set_rng_state(state)


@pytest.fixture(scope="module")
def exported(generator: SimpleNamespace) -> Any:
    module = generator.networks.trained("unet", 5, steps=2)
    batch = generator.networks.batch("unet", np.random.default_rng(5))
    program = torch.onnx.export(module, tuple(map(torch.from_numpy, batch)), dynamo=True, verbose=False)
    return generator.onnx_faults.Exported(program.model_proto, module, batch)


def drawn(generator: SimpleNamespace, exported: Any, seed: int) -> tuple[Any, Any]:
    return generator.onnx_faults.draw(exported, np.random.default_rng(seed), Counter())


def test_the_same_seed_draws_the_same_fault(generator: SimpleNamespace, exported: Any) -> None:
    first, second, other = (drawn(generator, exported, seed) for seed in (1, 1, 2))

    assert first[1] == second[1]
    assert first[0].SerializeToString() == second[0].SerializeToString()
    assert other[0].SerializeToString() != first[0].SerializeToString()


def test_a_fault_is_visible_in_the_outputs_and_keeps_their_shape(generator: SimpleNamespace, exported: Any) -> None:
    for seed in range(12):
        model, fault = drawn(generator, exported, seed)
        outputs = generator.onnx_graph.run(model, exported.batch)

        assert fault.change > generator.fault.INVISIBLE
        assert [one.shape for one in outputs] == [one.shape for one in exported.right]


def test_all_families_are_drawn(generator: SimpleNamespace, exported: Any) -> None:
    families = {drawn(generator, exported, seed)[1].family for seed in range(24)}

    assert families == {"weights", "attributes", "wiring", "precision"}


def test_drawing_leaves_the_clean_model_as_it_is(generator: SimpleNamespace, exported: Any) -> None:
    before = exported.model.SerializeToString()
    for seed in range(8):
        drawn(generator, exported, seed)

    assert exported.model.SerializeToString() == before


def test_what_changes_nothing_is_dropped_and_counted(
    generator: SimpleNamespace, exported: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(graph: Any, rng: np.random.Generator) -> Any:
        return generator.fault.Fault("weights", "nothing", (), "")

    real = generator.onnx_faults.FAMILIES["weights"]["zeros"]
    monkeypatch.setattr(generator.onnx_faults, "FAMILIES", {"weights": {"nothing": nothing, "zeros": real}})
    dropped: Counter[str] = Counter()
    kinds = {generator.onnx_faults.draw(exported, np.random.default_rng(seed), dropped)[1].what for seed in range(6)}

    assert "nothing" not in kinds
    assert dropped["invisible"] > 0


def test_the_exact_evaluator_agrees_with_pytorch_in_float64(generator: SimpleNamespace) -> None:
    """Also for the recurrent layers, which it computes itself."""
    for kind in ("bilstm", "gru"):
        module = generator.networks.fresh(kind, 3)
        batch = generator.networks.batch(kind, np.random.default_rng(3))
        with torch.no_grad():
            wide = copy.deepcopy(module).double()(*map(torch.from_numpy, batch)).numpy()
        program = torch.onnx.export(module, tuple(map(torch.from_numpy, batch)), dynamo=True, verbose=False)
        exact = generator.onnx_exact.outputs(program.model_proto, batch)

        assert generator.onnx_exact.change([wide], exact) < 1e-8


def test_every_fault_lies_somewhere_in_the_reference(generator: SimpleNamespace, exported: Any) -> None:
    from sleuth.compare.sides.torch_ import TorchSide

    graph = TorchSide(exported.module).reference(exported.batch)
    for seed in range(24):
        fault = drawn(generator, exported, seed)[1]
        places = {name for spot in fault.spots for name in generator.judge.resolved(graph, spot)}

        assert 0 < len(places) < len(graph.names) / 2, fault


def judgement(generator: SimpleNamespace, graph: Any, node: str, region: tuple[str, ...], said: Any, cause: str) -> Any:
    spot = generator.fault.Spot("head", True)
    fault = generator.fault.Fault("weights", "noise", (spot,), "", cause)
    parting = SimpleNamespace(node=node, region=region, others=(), score=SimpleNamespace(score=100.0))
    trouble = SimpleNamespace(parting=parting, explanation=said)
    return generator.judge.judged(SimpleNamespace(troubles=[trouble], graph=graph, same=False), fault)


def test_the_judge_tells_node_region_and_wrong_apart(generator: SimpleNamespace, exported: Any) -> None:
    from sleuth.compare.sides.torch_ import TorchSide

    graph = TorchSide(exported.module).reference(exported.batch)
    head = next(name for name in graph.names if graph.value(name).layer == "head")
    first = next(name for name in graph.names if graph.value(name).layer == "down1.conv")

    assert judgement(generator, graph, head, (head,), None, "weights differ")["place"] == "node"
    assert judgement(generator, graph, first, (head, first), None, "weights differ")["place"] == "region"
    assert judgement(generator, graph, first, (first,), None, "weights differ")["place"] == "wrong"


@pytest.mark.parametrize(
    ("diagnosis", "cause", "verdict"),
    [
        ("weights-stale", "weights differ", "right"),
        ("epsilon-differs", "weights differ", "wrong"),
        ("weights-stale", "", "wrong"),
        ("kernel-flipped", "kernel flip", "right"),
    ],
)
def test_the_judge_accepts_a_cause_only_by_its_names(
    generator: SimpleNamespace, exported: Any, diagnosis: str, cause: str, verdict: str
) -> None:
    from sleuth.compare.sides.torch_ import TorchSide

    graph = TorchSide(exported.module).reference(exported.batch)
    head = next(name for name in graph.names if graph.value(name).layer == "head")
    said = SimpleNamespace(node=head, diagnosis=diagnosis, rivals=(), proposal=SimpleNamespace(says="so"))

    assert judgement(generator, graph, head, (head,), said, cause)["cause"] == verdict


def test_the_interval_of_none_in_three_hundred_reaches_just_over_one_percent(generator: SimpleNamespace) -> None:
    none = generator.tally.share(0, 300)

    assert none["interval"][0] == 0.0
    assert 0.012 < none["interval"][1] < 0.013


def test_the_result_is_written_where_a_package_that_no_pair_needs_is_missing(
    generator: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = importlib.import_module("compare_faults")
    missing = "a-package-that-nobody-has"
    monkeypatch.setattr(program, "PACKAGES", ("torch", missing))
    out = tmp_path / "result.json"
    program.write(["onnx"], SimpleNamespace(seed=1, out=out), tmp_path, 0.0)
    told = json.loads(out.read_text())["versions"]
    assert told[missing] is None
    assert told["torch"]
