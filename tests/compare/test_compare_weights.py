"""Files of weights: what is the same in another layout is found, and the code that is offered really converts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file
from torch import nn

from sleuth.compare.side import CannotCompare
from sleuth.compare.weights.changes import changes
from sleuth.compare.weights.code import conversion
from sleuth.compare.weights.matching import match
from sleuth.compare.weights.reading import read


def drawn(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def converted(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(conversion(match(first, second), second), namespace)
    return namespace["convert"](first)


def assert_converts(first: dict[str, Any], second: dict[str, Any]) -> None:
    made = converted(first, second)
    assert made.keys() == second.keys()
    for name, array in second.items():
        np.testing.assert_allclose(made[name], array, rtol=1e-6, atol=1e-7)


FIRST = {
    "conv.weight": drawn(8, 4, 3, 5, seed=1),
    "conv.bias": drawn(8, seed=2),
    "fc.weight": drawn(10, 6, seed=3),
    "fc.bias": drawn(10, seed=4),
}


def test_the_same_weights_are_the_same() -> None:
    found = match(FIRST, dict(FIRST))
    assert found.same
    assert all(one.change.nothing and one.how == "same" for one in found.matches)


def test_the_layout_of_keras_is_found_and_converted() -> None:
    second = {
        "conv2d/kernel": FIRST["conv.weight"].transpose(2, 3, 1, 0),
        "conv2d/bias": FIRST["conv.bias"],
        "dense/kernel": FIRST["fc.weight"].T,
        "dense/bias": FIRST["fc.bias"],
    }
    found = match(FIRST, second)
    assert found.same
    assert [one.sources[0] for one in found.matches] == list(FIRST)
    assert found.matches[0].change.axes == (2, 3, 1, 0)
    assert_converts(FIRST, second)


def test_a_flipped_kernel_is_found() -> None:
    second = {"kernel": np.flip(FIRST["conv.weight"], (2, 3))}
    [one] = match({"w": FIRST["conv.weight"]}, second).matches
    assert one.change.flipped == (2, 3)
    assert_converts({"w": FIRST["conv.weight"]}, second)


def test_the_gates_of_an_lstm_in_another_order_are_found() -> None:
    parts = np.split(drawn(32, 5, seed=7), 4)
    first, second = {"w": np.concatenate(parts)}, {"kernel": np.concatenate([parts[i] for i in (0, 2, 1, 3)]).T}
    [one] = match(first, second).matches
    assert one.change.blocks == (0, 2, 1, 3)
    assert_converts(first, second)


def test_a_fused_projection_is_joined() -> None:
    first = {name: drawn(6, 6, seed=i) for i, name in enumerate(["q.weight", "k.weight", "v.weight", "o.weight"])}
    second = {"qkv": np.concatenate([first["q.weight"], first["k.weight"], first["v.weight"]]), "o": first["o.weight"]}
    found = match(first, second)
    assert found.same
    assert found.matches[0].sources == ("q.weight", "k.weight", "v.weight")
    assert_converts(first, second)


def test_two_biases_are_added_up() -> None:
    first = {"bias_ih_l0": drawn(12, seed=1), "bias_hh_l0": drawn(12, seed=2)}
    second = {"lstm/bias": first["bias_ih_l0"] + first["bias_hh_l0"]}
    [one] = match(first, second).matches
    assert one.how == "added"
    assert_converts(first, second)


def test_equal_arrays_are_told_apart_by_their_names() -> None:
    first = {
        f"layer{i}.{part}": np.full(4, part == "weight", np.float32) for i in (1, 2) for part in ("weight", "bias")
    }
    second = {f"layer{i}/{part}": np.full(4, part == "gamma", np.float32) for i in (2, 1) for part in ("beta", "gamma")}
    found = {one.name: one.sources[0] for one in match(first, second).matches}
    assert found == {
        "layer2/beta": "layer2.bias",
        "layer2/gamma": "layer2.weight",
        "layer1/beta": "layer1.bias",
        "layer1/gamma": "layer1.weight",
    }


def test_half_precision_is_rounded_and_not_another_number() -> None:
    [one] = match({"w": FIRST["fc.weight"]}, {"w": FIRST["fc.weight"].astype(np.float16)}).matches
    assert one.how == "rounded"


def test_other_numbers_missing_and_extra_arrays_are_told() -> None:
    stale = {**FIRST, "fc.weight": FIRST["fc.weight"] + 0.5}
    del stale["conv.bias"]
    stale["scale"] = drawn(1, seed=9)
    found = match(FIRST, stale)
    assert not found.same
    assert [one.name for one in found.matches if one.how == "differs"] == ["fc.weight"]
    assert found.missing == ["conv.bias"]
    assert found.extra == ["scale"]
    assert "nothing to make 'scale' of" in conversion(found, stale)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(2, 4), min_size=1, max_size=4), st.data())
def test_every_change_of_layout_is_found_again(shape: list[int], data: st.DataObject) -> None:
    array = drawn(*shape, seed=3)
    order = data.draw(st.permutations(range(len(shape))))
    wanted = tuple(shape[axis] for axis in order)
    change = data.draw(st.sampled_from(list(changes(tuple(shape), wanted))))
    assert_converts({"a": array}, {"b": change(array)})


def test_every_format_is_read(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    arrays = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    np.savez(tmp_path / "w.npz", **arrays)
    save_file(arrays, tmp_path / "w.safetensors")
    torch.save({"state_dict": model.state_dict(), "epoch": 3}, tmp_path / "w.ckpt")
    torch.save(model.state_dict(), tmp_path / "w.pt")
    torch.export.save(torch.export.export(model, (torch.ones(1, 3),)), tmp_path / "w.pt2")
    graph = helper.make_graph(
        [helper.make_node("Identity", ["weight"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    onnx.save(helper.make_model(graph), tmp_path / "w.onnx")
    for suffix in ("npz", "safetensors", "ckpt", "pt", "pt2", "onnx"):
        found = read(tmp_path / f"w.{suffix}")
        assert {name: array.tolist() for name, array in found.items()} == {n: a.tolist() for n, a in arrays.items()}


class Loud:
    def __reduce__(self) -> Any:
        return (print, ("executed",))


def test_a_pickle_is_not_executed_unless_it_is_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"weight": torch.ones(2), "loud": Loud()}, tmp_path / "w.pt")
    with pytest.raises(CannotCompare, match="--trust"):
        read(tmp_path / "w.pt")
    assert capsys.readouterr().out == ""
    assert list(read(tmp_path / "w.pt", trust=True)) == ["weight"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.npz", None, "no such file"),
        ("w.txt", b"", "a file of weights is one of"),
        ("w.npz", b"not a zip", "cannot be read"),
        ("w.safetensors", b"\x00" * 16, "cannot be read"),
        ("w.pt", b"\x80\x04garbage", "cannot be read|pickle"),
        ("w.onnx", b"garbage", "cannot be read|holds no weights"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CannotCompare, match=says) as refused:
        read(tmp_path / name)
    assert "\n" not in str(refused.value)


def test_a_fused_projection_is_cut_into_unequal_pieces() -> None:
    parts = {"q": drawn(8, 6, seed=1), "k": drawn(4, 6, seed=2), "v": drawn(4, 6, seed=3)}
    for turned in (False, True):
        whole = np.concatenate(list(parts.values()))
        first = {"norm": drawn(6, seed=9), "qkv": whole.T if turned else whole}
        second = {**{name: part.T for name, part in parts.items()}, "norm": first["norm"]}
        assert match(first, second).same
        assert_converts(first, second)


def test_the_two_biases_of_a_gru_are_one_array_in_keras_and_back() -> None:
    first = {"bias_ih": drawn(12, seed=1), "bias_hh": drawn(12, seed=2), "w": drawn(12, 5, seed=3)}
    second = {
        "bias": np.stack(
            [np.concatenate([np.split(first[name], 3)[i] for i in (1, 0, 2)]) for name in list(first)[:2]]
        ),
        "kernel": np.concatenate([np.split(first["w"], 3)[i] for i in (1, 0, 2)]).T,
    }
    for one, other in ((first, second), (second, first)):
        assert match(one, other).same
        assert_converts(one, other)


def test_columns_behind_a_flatten_in_another_order_are_found() -> None:
    weight = drawn(10, 4 * 3 * 3, seed=1)
    flattened = weight.reshape(10, 4, 3, 3).transpose(0, 2, 3, 1).reshape(10, 36)
    for wanted in (flattened, flattened.T):
        assert match({"fc": weight}, {"fc": wanted}).same
        assert_converts({"fc": weight}, {"fc": wanted})


def test_heads_that_are_interleaved_are_found() -> None:
    weight = drawn(3 * 4 * 2, 8, seed=1)
    interleaved = weight.reshape(3, 4, 2, 8).swapaxes(0, 1).reshape(24, 8)
    assert_converts({"qkv": weight}, {"qkv": interleaved})
    assert match({"qkv": weight}, {"qkv": interleaved}).same


def test_bfloat16_is_rounded_and_a_small_step_is_another_number() -> None:
    weight = drawn(40, 40)
    rounded = torch.from_numpy(weight).bfloat16().float().numpy()
    assert [one.how for one in match({"w": weight}, {"w": rounded}).matches] == ["rounded"]
    assert [one.how for one in match({"w": weight}, {"w": weight * 1.0005}).matches] == ["differs"]


def test_shared_weights_that_are_kept_once_are_neither_missing_nor_extra() -> None:
    once = {"embedding": drawn(9, 4), "norm": np.ones(4)}
    twice = {**once, "head": once["embedding"]}
    assert match(once, twice).same
    assert match(twice, once).same
    assert_converts(once, twice)
    assert match({**once, "norm2": np.ones(4)}, once).missing == ["norm2"]  # ones are no sign of sharing


def test_a_counter_of_batches_is_no_weight() -> None:
    first = {"bn.weight": drawn(4), "bn.num_batches_tracked": np.array(7)}
    second = {"gamma": first["bn.weight"]}
    assert match(first, second).same
    assert match(second, first).same
    assert converted(second, first)["bn.num_batches_tracked"] == 0


def test_noise_is_no_pickle_to_be_trusted(tmp_path: Path) -> None:
    (tmp_path / "w.pt").write_bytes(b"<html>not found</html>")
    with pytest.raises(CannotCompare, match="cannot be read"):
        read(tmp_path / "w.pt", trust=True)


def test_the_state_of_training_in_a_keras_file_is_no_weight(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.weights.h5", "w") as file:
        for name in ("layers/dense/vars/0", "optimizer/vars/0", "layers/dropout/seed_generator/vars/0"):
            file[name] = drawn(3)
    assert list(read(tmp_path / "a.weights.h5")) == ["layers/dense/vars/0"]


def test_heads_as_an_axis_of_their_own_are_found_and_back() -> None:
    projection, output = drawn(3 * 12, 12, seed=1), drawn(12, 12, seed=2)
    keras = {name: part.T.reshape(12, 3, 4) for name, part in zip("kqv", np.split(projection, 3), strict=True)}
    first, second = {"in_proj": projection, "out_proj": output}, {**keras, "output": output.T.reshape(3, 4, 12)}
    for one, other in ((first, second), (second, first), (first, dict(sorted(second.items(), reverse=True)))):
        assert match(one, other).same
        assert_converts(one, other)


def test_parts_in_any_order_are_joined() -> None:
    first = {name: drawn(6, 6, seed=i) for i, name in enumerate("kqv")}
    second = {"qkv": np.concatenate([first[name].T for name in "qkv"]), "in": np.zeros((2, 2))}
    assert match({**first, "in": np.zeros((2, 2))}, second).same
    assert_converts({**first, "in": np.zeros((2, 2))}, second)


def test_an_array_of_one_number_is_a_number() -> None:
    assert_converts({"a": np.array([3.5])}, {"a": np.array(3.5)})


class Normalised(nn.Sequential):
    """A convolution, a depthwise one with a bias, a pointwise one and a dense layer, each with its normalisation."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        layers = [
            nn.Conv2d(3, 8, 3, bias=False), nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 8, 1), nn.Linear(8, 8),
        ]  # fmt: skip
        norms = [nn.BatchNorm2d(8), nn.BatchNorm2d(8, eps=2e-3), nn.BatchNorm2d(8, affine=False), nn.BatchNorm1d(8)]
        super().__init__(*(one for pair in zip(layers, norms, strict=True) for one in pair))
        for norm in norms:
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.1, 3)
            if norm.affine:
                nn.init.uniform_(norm.weight, -2, 2)
                nn.init.normal_(norm.bias)

    def folded(self) -> dict[str, Any]:
        """By PyTorch itself."""
        from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

        self.eval()
        parts = {}
        for place in range(0, len(self), 2):
            fuse = fuse_linear_bn_eval if isinstance(self[place], nn.Linear) else fuse_conv_bn_eval
            parts[f"layer{place}"] = fuse(self[place], self[place + 1])
        return arrays(nn.ModuleDict(parts))


