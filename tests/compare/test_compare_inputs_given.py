"""Inputs that are given: files, loaders, and the worst sample of a comparison, saved and given again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from sleuth.compare.inputs import Sample, given, load, save
from sleuth.compare.opening import open_side
from sleuth.compare.side import CannotCompare


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    with torch.random.fork_rng():
        yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


class Two(nn.Module):
    def forward(self, ids: Tensor, mask: Tensor, labels: Tensor | None = None) -> Tensor:
        assert labels is None
        return ids * mask


IDS, MASK = np.arange(6).reshape(2, 3), np.ones((2, 3), np.float32)


def refused(what: Any, model: nn.Module, **wishes: Any) -> str:
    with pytest.raises(CannotCompare) as caught:
        given(what, open_side(model), **wishes)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_arrays_are_given_by_name_whatever_their_order() -> None:
    np.savez("inputs.npz", mask=MASK, ids=IDS)
    side = open_side(Two())
    [sample] = given("inputs.npz", side)
    by_name = dict(zip([one.name for one in side.inputs], sample.batch, strict=True))
    assert np.array_equal(by_name["ids"], IDS)
    assert np.array_equal(side.run(sample.batch)[0], IDS * MASK)


def test_arrays_without_such_names_are_given_by_place() -> None:
    np.savez("inputs.npz", IDS, MASK)
    side = open_side(Two())
    assert np.array_equal(side.run(given("inputs.npz", side)[0].batch)[0], IDS * MASK)


@pytest.mark.parametrize("suffix", ["npy", "pt", "safetensors"])
def test_other_files_are_read_too(suffix: str) -> None:
    array = np.ones((2, 4), np.float32)
    if suffix == "npy":
        np.save("x.npy", array)
    elif suffix == "pt":
        torch.save(torch.from_numpy(array), "x.pt")
    else:
        pytest.importorskip("safetensors.torch").save_file({"input": torch.from_numpy(array)}, "x.safetensors")
    [sample] = given(f"x.{suffix}", open_side(nn.Linear(4, 2)))
    assert np.array_equal(sample.batch[0], array)


def test_a_loaders_answers_stay_out() -> None:
    loader = DataLoader(TensorDataset(torch.randn(20, 4), torch.zeros(20)), batch_size=8)
    samples = given(loader, open_side(nn.Linear(4, 2)))
    assert [one.label for one in samples] == ["given, batch 1", "given, batch 2", "given, batch 3"]
    assert [tuple(array.shape for array in one.batch) for one in samples] == [((8, 4),), ((8, 4),), ((4, 4),)]


def test_a_runtime_that_does_not_tell_its_inputs_takes_as_many_as_it_runs_on() -> None:
    scripted = open_side(torch.jit.script(nn.Linear(4, 2)))
    loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.zeros(8)), batch_size=8)
    assert [array.shape for array in given(loader, scripted)[0].batch] == [(8, 4)]


def test_a_loaders_mapping_is_given_by_name_without_its_labels() -> None:
    batches = [{"labels": torch.zeros(2), "mask": torch.tensor(MASK), "ids": torch.tensor(IDS), "text": ["a", "b"]}]
    side = open_side(Two())
    [sample] = given(batches, side)
    assert {one.name for one in side.inputs} == {"ids", "mask"}
    assert np.array_equal(side.run(sample.batch)[0], IDS * MASK)


def test_a_loader_is_given_by_its_python_name() -> None:
    Path("data_of_test.py").write_text(
        "import torch\ndef loader():\n    return [torch.full((3, 4), float(n)) for n in range(9)]\n"
    )
    samples = given("data_of_test.py:loader", open_side(nn.Linear(4, 2)), most=2)
    assert [float(one.batch[0].max()) for one in samples] == [0.0, 1.0]


def test_channels_last_is_turned_about_for_a_convolution() -> None:
    [sample] = given(torch.zeros(2, 9, 9, 3), open_side(nn.Conv2d(3, 4, 3)))
    assert sample.batch[0].shape == (2, 3, 9, 9)


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("none.npz", "none.npz: no such file"),
        ("junk.npz", "junk.npz cannot be read as .npz: it is damaged or something else"),
        ("objects.npz", "objects.npz cannot be read as .npz: it holds Python objects"),
        ("junk.csv", "junk.csv: inputs can be .npz, .npy, .pt, .safetensors, or file.py:loader, not .csv"),
        ([], "given has no batch in it"),
        (3, "the inputs given: neither tensors nor a loader, but int"),
        (["text"], "given holds text where the model takes numbers"),
    ],
)
def test_what_cannot_be_given_is_one_line(what: Any, line: str) -> None:
    Path("junk.npz").write_text("junk")
    Path("junk.csv").write_text("1,2")
    np.savez("objects.npz", np.array([{}], object))
    assert refused(what, nn.Linear(4, 2)) == line


def test_inputs_that_the_model_rejects_are_one_line() -> None:
    line = refused(torch.zeros(2, 5), nn.Linear(4, 2))
    assert line.startswith("Linear cannot be run on given: mat1 and mat2 shapes cannot be multiplied")
    assert refused({"ids": torch.zeros(2)}, Two()) == "given has ids; Two also needs mask"


def test_a_pickle_of_inputs_is_not_run_without_trust() -> None:
    torch.save([nn.Linear(1, 1)], "inputs.pt")
    assert "--trust" in refused("inputs.pt", nn.Linear(4, 2))


@pytest.mark.parametrize("names", [("file", "sleuth"), ("ids", "mask"), ()])
def test_the_worst_sample_is_given_again_bit_by_bit(names: tuple[str, ...]) -> None:
    random = np.random.default_rng(0)
    floats = random.standard_normal((2, 3)).astype(np.float32)
    floats[0] = [np.nan, -0.0, 1e-42]
    sample = Sample("worst found from random", (floats, random.integers(0, 9, (2, 3))), 7)
    again, keys = load(save(sample, "worst.npz", names))
    assert (again.label, again.seed) == (sample.label, sample.seed)
    assert [array.tobytes() for array in again.batch] == [array.tobytes() for array in sample.batch]
    assert [array.dtype for array in again.batch] == [array.dtype for array in sample.batch]
    assert len(keys) == 2
    assert not Path("worst.npz.part").exists()


def test_a_saved_sample_is_given_by_its_names_and_keeps_its_label() -> None:
    sample = Sample("worst found from zeros", (MASK, IDS), 3)
    save(sample, "worst.npz", ("mask", "ids"))
    side = open_side(Two())
    [again] = given("worst.npz", side)
    assert again.label == "worst found from zeros"
    assert np.array_equal(side.run(again.batch)[0], IDS * MASK)
