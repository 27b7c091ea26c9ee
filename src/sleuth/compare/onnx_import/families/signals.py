"""Fourier transforms; a complex number is a last axis of two."""

from __future__ import annotations

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.families.shapes import padded
from sleuth.compare.onnx_import.operations import Step, operation


@operation("DFT")
def _dft(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    axis = s.int_or(2, -2) if s.opset >= 20 else s.get("axis", 1)
    axis %= value.rank
    count = s.int_or(1, value.shape[axis])
    inverse, half = s.get("inverse", 0), s.get("onesided", 0)
    if inverse and half:
        full = _complex(b, value)
        return b.call(
            aten.unsqueeze.default,
            b.call(aten.fft_irfft.default, full, s.int_or(1, 2 * (value.shape[axis] - 1)), axis),
            -1,
        )
    target = aten.fft_ifft.default if inverse else aten.fft_fft.default
    result = b.call(target, _complex(b, value), count, axis)
    if half:
        result = b.call(aten.slice.Tensor, result, axis, 0, count // 2 + 1)
    return b.call(aten.view_as_real.default, result)


def _complex(b: Builder, value: Traced) -> Traced:
    if value.shape[-1] == 1:
        value = padded(b, value, [*[(0, 0)] * (value.rank - 1), (0, 1)])
    return b.call(aten.view_as_complex.default, b.call(aten.contiguous.default, value))


@operation("STFT")
def _stft(b: Builder, s: Step) -> Traced:
    signal, hop, window = s.inputs[0], s.ints(1)[0], s.input(2)
    length = s.int_or(3, window.shape[0] if window is not None else signal.shape[1])
    if signal.rank == 3 and signal.shape[2] != 1:
        frames = b.call(aten.unfold.default, signal, 1, length, hop)
        frames = b.call(aten.transpose.int, frames, -1, -2)
    else:
        frames = b.call(
            aten.unfold.default, b.call(aten.reshape.default, signal, list(signal.shape[:2])), 1, length, hop
        )
        frames = b.call(aten.unsqueeze.default, frames, -1)
    if window is not None:
        frames = b.call(aten.mul.Tensor, frames, b.call(aten.view.default, window, [length, 1]))
    result = b.call(aten.fft_fft.default, _complex(b, frames), length, 2)
    if s.get("onesided", 1):
        result = b.call(aten.slice.Tensor, result, 2, 0, length // 2 + 1)
    return b.call(aten.view_as_real.default, result)


@operation("HannWindow", "HammingWindow", "BlackmanWindow")
def _window(b: Builder, s: Step) -> Traced:
    size, periodic = s.ints(0)[0], bool(s.get("periodic", 1))
    if s.op == "HannWindow":
        window = torch.hann_window(size, periodic, dtype=torch.float64)
    elif s.op == "HammingWindow":  # ONNX's has 25/46 where PyTorch's has 0.54
        window = torch.hamming_window(size, periodic, 25 / 46, 21 / 46, dtype=torch.float64)
    else:
        window = torch.blackman_window(size, periodic, dtype=torch.float64)
    return b.constant(window)