def arrays(model: nn.Module) -> dict[str, Any]:
    return {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}


def test_batch_normalisation_folded_into_the_layer_before_is_found_and_converted() -> None:
    first, second = arrays(Normalised()), Normalised().folded()
    found = match(first, second)
    assert found.same
    assert {one.how for one in found.matches} == {"folded"}
    weights = {one.name: one.fold for one in found.matches if one.name.endswith("weight")}
    assert [fold.norm.name for fold in weights.values()] == ["1", "3", "5", "7"]
    assert [fold.weight for fold in weights.values()] == ["0.weight", "2.weight", "4.weight", "6.weight"]
    assert weights["layer0.weight"].epsilon == 1e-5
    assert weights["layer2.weight"].epsilon == pytest.approx(2e-3, rel=0.1)
    assert_converts(first, second)


def test_a_folded_kernel_in_the_layout_of_keras_is_found_and_converted() -> None:
    first, second = arrays(Normalised()), Normalised().folded()
    turned = {name: array.transpose(2, 3, 1, 0) if array.ndim == 4 else array.T for name, array in second.items()}
    assert match(first, turned).same
    assert_converts(first, turned)


def test_normalisation_that_only_the_second_keeps_apart_is_told_and_no_loss() -> None:
    first, second = Normalised().folded(), arrays(Normalised())
    found = match(first, second)
    assert found.same
    assert sorted(fold.norm.name for fold in found.unfolded) == ["1", "3", "5", "7"]


