"""The benchmark's ports to Keras compute what PyTorch computes, and the faults that are put into them can be seen."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

keras = pytest.importorskip("keras")
pytest.importorskip("onnx")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def ports() -> Iterator[SimpleNamespace]:
    state = torch.random.get_rng_state()
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield SimpleNamespace(
            **{
                name: importlib.import_module(f"compare.{name}")
                for name in ("networks", "keras_faults", "fault", "judge")
            }
        )
    finally:
        sys.path.remove(str(BENCHMARKS))
        torch.random.set_rng_state(state)


@pytest.mark.parametrize("kind", ["gru", "gpt-sdpa", "vit"])
def test_a_clean_port_agrees_with_pytorch_to_the_noise_of_float32(ports: SimpleNamespace, kind: str) -> None:
    module = ports.networks.trained(kind, 4, steps=2)
    batch = ports.networks.batch(kind, np.random.default_rng(4))
    with torch.no_grad():
        right = module(*map(torch.from_numpy, batch)).numpy()
    got = ports.keras_faults.Ported(kind, module, batch).right[0]

    assert np.linalg.norm(got - right) < 2e-6 * np.linalg.norm(right)


def test_a_fault_in_a_port_is_visible_seeded_and_somewhere_in_the_reference(ports: SimpleNamespace) -> None:
    from sleuth.compare.sides.torch_ import TorchSide

    module = ports.networks.fresh("gpt-sdpa", 4)
    batch = ports.networks.batch("gpt-sdpa", np.random.default_rng(4))
    ported = ports.keras_faults.Ported("gpt-sdpa", module, batch)
    graph = TorchSide(module).reference(batch)
    for seed in range(6):
        model, fault = ports.keras_faults.draw(ported, np.random.default_rng(seed), Counter())
        _, again = ports.keras_faults.draw(ported, np.random.default_rng(seed), Counter())
        moved = np.linalg.norm(ports.keras_faults.answers(model, batch)[0] - ported.right[0])

        assert again == fault
        assert moved > ports.fault.INVISIBLE * np.linalg.norm(ported.right[0])
        assert all(ports.judge.resolved(graph, spot) for spot in fault.spots), fault
