"""The errors of a real card: the same mistake makes the CPU's kernels say something else, or nothing at all."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from sleuth.dry.births import Birth, Call
from sleuth.dry.pretend.errors_of_place import MIND_NUMBERS, device_mismatch, given, type_name

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

__all__ = [
    "MIND_NUMBERS",
    "device_asserted",
    "device_mismatch",
    "invalid_ordinal",
    "refused",
    "translated",
]

_LATER = (
    "\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)
_ASSERTED = (
    "CUDA error: device-side assert triggered\n"
    "Search for `cudaErrorAssert' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more "
    "information." + _LATER
)
_NO_SUCH_CARD = "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?" + _LATER
# torch had no class for it before 2.8.
_AcceleratorError: type[RuntimeError] = getattr(torch, "AcceleratorError", RuntimeError)

# What a kernel on the card asserts about values, and how the CPU's kernel words it. (Only where it checks at all.)
_ASSERTS = re.compile(
    r"Target -?\d+ is out of bounds|index out of range in self|out of range: tried to access index|"
    r"all elements of (?:input|target) should be between 0 and 1|probability tensor contains either|"
    r"invalid multinomial distribution|Class values must be (?:smaller than num_classes|non-negative)|"
    r"Index \d+ of input takes value|Expected p_in >= 0 && p_in <= 1|"
    r"index -?\d+ is out of bounds for dimension \d+ with size \d+"
)
_BY_TENSOR = {"getitem", "setitem", "setitem_", "index_put", "index_put_"}
_CPU_KERNEL = re.compile(r'"(\w+)" not implemented for')
# Kernels whose name on the card is not just the CPU's with "cuda" for "cpu".
_KERNEL_NAMES = {
    "softmax_lastdim_kernel_impl": "host_softmax",
    "softmax_kernel_impl": "host_softmax",
    "log_softmax_lastdim_kernel_impl": "host_softmax",
    "log_softmax_kernel_impl": "host_softmax",
    "addmm_impl_cpu_": "addmm_cuda",
    "bmm": "baddbmm_cuda",
}
_SCALARS = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
}
_WHOLE_NUMBERS = {"int64", "int32", "int16", "int8", "uint8"}
_PRODUCTS = {
    "mm": "addmm_cuda",
    "addmm": "addmm_cuda",
    "linear": "addmm_cuda",
    "matmul": "addmm_cuda",
    "rmatmul": "addmm_cuda",
    "bmm": "baddbmm_cuda",
    "baddbmm": "baddbmm_cuda",
    "dot": "dot",
}


def device_asserted() -> RuntimeError:
    """A value was out of range inside a kernel: all a card says of it."""
    return _with_code(_AcceleratorError(_ASSERTED), 710)


def invalid_ordinal() -> RuntimeError:
    """A card by a number that there is not."""
    return _with_code(_AcceleratorError(_NO_SUCH_CARD), 101)


def refused(call: Call) -> Exception | None:
    """What the card has no kernel for though the CPU has one: products of whole numbers."""
    kernel = _PRODUCTS.get(call.operation)
    if kernel is None:
        return None
    births = call.births
    if not births or not all(birth.dtype in _WHOLE_NUMBERS and _on_card(birth) for birth in births):
        return None
    if call.operation in ("matmul", "rmatmul") and all(len(birth.shape) > 2 for birth in births):
        kernel = "baddbmm_cuda"
    elif call.operation in ("matmul", "rmatmul") and all(len(birth.shape) == 1 for birth in births):
        kernel = "dot"
    return NotImplementedError(f"\"{kernel}\" not implemented for '{_SCALARS[births[0].dtype]}'")


def translated(error: BaseException, call: Call, stage: Stage) -> BaseException:
    """The error that a CUDA build of torch would have raised for this call instead of the CPU's."""
    if stage.devices.kind != "cuda" or not any(map(_on_card, call.births)) or not isinstance(error, Exception):
        return error
    text = str(error)
    if _asserts(text, call):
        return device_asserted()
    for rule in _RULES:
        other = rule(text, call)
        if other is not None:
            return error if other == text else type(error)(other)
    return error