def test_fresh_normalisation_is_folded_though_its_zeros_and_ones_are_like_any_others() -> None:
    fresh = nn.Sequential(
        nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, bias=False), nn.LayerNorm(4)
    )
    whole = torch.nn.utils.fusion.fuse_conv_bn_eval(fresh[0].eval(), fresh[1].eval())
    found = match(arrays(fresh), arrays(nn.Sequential(whole, nn.Identity(), fresh[2], fresh[3])))
    assert found.same
    assert [one.name for one in found.matches if one.how == "folded"] == ["0.weight", "0.bias"]


def test_a_layer_that_was_folded_and_then_changed_has_other_numbers() -> None:
    first, second = arrays(Normalised()), Normalised().folded()
    second["layer0.bias"] = second["layer0.bias"] + 0.01
    found = match(first, second)
    assert not found.same
    assert "layer0.weight" not in [one.name for one in found.matches if one.how == "folded"]


def test_models_that_keep_their_normalisation_are_not_called_folded() -> None:
    first = arrays(Normalised())
    found = match(first, {f"model.{name}": array for name, array in first.items()})
    assert found.same
    assert not any(one.fold for one in found.matches)


def test_folding_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sleuth.cli import main

    paths = [str(tmp_path / name) for name in ("trained.npz", "deployed.npz")]
    for path, weights in zip(paths, (arrays(Normalised()), Normalised().folded()), strict=True):
        np.savez(path, **weights)
    assert main(["compare", "--weights", *paths]) == 0
    said = capsys.readouterr().out
    assert ": 4 layers with batch normalisation folded in\n" in said
    assert "layer0.weight and layer0.bias = 0.weight with 1 folded in (epsilon 1e-05)" in said
    assert "missing" not in said
    assert main(["compare", "--weights", *reversed(paths)]) == 0
