"""The torch functions that know of devices, as they behave on the pretended ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.pretend.cuda_types import DTYPES
from sleuth.dry.pretend.devices import CPU, device_of
from sleuth.frameworks.torch_private import get

if TYPE_CHECKING:
    from sleuth.dry.pretend.mode import Handler, Mode

T: Any = torch.Tensor
# What a handler gives back that leaves the call to torch.
UNANSWERED = object()
_TO_NUMPY = (
    "can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)


# Selections whose size depends on numbers.
MASKING = (T.__getitem__, torch.masked_select, T.masked_select, torch.nonzero, T.nonzero)


def table() -> dict[Any, Handler]:
    return {
        T.device.__get__: _device,
        T.is_cuda.__get__: _is_cuda,
        T.is_cpu.__get__: _is_cpu,
        T.is_mps.__get__: _is_mps,
        T.get_device: _get_device,
        T.to: _to,
        T.cuda: _cuda,
        T.cpu: _cpu,
        T.type: _type,
        T.type_as: _type_as,
        T.data.__set__: _set_data,
        T.data.__get__: _same_place,
        T.grad.__get__: _same_place,
        T.grad.__set__: _set_grad,
        T.detach: _same_place_new,
        T.numpy: _numpy,
        T.__array__: _numpy,
        T.pin_memory: _pinned,
        T.is_pinned: _is_pinned,
        T.__repr__: _repr,
        T.backward: _backward,
        torch.as_tensor: _as_tensor,
        T.untyped_storage: _storage,
        T.data_ptr: _plain,
        T.record_stream: _nothing,
        T.__hash__: _plain,
        T.register_hook: _plain,
        **dict.fromkeys(MASKING, _masked),
        **{found: handler for name, handler in _private().items() if (found := get(name)) is not None},
    }


def _private() -> dict[str, Handler]:
    return {
        "torch._has_compatible_shallow_copy_type": _plain,
        "torch._C._VariableFunctions._pack_padded_sequence": _packed,
        "torch._C._VariableFunctions._pad_packed_sequence": _packed,
    }


def may_differ(mode: Mode, func: Any, args: tuple[Any, ...]) -> bool:
    """Is this a function whose tensors need not be on one device?"""
    name = getattr(func, "__name__", "")
    if name == "__setitem__":
        return not _is_indexed_by_tensor(args) or mode.label(args[2]) == mode.label(args[0])
    if name == "__getitem__":
        return mode.label(args[0]) != CPU
    return name in _ANYWHERE


_ANYWHERE = {
    "copy_",
    "view_as",
    "expand_as",
    "reshape_as",
    "resize_as_",
    "is_same_size",
    "__contains__",
    "__deepcopy__",
    "is_set_to",
    "ctc_loss",
    "pack_padded_sequence",
    "_foreach_copy_",
    "_has_compatible_shallow_copy_type",
    "swap_tensors",
    "register_post_accumulate_grad_hook",
}


def _is_indexed_by_tensor(args: tuple[Any, ...]) -> bool:
    index = args[1] if isinstance(args[1], tuple) else (args[1],)
    return any(isinstance(one, T) for one in index) and isinstance(args[2], T)


def _plain(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def _nothing(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    return None


def _masked(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    parts = [one for given in args for one in (given if isinstance(given, tuple) else (given,))]
    mode.stage.acts["mask"] += any(isinstance(one, T) and one.dtype == torch.bool for one in parts)
    return UNANSWERED


def _packed(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of the two tensors it gives, the lengths are always on the CPU; those it is given must be."""
    lengths = args[1]
    if isinstance(lengths, T) and mode.shown_label(lengths) != CPU:
        words = f"{lengths.dim()}D {mode.shown_label(lengths)} {str(lengths.dtype)[6:].replace('int64', 'Long')} tensor"
        error = RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {words}")
        raise_at(mode, error, func, args, kwargs)
    data, made = func(*args, **kwargs)
    birth = mode.birth(args[0])
    mode.settle(data, birth.device, func.__name__.strip("_"), (birth,))
    mode.settle(made, CPU, func.__name__.strip("_"), (birth,))
    return data, made


