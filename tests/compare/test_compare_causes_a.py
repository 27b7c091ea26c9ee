"""Faults of single layers, put into ports of real modules, are named, each by its own name; good ports are silent."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

Fault = Callable[[Any], None]


class Images(nn.Module):
    """Convolutions of all sorts; what is done with them is given."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.depthwise = nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.mix = nn.Conv2d(6, 6, (3, 3), padding="same")
        self.up = nn.ConvTranspose2d(6, 6, 3, stride=2, padding=1, output_padding=1)
        self.head = nn.Linear(6, 4)
        self.normed: Callable[[Tensor], Tensor] = lambda x: self.norm(x)
        self.raised: Callable[[Tensor], Tensor] = lambda x: self.up(x)
        self.act: Callable[[Tensor], Tensor] = torch.relu

    def forward(self, image: Tensor) -> Tensor:
        features = self.act(self.normed(self.stem(image)))
        features = features + torch.tanh(self.mix(self.depthwise(features)))
        return self.head(self.raised(features).tanh().mean((2, 3)))


class Volume(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv3d(2, 4, 3, padding=1)
        self.up = nn.ConvTranspose3d(4, 3, 3, stride=2)

    def forward(self, volume: Tensor) -> Tensor:
        return self.up(torch.tanh(self.conv(volume)))


class Sound(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 5, padding=2, groups=2, padding_mode="reflect")
        self.down = nn.Conv1d(6, 6, 4, stride=2)
        self.head = nn.Linear(6, 4)
        self.act: Callable[[Tensor], Tensor] = functional.gelu

    def forward(self, sound: Tensor) -> Tensor:
        return self.head(self.act(self.down(functional.elu(self.conv(sound)))).mean(-1))


class Normalised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Linear(12, 16)
        self.layer = nn.LayerNorm(16)
        self.rms = nn.RMSNorm(16, eps=1e-5)
        self.group = nn.GroupNorm(4, 8)
        self.instance = nn.InstanceNorm1d(8, affine=True)
        self.out = nn.Linear(16, 6)
        self.last: Callable[[Tensor], Tensor] = lambda x: x

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.tanh(self.rms(self.layer(self.into(x))))
        hidden = self.group(hidden)
        return self.last(self.out(self.instance(torch.tanh(hidden) + hidden)))


class Language(nn.Module):
    """As many language models are written: normalisation and activation spelt out."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, 16)
        self.scale = nn.Parameter(1 + 0.2 * torch.randn(16))
        self.gate, self.up = nn.Linear(16, 32, bias=False), nn.Linear(16, 32)
        self.down, self.square = nn.Linear(32, 16, bias=False), nn.Parameter(torch.randn(16, 16) / 4)
        self.head = nn.Linear(16, 30, bias=False)
        self.eps, self.around, self.factor = 1e-6, 0.0, 1.0
        self.act: Callable[[Tensor], Tensor] = lambda x: (
            0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))
        )

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) if self.factor == 1 else self.words(tokens) * self.factor
        scale = self.scale + self.around if self.around else self.scale
        normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * scale
        x = x + self.down(self.act(self.gate(normed)) * self.up(normed))
        return self.head(torch.tanh(x @ self.square))


class Sequences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(5, 7, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(14, 6, batch_first=True)
        self.head = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.gru(self.lstm(x)[0])[0])


def inputs(model: type[nn.Module]) -> Tensor:
    generator = torch.Generator().manual_seed(7)
    if model is Language:
        return torch.randint(0, 30, (2, 6), generator=generator)
    shapes = {
        Images: (2, 3, 10, 12),
        Volume: (1, 2, 4, 5, 6),
        Sound: (2, 4, 15),
        Normalised: (3, 8, 12),
        Sequences: (2, 6, 5),
    }
    return torch.randn(*shapes[model], generator=generator)


def trained(model: type[nn.Module]) -> nn.Module:
    """With biases, scales and statistics as training leaves them: none of them at its first value."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = model().eval()
        with torch.no_grad():
            for name, one in [*made.named_parameters(), *made.named_buffers()]:
                if name.endswith("running_var"):
                    one.copy_(0.3 + torch.rand_like(one))
                elif one.is_floating_point() and one.ndim == 1 and not name.startswith(("lstm", "gru")):
                    one.copy_(0.3 * torch.randn_like(one) + ("weight" in name or name == "scale"))
    return made


def ported(original: nn.Module, fault: Fault) -> nn.Module:
    """Built anew, so that its functions are its own, with the same weights, and then the fault."""
    port = type(original)().eval()
    port.load_state_dict(copy.deepcopy(original.state_dict()))
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(3)
        fault(port)
    return port


def weight(path: str, change: Callable[[Tensor], Tensor]) -> Fault:
    def fault(port: nn.Module) -> None:
        tensor = port.get_parameter(path) if path in dict(port.named_parameters()) else port.get_buffer(path)
        tensor.copy_(change(tensor.clone()))

    return fault


def instead(**parts: Any) -> Fault:
    def fault(port: nn.Module) -> None:
        for name, part in parts.items():
            setattr(port, name, part)

    return fault


def computed(name: str, how: Callable[[Any, Tensor], Tensor]) -> Fault:
    def fault(port: nn.Module) -> None:
        setattr(port, name, lambda x: how(port, x))

    return fault


def layer(name: str, **attributes: Any) -> Fault:
    def fault(port: nn.Module) -> None:
        for attribute, value in attributes.items():
            setattr(getattr(port, name), attribute, value)

    return fault


def formula(name: str, how: Callable[[Any, Tensor], Tensor]) -> Fault:
    """A layer of the port that computes otherwise with its own weights."""

    def fault(port: nn.Module) -> None:
        made = getattr(port, name)
        made.forward = lambda x: how(made, x)

    return fault


def exchanged(first: str, second: str) -> Fault:
    def fault(port: nn.Module) -> None:
        named = {**dict(port.named_parameters()), **dict(port.named_buffers())}
        a, b = named[first].clone(), named[second].clone()
        named[first].copy_(b)
        named[second].copy_(a)

    return fault


def every(*faults: Fault) -> Fault:
    def fault(port: nn.Module) -> None:
        for one in faults:
            one(port)

    return fault


def centred(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True)


def reshaped_from_keras(w: Tensor) -> Tensor:
    return w.permute(2, 3, 1, 0).reshape(w.shape)


LSTM_BIASES = [f"lstm.bias_{kind}_l{n}{way}" for kind in ("ih", "hh") for n in (0, 1) for way in ("", "_reverse")]
FAULTS: dict[str, tuple[type[nn.Module], str, str, Fault]] = {
    "kernels turned around": (
        Images, "kernel-flipped", "turned around", weight("stem.weight", lambda w: w.flip(2, 3)),
    ),
    "kernels flipped in one axis": (
        Images, "kernel-flipped", "in width", weight("mix.weight", lambda w: w.flip(3)),
    ),
    "depthwise kernels turned": (
        Images, "kernel-flipped", "turned around", weight("depthwise.weight", lambda w: w.flip(2, 3)),
    ),
    "kernels of a transposed convolution turned": (
        Images, "kernel-flipped", "turned around", weight("up.weight", lambda w: w.flip(2, 3)),
    ),
    "kernels of a volume turned": (
        Volume, "kernel-flipped", "turned around", weight("conv.weight", lambda w: w.flip(2, 3, 4)),
    ),
    "kernels of a volume flipped in depth": (
        Volume, "kernel-flipped", "in depth", weight("up.weight", lambda w: w.flip(2)),
    ),
    "kernels of a sound turned": (
        Sound, "kernel-flipped", "turned around", weight("conv.weight", lambda w: w.flip(2)),
    ),
    "height and width swapped": (
        Images, "kernel-axes-swapped", "height and the width", weight("stem.weight", lambda w: w.transpose(2, 3)),
    ),
    "in and out swapped": (
        Images, "kernel-axes-swapped", "channels", weight("mix.weight", lambda w: w.transpose(0, 1)),
    ),
    "in and out of a transposed convolution swapped": (
        Images, "kernel-axes-swapped", "channels", weight("up.weight", lambda w: w.transpose(0, 1)),
    ),
    "depth and width swapped": (
        Volume, "kernel-axes-swapped", "depth and the width", weight("conv.weight", lambda w: w.transpose(2, 4)),
    ),
    "kernels reshaped": (
        Images, "kernel-axes-swapped", "reshaped from (height, width, in, out)",
        weight("stem.weight", reshaped_from_keras),
    ),
    "a square matrix transposed": (
        Language, "weights-transposed", "is transposed", weight("square", lambda w: w.t()),
    ),
    "a matrix reshaped": (
        Language, "weights-transposed", "reshaped", weight("up.weight", lambda w: w.t().reshape(w.shape)),
    ),
    "padded as TensorFlow does": (
        Images, "same-padding-asymmetric", "0 before and 1 after, as TensorFlow's SAME",
        formula("stem", lambda m, x: functional.conv2d(functional.pad(x, (0, 1, 0, 1)), m.weight, m.bias, 2)),
    ),
    "padded before only": (
        Sound, "same-padding-asymmetric", "4 before and 0 after",
        formula("conv", lambda m, x: functional.conv1d(
            functional.pad(x, (4, 0), "reflect"), m.weight, m.bias, groups=2)),
    ),
    "padded with zeros": (
        Sound, "same-padding-asymmetric", "with zeros",
        formula("conv", lambda m, x: functional.conv1d(x, m.weight, m.bias, padding=2, groups=2)),
    ),
    "padding lost": (
        Sound, "same-padding-asymmetric", "0 before and 0 after",
        formula("conv", lambda m, x: functional.conv1d(x, m.weight, m.bias, groups=2)),
    ),
    "padded with copies": (
        Images, "same-padding-asymmetric", "copies",
        formula("stem", lambda m, x: functional.conv2d(
            functional.pad(x, (1, 1, 1, 1), "replicate"), m.weight, m.bias, 2)),
    ),
    "cut off at the other end": (
        Images, "same-padding-asymmetric", "cut off",
        formula("up", lambda m, x: functional.conv_transpose2d(x, m.weight, m.bias, 2)[:, :, :-1, :-1]),
    ),
    "batch norm's epsilon": (Images, "epsilon-differs", "0.001, not 1e-05", layer("norm", eps=1e-3)),
    "an unusual epsilon": (Images, "epsilon-differs", "0.0037, not 1e-05", layer("norm", eps=3.7e-3)),
    "layer norm's epsilon": (Normalised, "epsilon-differs", "1e-06, not 1e-05", layer("layer", eps=1e-6)),
    "RMSNorm's epsilon": (Normalised, "epsilon-differs", "0.001, not 1e-05", layer("rms", eps=1e-3)),
    "group norm's epsilon": (Normalised, "epsilon-differs", "0.0001, not 1e-05", layer("group", eps=1e-4)),
    "instance norm's epsilon": (Normalised, "epsilon-differs", "0.001, not 1e-05", layer("instance", eps=1e-3)),
    "an epsilon that is written out": (Language, "epsilon-differs", "0.001, not 1e-06", instead(eps=1e-3)),
    "statistics of the batch": (
        Images, "batch-statistics-in-use", "of the batch",
        formula("norm", lambda m, x: functional.batch_norm(x, None, None, m.weight, m.bias, True)),
    ),
    "mean and variance swapped": (
        Images, "mean-and-variance-swapped", "mean and variance",
        every(exchanged("norm.running_mean", "norm.running_var")),
    ),
    "variance read as deviation": (
        Images, "mean-and-variance-swapped", "standard deviation", weight("norm.running_var", torch.sqrt),
    ),
    "gamma and beta swapped in batch norm": (
        Images, "mean-and-variance-swapped", "gamma and beta", exchanged("norm.weight", "norm.bias"),
    ),
    "gamma and beta swapped in group norm": (
        Normalised, "mean-and-variance-swapped", "gamma and beta", exchanged("group.weight", "group.bias"),
    ),
    "unbiased variance": (
        Normalised, "norm-formula-differs", "divides by n - 1",
        formula("layer", lambda m, x: centred(x) / (x.var(-1, keepdim=True) + m.eps).sqrt() * m.weight + m.bias),
    ),
    "unbiased and epsilon outside": (
        Normalised, "norm-formula-differs", "outside the root",
        formula("layer", lambda m, x: centred(x) / (x.std(-1, keepdim=True) + m.eps) * m.weight + m.bias),
    ),
    "RMSNorm for LayerNorm": (
        Normalised, "norm-formula-differs", "RMSNorm",
        formula("layer", lambda m, x: functional.rms_norm(x, m.normalized_shape, m.weight, m.eps)),
    ),
    "LayerNorm for RMSNorm": (
        Normalised, "norm-formula-differs", "LayerNorm",
        formula("rms", lambda m, x: functional.layer_norm(x, m.normalized_shape, m.weight, None, m.eps)),
    ),
    "scale around one": (
        Normalised, "norm-formula-differs", "1 + weight",
        formula("rms", lambda m, x: functional.rms_norm(x, m.normalized_shape, 1 + m.weight, m.eps)),
    ),
    "scale around one, written out": (Language, "norm-formula-differs", "1 + weight", instead(around=1.0)),
    "other groups": (Normalised, "norm-formula-differs", "2 groups, not 4", layer("group", num_groups=2)),
    "no scale and shift": (
        Normalised, "norm-formula-differs", "without its learnt scale",
        instead(layer=nn.LayerNorm(16, elementwise_affine=False)),
    ),
    "normalised over another axis": (
        Normalised, "norm-formula-differs", "axis 1",
        formula("layer", lambda m, x: (x - x.mean(1, keepdim=True)) / (
            x.var(1, correction=0, keepdim=True) + m.eps).sqrt() * m.weight + m.bias),
    ),
    "a linear layer without bias": (Images, "bias-lost", "is lost", weight("head.bias", torch.zeros_like)),
    "a convolution without bias": (Images, "bias-lost", "is lost", weight("stem.bias", torch.zeros_like)),
    "a bias added twice": (Volume, "bias-lost", "twice", weight("up.bias", lambda b: 2 * b)),
    "a norm without shift": (Normalised, "bias-lost", "is lost", weight("layer.bias", torch.zeros_like)),
    "an LSTM without biases": (
        Sequences, "bias-lost", "biases are lost", every(*(weight(name, torch.zeros_like) for name in LSTM_BIASES)),
    ),
    "a GRU without recurrent bias": (Sequences, "bias-lost", "recurrent", weight("gru.bias_hh_l0", torch.zeros_like)),
    "GELU by tanh": (
        Sound, "activation-differs", "gelu by tanh, not gelu",
        instead(act=lambda x: functional.gelu(x, approximate="tanh")),
    ),
    "quick GELU": (Sound, "activation-differs", "quick gelu", instead(act=lambda x: x * torch.sigmoid(1.702 * x))),
    "a GELU that is written out": (
        Language, "activation-differs", "gelu, not gelu by tanh", instead(act=functional.gelu),
    ),
    "leaky for plain": (
        Images, "activation-differs", "slope 0.2", instead(act=lambda x: functional.leaky_relu(x, 0.2)),
    ),
    "a missing activation": (Images, "activation-differs", "left out", instead(act=lambda x: x)),
    "hard swish": (Images, "activation-differs", "hard swish", instead(act=functional.hardswish)),
    "an additional activation": (
        Images, "activation-differs", "sigmoid", computed("raised", lambda m, x: m.up(torch.sigmoid(x))),
    ),
    "probabilities for logits": (Normalised, "activation-differs", "softmax", instead(last=lambda x: x.softmax(-1))),
    "noise on a row": (
        Images, "weights-stale", "not the reference's",
        weight("mix.weight", lambda w: torch.cat([w[:1] + 0.01 * torch.randn_like(w[:1]), w[1:]])),
    ),
    "a layer never loaded": (
        Normalised, "weights-stale", "not the reference's",
        every(weight("out.weight", torch.randn_like), weight("out.bias", torch.randn_like)),
    ),
    "a norm never loaded": (
        Images, "weights-stale", "never loaded", lambda port: port.norm.reset_parameters(),
    ),
    "weights that are zeros": (Volume, "weights-stale", "never loaded: zeros", weight("up.weight", torch.zeros_like)),
    "embeddings of an older file": (
        Language, "weights-stale", "not the reference's",
        weight("words.weight", lambda w: w + 0.01 * torch.randn_like(w)),
    ),
    "an older LSTM": (
        Sequences, "weights-stale", "not the reference's",
        weight("lstm.weight_hh_l1", lambda w: w + 0.01 * torch.randn_like(w)),
    ),
    "an output scaled": (Normalised, "scale-differs", "255 times", instead(last=lambda x: 255 * x)),
    "an output scaled by a root": (Normalised, "scale-differs", "1/sqrt(6) times", instead(last=lambda x: x / 6**0.5)),
    "an output shifted": (Normalised, "scale-differs", "0.5 is added", instead(last=lambda x: x + 0.5)),
    "embeddings scaled": (Language, "scale-differs", "sqrt(16)", instead(factor=4.0)),
}  # fmt: skip
each_fault = pytest.mark.parametrize("name", list(FAULTS))
MODELS = [Images, Volume, Sound, Normalised, Language, Sequences]


@each_fault
def test_a_fault_is_named_by_its_own_name_and_no_other(name: str, told: Callable[..., list[tuple[str, str]]]) -> None:
    model, diagnosis, word, fault = FAULTS[name]
    original = trained(model)
    found = told(original, ported(original, fault), inputs(model))
    assert {diagnosis for diagnosis, _ in found} == {diagnosis}
    assert word in found[0][1]


@pytest.mark.parametrize("model", MODELS)
def test_a_faithful_port_is_silent(model: type[nn.Module], told: Callable[..., list[tuple[str, str]]]) -> None:
    original = trained(model)
    assert told(original, ported(original, lambda port: None), inputs(model)) == []


UNEXPLAINED: dict[str, tuple[type[nn.Module], Fault]] = {
    "a shortcut from elsewhere": (
        Images, computed("normed", lambda m, x: m.norm(x) + x),
    ),
    "channels in another order": (Images, computed("raised", lambda m, x: m.up(x[:, [1, 0, 3, 2, 5, 4]]))),
    "a square of the values": (Normalised, instead(last=lambda x: x + 0.01 * x.square())),
    "a value replaced": (Normalised, instead(last=lambda x: torch.cat([x[:1] + 0.01, x[1:]]))),
}  # fmt: skip


@pytest.mark.parametrize("name", list(UNEXPLAINED))
def test_what_no_cause_explains_stays_unexplained(name: str, told: Callable[..., list[tuple[str, str]]]) -> None:
    model, fault = UNEXPLAINED[name]
    original = trained(model)
    found = told(original, ported(original, fault), inputs(model))
    assert found
    assert {diagnosis for diagnosis, _ in found} == {""}
