"""Models of other libraries tell what they take, and are opened as they are given."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare import fit
from sleuth.compare.inputs import generated, limits_of, settle
from sleuth.compare.opening import open_side
from sleuth.compare.sides.torch_ import TorchSide

SMALL = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 64}
TINY = {
    "vocab_size": 99, "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 1,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def bert(transformers: Any) -> Any:
    return transformers.BertModel(transformers.BertConfig(**SMALL, max_position_embeddings=40))


def llama(transformers: Any) -> Any:
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL, num_key_value_heads=2))


def t5(transformers: Any) -> Any:
    config = transformers.T5Config(vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4)
    return transformers.T5Model(config)


def vit(transformers: Any) -> Any:
    sizes = {name: size for name, size in SMALL.items() if name != "vocab_size"}
    return transformers.ViTForImageClassification(transformers.ViTConfig(**sizes, image_size=32, patch_size=8))


def whisper(transformers: Any) -> Any:
    return transformers.WhisperModel(transformers.WhisperConfig(**TINY, num_mel_bins=8, max_source_positions=50))


WORDS = ["input_ids", "attention_mask"]


@pytest.mark.parametrize(
    ("build", "inputs", "outputs"),
    [
        (bert, WORDS, ("last_hidden_state", "pooler_output")),
        (llama, WORDS, ("logits",)),
        (t5, [*WORDS, "decoder_input_ids"], ("last_hidden_state", "encoder_last_hidden_state")),
        (vit, ["pixel_values"], ("logits",)),
        (whisper, ["input_features", "decoder_input_ids"], ("last_hidden_state", "encoder_last_hidden_state")),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_hugging_face_model_tells_what_it_takes_and_gives(build: Any, inputs: list[str], outputs: Any) -> None:
    side = open_side(build(pytest.importorskip("transformers")))
    assert isinstance(side, TorchSide)
    example = settle(side)
    assert [one.name for one in side.inputs] == inputs
    graph = side.reference(example)
    for ours, own in zip(graph.run(example, torch.float32), side.run(example), strict=True):
        assert abs(ours - own).max() < 1e-4
    assert side.output_names == outputs


def test_a_hugging_face_models_ids_stay_in_its_vocabulary() -> None:
    side = open_side(bert(pytest.importorskip("transformers")))
    samples = {one.label: one for one in generated(side)}
    assert limits_of(side, samples["random"].batch)["input_ids"].most == 98
    assert samples["length 40"].batch[1].shape == (2, 40)
    assert not samples["random"].batch[1].all()


def test_the_users_own_model_keeps_its_cache() -> None:
    model = llama(pytest.importorskip("transformers"))
    open_side(model).run((np.zeros((1, 3), np.int64),))
    assert model.config.use_cache


def test_lightnings_example_is_the_signature() -> None:
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)
            self.example_input_array = torch.randn(7, 5, 3)

        def forward(self, x: Tensor) -> Any:
            return self.layer(x)

    side = open_side(Module())
    settle(side)
    assert [(one.name, one.shape) for one in side.inputs] == [("x", (7, 5, 3))]


def test_a_jax_function_with_its_parameters_is_a_side_that_learns_its_layout() -> None:
    jax = pytest.importorskip("jax")
    kernel = np.random.default_rng(0).standard_normal((3, 3, 3, 4)).astype(np.float32)

    def convolved(params: Any, image: Any) -> Any:
        return jax.lax.conv_general_dilated(image, params, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    model = nn.Conv2d(3, 4, 3, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.from_numpy(kernel).permute(3, 2, 0, 1))
    reference, target = open_side(model), open_side((convolved, jax.numpy.asarray(kernel)))
    example = settle(reference, target)
    [ours], [theirs] = reference.run(example), target.run(fit.to(target, reference, example))
    assert abs(ours - theirs.transpose(0, 3, 1, 2)).max() < 1e-4


def test_a_jax_functions_example_is_its_signature() -> None:
    pytest.importorskip("jax")
    side = open_side((lambda params, x: x * params, np.float32(2), np.ones((4, 3), np.float32)))
    assert settle(side)[0].shape == (4, 3)


def test_a_keras_model_is_opened_and_its_layout_learnt_by_the_port(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    program = """
        import keras
        from torch import nn
        from sleuth.compare import fit
        from sleuth.compare.inputs import settle
        from sleuth.compare.opening import open_side
        model = keras.Sequential([keras.Input((16, 20, 3)), keras.layers.Conv2D(4, 3)])
        model.save("m.keras")
        for held in (model, "keras-torch:m.keras"):
            reference = open_side(held)
            target = open_side(nn.Conv2d(3, 4, 3))
            example = settle(reference, target)
            print(type(reference).__name__, example[0].shape, fit.to(target, reference, example)[0].shape)
            reference.close()
    """
    settings = {**os.environ, "KERAS_BACKEND": "torch", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", dedent(program)], cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
    )
    assert ran.stdout.splitlines() == ["KerasSide (2, 16, 20, 3) (2, 3, 16, 20)"] * 2, ran.stderr
