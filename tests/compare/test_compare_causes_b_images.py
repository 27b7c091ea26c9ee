"""Faults in what is done with images, put into a port, are named; a faithful port is silent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

Change = Callable[[Tensor], Tensor]
Told = Callable[..., list[tuple[str, str]]]
MEAN, DEVIATION = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])


class Net(nn.Module):
    """Convolution, something in the middle, and a linear layer; what comes before and in between is given."""

    def __init__(self, middle: Change, before: Change = lambda x: x, flatten: Change = lambda x: x.flatten(1)) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.head = nn.LazyLinear(5)
        self.before, self.middle, self.flatten = before, middle, flatten

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.head(self.flatten(self.middle(self.conv(self.before(x)))))
        return found


def pool(kind: str = "max", **options: object) -> Change:
    made: Callable[..., Tensor] = getattr(functional, f"{kind}_pool2d")
    return lambda x: made(x, 3, 2, **{"padding": 1, **options})


def resize(mode: str, factor: float = 2, **options: object) -> Change:
    return lambda x: functional.interpolate(x, scale_factor=factor, mode=mode, **options)  # type: ignore[arg-type]


def asymmetric(x: Tensor) -> Tensor:
    """Twice as large, as TensorFlow 1 did it."""
    for axis in (2, 3):
        size = x.shape[axis]
        at = torch.arange(2 * size) / 2
        low = at.long()
        share = (at - low).reshape([-1 if one == axis else 1 for one in range(4)])
        x = x.index_select(axis, low) * (1 - share) + x.index_select(axis, (low + 1).clamp(max=size - 1)) * share
    return x


def padded_with_zeros(x: Tensor) -> Tensor:
    return functional.max_pool2d(functional.pad(x, (1, 1, 1, 1)), 3, 2)


def padded_at_the_end(x: Tensor) -> Tensor:
    return functional.max_pool2d(functional.pad(x, (0, 1, 0, 1), value=float("-inf")), 3, 2)


def same(x: Tensor) -> Tensor:
    return x


CASES = {
    "flattened channels last": (
        Net(pool()),
        Net(pool(), flatten=lambda x: x.permute(0, 2, 3, 1).flatten(1)),
        "flatten-order-differs",
        "height, width, channels",
    ),
    "flattened by columns": (
        Net(pool()),
        Net(pool(), flatten=lambda x: x.transpose(2, 3).reshape(x.shape[0], -1)),
        "flatten-order-differs",
        "channels, width, height",
    ),
    "corners aligned": (
        Net(resize("bilinear")),
        Net(resize("bilinear", align_corners=True)),
        "resize-corners-differ",
        "aligned corners",
    ),
    "corners no longer aligned": (
        Net(resize("bilinear", align_corners=True)),
        Net(resize("bilinear")),
        "resize-corners-differ",
        "half-pixel",
    ),
    "asymmetric": (Net(resize("bilinear")), Net(asymmetric), "resize-corners-differ", "asymmetric"),
    "nearest by centres": (
        Net(resize("nearest", 1.5)),
        Net(resize("nearest-exact", 1.5)),
        "resize-corners-differ",
        "centres of pixels",
    ),
    "bicubic": (Net(resize("bilinear")), Net(resize("bicubic")), "resize-corners-differ", "bicubic"),
    "nearest for bilinear": (Net(resize("bilinear")), Net(resize("nearest")), "resize-corners-differ", "nearest"),
    "antialiased": (
        Net(resize("bilinear", 0.5)),
        Net(resize("bilinear", 0.5, antialias=True)),
        "resize-corners-differ",
        "antialiased",
    ),
    "padding not counted": (
        Net(pool("avg")),
        Net(pool("avg", count_include_pad=False)),
        "pooling-edges-differ",
        "not counted",
    ),
    "mean for maximum": (
        Net(pool()),
        Net(pool("avg", count_include_pad=True)),
        "pooling-edges-differ",
        "takes the mean",
    ),
    "zeros win": (Net(pool()), Net(padded_with_zeros), "pooling-edges-differ", "padded with zeros"),
    "padded at the end": (Net(pool()), Net(padded_at_the_end), "pooling-edges-differ", "at the end"),
    "sizes rounded up": (
        Net(lambda x: functional.avg_pool2d(x, 3, 3).mean((2, 3))),
        Net(lambda x: functional.avg_pool2d(x, 3, 3, ceil_mode=True).mean((2, 3))),
        "pooling-edges-differ",
        "ceil_mode is True",
    ),
    "global maximum": (
        Net(lambda x: functional.adaptive_avg_pool2d(x, 1)),
        Net(lambda x: functional.adaptive_max_pool2d(x, 1)),
        "pooling-edges-differ",
        "takes the maximum",
    ),
    "global mean written out": (
        Net(lambda x: x.mean((2, 3))),
        Net(lambda x: x.amax((2, 3))),
        "pooling-edges-differ",
        "takes the maximum",
    ),
    "BGR": (Net(pool()), Net(pool(), before=lambda x: x.flip(1)), "channels-reversed", "BGR"),
    "reshaped, not transposed": (
        Net(pool()),
        Net(pool(), before=lambda x: x.reshape(x.shape[0], 8, 8, 3).permute(0, 3, 1, 2)),
        "channels-reversed",
        "reshaped",
    ),
    "height and width": (Net(pool()), Net(pool(), before=lambda x: x.mT), "channels-reversed", "height and width"),
    "divided by 255": (
        Net(pool()),
        Net(pool(), before=lambda x: x / 255),
        "input-scaling-differs",
        "divides its input by 255",
    ),
    "to -1…1": (Net(pool()), Net(pool(), before=lambda x: x * 2 - 1), "input-scaling-differs", "to -1…1"),
    "normalised": (
        Net(pool()),
        Net(pool(), before=lambda x: (x - MEAN[:, None, None]) / DEVIATION[:, None, None]),
        "input-scaling-differs",
        "normalises its input by ImageNet",
    ),
    "not normalised": (
        Net(pool(), before=lambda x: (x - MEAN[:, None, None]) / DEVIATION[:, None, None]),
        Net(pool()),
        "input-scaling-differs",
        "does not normalise",
    ),
    "normalised by other numbers": (
        Net(pool()),
        Net(pool(), before=lambda x: (x - MEAN[:, None, None] * 1.1) * 3),
        "input-scaling-differs",
        "changes the input's channels",
    ),
}


def same_weights(reference: nn.Module, port: nn.Module) -> None:
    for module in (reference, port):
        module(batch())
    generator = torch.Generator().manual_seed(2)
    for parameter in reference.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) * 0.3
    port.load_state_dict(reference.state_dict())


def batch() -> Tensor:
    return torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("case", CASES)
def test_the_fault_is_named_and_nothing_else(case: str, told: Told) -> None:
    reference, port, diagnosis, words = CASES[case]
    same_weights(reference, port)
    found = told(reference, port, batch())
    assert [one for one, _ in found] == [diagnosis], found
    assert words in found[0][1]


@pytest.mark.parametrize("case", ["corners aligned", "padding not counted", "not normalised", "nearest by centres"])
def test_a_faithful_port_is_silent(case: str, told: Told) -> None:
    reference = CASES[case][0]
    same_weights(reference, reference)
    assert told(reference, reference, batch()) == []


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("bilinear", {}),
        ("bilinear", {"align_corners": True}),
        ("bicubic", {}),
        ("nearest", {}),
        ("nearest-exact", {}),
        ("bilinear", {"antialias": True}),
        ("bicubic", {"antialias": True}),
    ],
)
@pytest.mark.parametrize("size", [(13, 5), (4, 3), (8, 16)])
def test_resizing_written_out_is_what_pytorch_does(mode: str, options: dict[str, bool], size: tuple[int, int]) -> None:
    from sleuth.compare.causes._resampling import Rule, resized

    image = torch.randn(1, 2, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    smooth = options.get("antialias", False)
    rules = {
        "bilinear": Rule("linear", "aligned corners" if options.get("align_corners") else "half pixel", smooth, -0.5),
        "bicubic": Rule("cubic", "half pixel", smooth, -0.5 if smooth else -0.75),
        "nearest": Rule("nearest floor", "asymmetric"),
        "nearest-exact": Rule("nearest up", "half pixel"),
    }
    expected = functional.interpolate(image, size, mode=mode, **options)  # type: ignore[arg-type]
    assert torch.allclose(resized(image, size, rules[mode]), expected, atol=1e-12)