def _asserts(text: str, call: Call) -> bool:
    if not _ASSERTS.match(text):
        return False
    if call.operation in _BY_TENSOR:
        return _is_indexed_by_tensor(call)
    # `x.select(0, 7)`: a plain number is checked before any kernel starts.
    return "is out of bounds for dimension" not in text or call.operation not in ("select", "unbind", "narrow")


def _is_indexed_by_tensor(call: Call) -> bool:
    for argument in call.arguments:
        if argument.name.partition("[")[0] not in ("1", "indices"):
            continue
        if argument.birth is not None and argument.birth.dtype != "bool":
            return True
        parts = argument.value if isinstance(argument.value, tuple) else (argument.value,)
        if isinstance(argument.value, list) or any(isinstance(part, list) for part in parts):
            return True
    return False


def _of_convolution(text: str, call: Call) -> str | None:
    """A card's convolution compares the types of input and weight, and knows no MKLDNN."""
    if not call.operation.startswith("conv"):
        return None
    births = given(call, ("input", "weight", "bias"))
    first, weight = _first(births["input"]), _first(births["weight"])
    if first is None or weight is None or first.dtype == weight.dtype or " bias type (" in text:
        return None
    if "should be the same" not in text and "expected scalar type" not in text:
        return None
    return f"Input type ({type_name(first)}) and weight type ({type_name(weight)}) should be the same"


def _of_product(text: str, call: Call) -> str | None:
    if text.startswith("expected m1 and m2 to have the same dtype"):
        return text.replace("m1 and m2", "mat1 and mat2", 1)
    return None


def _of_norm(text: str, call: Call) -> str | None:
    if not text.startswith("mixed dtype (CPU)"):
        return None
    births = call.births
    first, other = births[0], next((birth for birth in births if birth.dtype != births[0].dtype), births[0])
    if call.operation == "batch_norm":
        return (
            "Expected tensor for argument #1 'input' to have the same type as tensor for argument #2 'weight'; but "
            f"type {type_name(first)} does not equal {type_name(other)} (while checking arguments for cudnn_batch_norm)"
        )
    return f"expected scalar type {_scalar(first)} but found {_scalar(other)}"


def _of_recurrent(text: str, call: Call) -> str | None:
    if call.operation not in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        return None
    if "dtype" not in text and "data type" not in text and "scalar type" not in text:
        return None
    tensors = [argument for argument in call.arguments if argument.birth is not None]
    first = tensors[0].birth
    assert first is not None
    for argument in tensors[1:]:
        birth = argument.birth
        if birth is not None and birth.dtype not in (first.dtype, "int64"):
            what = "hidden" if argument.name.partition("[")[0] in ("1", "hx") else "parameter"
            return (
                f"Input and {what} tensors are not the same dtype, found input tensor with {_scalar(first)} and {what} "
                f"tensor with {_scalar(birth)}"
            )
    return None


def _of_missing_kernel(text: str, call: Call) -> str | None:
    found = _CPU_KERNEL.search(text)
    if found is None:
        return None
    name = found.group(1)
    return text.replace(name, _KERNEL_NAMES.get(name, name.replace("cpu", "cuda")), 1)


def _of_type(text: str, call: Call) -> str | None:
    """Types are told with their device: `torch.cuda.FloatTensor`."""
    if "(while checking arguments for" not in text or not all(map(_on_card, call.births)):
        return None
    return re.sub(r"torch\.(\w+Tensor)", r"torch.cuda.\1", text)


_RULES: tuple[Callable[[str, Call], str | None], ...] = (
    _of_convolution,
    _of_product,
    _of_norm,
    _of_recurrent,
    _of_missing_kernel,
    _of_type,
)


def _first(births: list[Birth]) -> Birth | None:
    return births[0] if births else None


def _scalar(birth: Birth) -> str:
    return _SCALARS.get(birth.dtype, birth.dtype)


def _on_card(birth: Birth) -> bool:
    return birth.device.startswith("cuda")


def _with_code(error: RuntimeError, code: int) -> RuntimeError:
    error.error_code = code  # type: ignore[attr-defined]
    return error
