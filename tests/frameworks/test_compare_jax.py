"""JAX functions against the torch models they are ports of: values, words, lines, weights."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import torch

from sleuth.compare.comparison import compare_on
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.jax_ import JaxSide
from sleuth.compare.sides.torch_ import TorchSide


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.BatchNorm2d(4)
        self.up, self.norm, self.down = torch.nn.Linear(64, 16), torch.nn.LayerNorm(16), torch.nn.Linear(16, 5)
        for parameter in self.parameters():
            torch.nn.init.normal_(parameter, 0, 0.3)
        self.bn.running_mean.normal_()
        self.bn.running_var.uniform_(0.1, 2)

    def forward(self, x):
        h = torch.relu(self.bn(self.conv(x))).flatten(1)
        h = self.up(h.reshape(len(x), 4, 64).mean(1))
        h = h + torch.nn.functional.gelu(self.norm(h))
        return torch.softmax(self.down(h), -1)


def conv(x, p):
    y = jax.lax.conv_general_dilated(x, p["weight"], (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return y + p["bias"][:, None, None]


def batch_norm(x, p, epsilon):
    scale = p["weight"] * jax.lax.rsqrt(p["running_var"] + epsilon)
    return (x - p["running_mean"][:, None, None]) * scale[:, None, None] + p["bias"][:, None, None]


def linear(x, p):
    return x @ p["weight"].T + p["bias"]


def layer_norm(x, p, epsilon):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + epsilon) * p["weight"] + p["bias"]


@partial(jax.jit, static_argnames=("of_batch", "of_layer", "approximate"))
def port(p, x, of_batch=1e-5, of_layer=1e-5, approximate=False):
    h = jax.nn.relu(batch_norm(conv(x, p["conv"]), p["bn"], of_batch)).reshape(x.shape[0], -1)
    h = linear(h.reshape(x.shape[0], 4, 64).mean(1), p["up"])
    h = h + jax.nn.gelu(layer_norm(h, p["norm"], of_layer), approximate=approximate)
    return jax.nn.softmax(linear(h, p["down"]), -1)


@pytest.fixture(scope="module")
def pair() -> Any:
    torch.manual_seed(0)
    model = Model().eval()
    params: dict[str, dict[str, Any]] = {}
    for name, tensor in model.state_dict().items():
        layer, _, part = name.partition(".")
        params.setdefault(layer, {})[part] = tensor.numpy().copy()
    return model, params, torch.randn(6, 3, 8, 8).numpy()


def test_a_faithful_port_is_the_same_at_every_value(pair: Any) -> None:
    model, params, x = pair
    side = JaxSide(port, params)
    done = compare_on(TorchSide(model), side, (x,))
    assert done.same
    assert not any(step.score.parted for step in done.steps)
    paired = {(step.node.op, step.target.op) for step in done.steps}
    for op in ("conv2d", "batch_norm", "relu", "linear", "layer_norm", "gelu", "add", "softmax"):
        assert (op, op) in paired, op


@pytest.mark.parametrize(
    ("mistake", "node", "function", "diagnosis"),
    [
        ({"of_batch": 1e-3}, "batch_norm", "batch_norm", "epsilon-differs"),
        ({"of_layer": 1e-3}, "layer_norm", "layer_norm", "epsilon-differs"),
        ({"approximate": True}, "gelu", "", None),
    ],
    ids=["batch norm", "layer norm", "gelu"],
)
def test_a_mistake_is_found_where_it_is_with_the_users_line(
    pair: Any, mistake: dict[str, Any], node: str, function: str, diagnosis: str | None
) -> None:
    model, params, x = pair
    done = compare_on(TorchSide(model), JaxSide(partial(port, **mistake), params), (x,))
    assert not done.same
    trouble = done.troubles[0]
    assert trouble.parting.node == node
    assert trouble.step is not None
    assert trouble.step.target.layer == function
    assert trouble.step.target.place is not None
    assert trouble.step.target.place.path.endswith("test_compare_jax.py")
    if diagnosis is not None:
        assert trouble.explanation is not None
        assert trouble.explanation.diagnosis == diagnosis


def test_pieces_of_a_layer_are_not_compared(pair: Any) -> None:
    _, params, x = pair
    words = [value.op for value in JaxSide(port, params).capture((x,)).values]
    assert not {"rsqrt", "sub", "erf", "erfc", "exp"} & set(words)


def test_the_answers_are_the_functions_own(pair: Any) -> None:
    _, params, x = pair
    side = JaxSide(port, params)
    captured = side.capture((x,), ["dot_general"])
    np.testing.assert_array_equal(captured.outputs[0], np.asarray(port(params, x)))
    assert set(captured.arrays) <= {"dot_general"}


def test_float64_is_the_torch_model_in_float64(pair: Any) -> None:
    model, params, x = pair
    truth = model.double()(torch.from_numpy(x).double()).detach().numpy()
    model.float()
    found = JaxSide(port, params).run64((x,))[0]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, truth, rtol=1e-12)
    assert jnp.ones(1).dtype == np.float32


def test_weights_have_dotted_paths(pair: Any) -> None:
    side = JaxSide(port, {"layers": [{"w": jnp.ones((2, 3), jnp.bfloat16)}], "b": np.zeros(2, "float32")})
    assert {name: array.dtype.name for name, array in side.weights().items()} == {
        "layers.0.w": "float32",
        "b": "float32",
    }


def looped(x):
    total = jax.lax.fori_loop(0, 3, lambda _, y: y * 1.5, x)
    chosen = jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, total)
    return {"b": jax.checkpoint(jnp.tanh)(chosen), "a": x.astype(jnp.int32)}


def test_loops_and_branches_are_one_value_and_outputs_are_flat() -> None:
    x = np.array([1.0, 2.0], "float32")
    captured = JaxSide(looped).capture((x,))
    np.testing.assert_array_equal(captured.outputs[0], [1, 2])
    np.testing.assert_allclose(captured.outputs[1], np.tanh(np.sin(x * 1.5**3)), rtol=1e-6)
    assert [value.op for value in captured.values][-2:] == ["cond", "tanh"]
    np.testing.assert_allclose(captured.arrays["tanh"], captured.outputs[1])


def test_a_function_that_fails_is_told_in_one_line() -> None:
    with pytest.raises(CannotCompare, match="looped cannot be run on these inputs: ") as raised:
        JaxSide(looped).run((np.zeros((0,), "float32"),))
    assert "\n" not in str(raised.value)