def _device(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return device_of(mode.shown_label(args[0]))


def _is_cuda(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return mode.shown_label(args[0]).startswith("cuda")


def _is_cpu(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return mode.shown_label(args[0]) == CPU


def _is_mps(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return mode.shown_label(args[0]).startswith("mps")


def _get_device(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    index = device_of(mode.shown_label(args[0])).index
    return -1 if index is None else index


def _to(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, *given = args
    device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
    copy = kwargs.pop("copy", False)
    kwargs.pop("non_blocking", None)
    other = kwargs.pop("other", None)
    flags = []
    for one in given:
        if isinstance(one, torch.dtype):
            dtype = one
        elif isinstance(one, bool):
            flags.append(one)
        elif isinstance(one, T):
            other = one
        elif one is not None:
            device = one
    if other is not None:
        device, dtype = mode.shown_label(other), other.dtype
    copy = copy or (len(flags) > 1 and flags[1])
    wanted = mode.shown_label(tensor) if device is None else mode.devices.label(device)
    return moved(mode, tensor, wanted, dtype, copy, kwargs, "to")


def moved(mode: Mode, tensor: Any, label: str, dtype: Any, copy: bool, options: dict[str, Any], operation: str) -> Any:
    """The tensor on another device: a copy, so that what is done to one does not show in the other."""
    own = mode.shown_label(tensor)
    if label == "meta":
        return T.to(tensor, "meta", dtype, **options)
    dtype = dtype or tensor.dtype
    if own == label and dtype == tensor.dtype and not copy and not options:
        return tensor
    if label.startswith("mps") and dtype == torch.float64:
        raise TypeError(
            "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
            "Please use float32 instead."
        )
    before, mode.stage.now_on = mode.stage.now_on, label
    try:
        result = T.to(tensor, dtype=dtype, copy=own != label or copy, **options)
    finally:
        mode.stage.now_on = before
    if result is not tensor:
        birth = mode.birth(tensor)
        made = mode.settle(result, label, operation, (birth,))
        made.name = birth.name
    return result


def _cuda(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    device = args[1] if len(args) > 1 else kwargs.get("device")
    wanted = "cuda" if device is None or isinstance(device, bool) else device
    return moved(mode, args[0], mode.devices.label(wanted), None, False, {}, "cuda")


def _cpu(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return moved(mode, args[0], CPU, None, False, {}, "cpu")


def _type(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """With a name such as "torch.cuda.FloatTensor" a device is meant, too; without one the name is asked for."""
    own = mode.shown_label(args[0])
    wanted = args[1] if len(args) > 1 else kwargs.get("dtype")
    if wanted is None:
        name = str(func(args[0]))
        return name if own == CPU else name.replace("torch.", f"torch.{own.split(':')[0]}.")
    if isinstance(wanted, torch.dtype):
        return moved(mode, args[0], own, wanted, False, {}, "type")
    name = wanted if isinstance(wanted, str) else f"{wanted.__module__}.{wanted.__name__}"
    dtype = DTYPES.get(name.rpartition(".")[2])
    if dtype is None:
        return UNANSWERED
    label = mode.devices.label("cuda") if ".cuda." in name else CPU
    return moved(mode, args[0], label, dtype, False, {}, "type")


def _type_as(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return moved(mode, args[0], mode.shown_label(args[1]), args[1].dtype, False, {}, "type_as")


def _same_place(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`.data` and `.grad`: where their owner is."""
    result = func(*args, **kwargs)
    if isinstance(result, T) and mode.births[result] is None:
        birth = mode.birth(args[0])
        made = mode.settle(result, birth.device, func.__self__.__name__, (birth,))
        made.name = birth.name
    return result


def _same_place_new(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = func(*args, **kwargs)
    birth = mode.birth(args[0])
    made = mode.settle(result, birth.device, "detach", (birth,))
    made.name = birth.name
    return result


def _set_data(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    func(*args, **kwargs)
    _moved_in_place(mode, args[0], args[1])


def _moved_in_place(mode: Mode, tensor: Any, value: Any) -> None:
    """The tensor stays the same object, but is now where the value is."""
    before, given = mode.births[tensor], mode.birth(value)
    made = mode.settle(tensor, mode.shown_label(value), given.operation, (given,))
    if before is not None:
        made.name = before.name
        made.code, made.instruction = before.code, before.instruction


def _set_grad(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    value = args[1]
    if isinstance(value, T):
        own, given = mode.label(args[0]), mode.label(value)
        if own is not None and given is not None and own != given:
            raise RuntimeError(
                "attempting to assign a gradient with device type "
                f"'{given.split(':')[0]}' to a tensor with device type '{own.split(':')[0]}'. Please ensure that the "
                "gradient and the tensor are on the same device"
            )
    func(*args, **kwargs)


def _numpy(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    own = mode.shown_label(args[0])
    if own != CPU and not (func is T.numpy and kwargs.get("force")):
        raise_at(mode, TypeError(_TO_NUMPY.format(device=own)), func, args, kwargs)
    return UNANSWERED


def raise_at(mode: Mode, error: Exception, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise the error as one of this call."""
    error.__sleuth_call__ = mode._call(func, args, kwargs)  # type: ignore[attr-defined]
    raise error


def _pinned(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    own = mode.shown_label(tensor)
    if own != CPU:
        name = str(T.type(tensor)).replace("torch.", f"torch.{own.split(':')[0]}.")
        raise_at(mode, RuntimeError(f"cannot pin '{name}' only dense CPU tensors can be pinned"), func, args, kwargs)
    return moved(mode, tensor, CPU, None, True, {}, "pin_memory")


def _is_pinned(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    birth = mode.births[args[0]]
    return birth is not None and birth.operation == "pin_memory"


def _repr(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if mode.stage.fake:
        return UNANSWERED
    text, own = str(func(*args, **kwargs)), mode.shown_label(args[0])
    return text if own == CPU or not text.endswith(")") else f"{text[:-1]}, device='{own}')"


def _backward(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """With the mode on, as a backward pass may run the user's own code."""
    names = ("gradient", "retain_graph", "create_graph", "inputs")
    given = {**dict(zip(names, args[1:], strict=False)), **kwargs}
    with mode:
        torch.autograd.backward(
            args[0],
            given.get("gradient"),
            given.get("retain_graph"),
            given.get("create_graph", False),
            inputs=given.get("inputs"),
        )


def _storage(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Asked for when a tensor is saved: the file will say where it was."""
    storage = func(*args, **kwargs)
    label = mode.shown_label(args[0])
    if label == CPU:
        mode.storages.pop(storage._cdata, None)
    else:
        mode.storages[storage._cdata] = label
    return storage


def _as_tensor(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    data = args[0] if args else kwargs.get("data")
    if not isinstance(data, T):
        return UNANSWERED
    device = kwargs.get("device")
    label = mode.shown_label(data) if device is None else mode.devices.label(device)
    return moved(mode, data, label, kwargs.get("dtype"), False, {}, "as_tensor")
