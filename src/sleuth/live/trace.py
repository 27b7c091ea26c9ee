"""Everything one step computes: a dispatch mode that writes down each operation, its line, and what went in and out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from sleuth.findings import Place
from sleuth.frameworks import torch_private
from sleuth.live import numbers
from sleuth.live.numbers import Numbers
from sleuth.program import is_users, place_of

_function_modes = torch_private.get("torch.overrides._get_current_function_mode_stack")
_dispatch_modes = torch_private.get("torch.utils._python_dispatch._get_current_dispatch_mode_stack")
_next_node_number = torch_private.get("torch._C._autograd._get_sequence_nr")
_node_under_way = torch_private.get("torch._C._current_autograd_node")

_PLAIN_NAMES = {
    "_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "linalg_vector_norm": "norm",
    "_linalg_slogdet": "slogdet",
    "_linalg_det": "det",
    "native_batch_norm": "batch_norm",
    "_native_batch_norm_legit": "batch_norm",
    "_native_batch_norm_legit_no_training": "batch_norm",
    "_batch_norm_with_update": "batch_norm",
    "native_layer_norm": "layer_norm",
    "native_group_norm": "group_norm",
    "_fused_rms_norm": "rms_norm",
    "nll_loss_forward": "nll_loss",
    "nll_loss2d_forward": "nll_loss",
    "_ctc_loss": "ctc_loss",
    "_cdist_forward": "cdist",
    "_euclidean_dist": "cdist",
    "_scaled_dot_product_flash_attention_for_cpu": "scaled_dot_product_attention",
    "_scaled_dot_product_fused_attention_overrideable": "scaled_dot_product_attention",
    "_scaled_dot_product_flash_attention": "scaled_dot_product_attention",
    "_scaled_dot_product_efficient_attention": "scaled_dot_product_attention",
    "_scaled_dot_product_cudnn_attention": "scaled_dot_product_attention",
    "_scaled_dot_product_attention_math": "scaled_dot_product_attention",
    "_to_copy": "to",
    "mm": "matmul",
    "bmm": "matmul",
    "mv": "matmul",
    "dot": "matmul",
    "addmm": "linear",
    "_embedding_bag": "embedding_bag",
    "_thnn_fused_lstm_cell": "lstm",
    "log_sigmoid_forward": "logsigmoid",
}
# These write over what stood in their first argument, so its old contents never reach the result.
_OVERWRITES = {"copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_", "log_normal_"}
_PICKS_ROWS = {"index", "index_select", "embedding"}
_UNINITIALISED = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"}


@dataclass(eq=False, slots=True)
class Operand:
    """One tensor that went into an operation: what it held, and which operation had made it (None for a leaf)."""

    numbers: Numbers
    maker: Op | None
    tensor: Tensor | None
    shape: tuple[int, ...]
    dtype: torch.dtype
    index: int


# Libraries that call the user's layers by themselves: each gives, for a frame of its own in which a layer works, the
# line where the user made that layer.
layers_stand_at: list[Callable[[FrameType], tuple[CodeType, int] | None]] = []


@dataclass(eq=False, slots=True)
class Op:
    """One operation of the traced step."""

    number: int
    name: str
    func: Any
    code: CodeType | None
    instruction: int
    operands: list[Operand]
    scalars: list[float]
    output: Numbers = numbers.NOTHING
    output_shape: tuple[int, ...] = ()
    output_dtype: torch.dtype | None = None
    called: str | None = None
    node: str | None = None
    forward: Op | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def in_backward(self) -> bool:
        return self.node is not None

    @property
    def place(self) -> Place | None:
        """The user's line. For an operation of the backward pass: the forward line that it differentiates."""
        if self.code is not None:
            return place_of(self.code, self.instruction)
        return self.forward.place if self.forward is not None else None

    @property
    def plain_name(self) -> str:
        """What the user called, where that is known, else what a person calls the ATen operation."""
        return self.called or plain_name(self.name)


def plain_name(name: str) -> str:
    return _PLAIN_NAMES.get(name, name.rstrip("_") if not name.startswith("__") else name.strip("_"))


@cache
def _is_view(func: Any) -> bool:
    returns = func._schema.returns
    return bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)


@cache
def _between_ranks(func: Any) -> bool:
    """Does it exchange numbers with other processes? It is not over when it returns, so nothing may be read yet."""
    return func.namespace in ("c10d", "_c10d_functional", "fsdp")


class Calls(TorchFunctionMode):
    """Knows which function of torch the user's code is in, by the name the user knows."""

    def __init__(self) -> None:
        super().__init__()
        self.current: str | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before, self.current = self.current, called_name(func)
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.current = before


_OPERATORS = {
    "truediv": "div",
    "rtruediv": "div",
    "rdiv": "div",
    "floordiv": "floor_divide",
    "rpow": "pow",
    "rsub": "sub",
}
_OPERATORS |= {
    "radd": "add",
    "rmul": "mul",
    "iadd": "add",
    "isub": "sub",
    "imul": "mul",
    "itruediv": "div",
    "rmatmul": "matmul",
}
# Not names the user knows, or wholes so large that a part of them says more.
_NOT_A_NAME = {"get", "set", "getitem", "setitem", "wrapped_fn", "backward", "apply", "multi_head_attention_forward"}


def called_name(func: Any) -> str | None:
    name = getattr(func, "__name__", "").strip("_")
    name = _OPERATORS.get(name, name)
    return None if not name or name in _NOT_A_NAME else name


@dataclass(frozen=True, slots=True)
class _Written:
    """What was last written to a storage. The weak reference keeps the storage's address from being used again."""

    reference: StorageWeakRef
    op: Op
    shape: tuple[int, ...]
    numbers: Numbers


class Trace(TorchDispatchMode):
    """While active, writes down every operation of this thread. `on_birth` is called with each operation that made a
    non-finite number from inputs that held none of its kind, while its inputs are still alive."""

    def __init__(self, on_birth: Any = None) -> None:
        super().__init__()
        self.ops: list[Op] = []
        self._calls = Calls()
        self._on_birth = on_birth
        self._writers: dict[int, _Written] = {}
        self._by_sequence: dict[int, Op] = {}
        self._paused = 0
        self._filters: list[Any] = []

    def enter(self) -> None:
        # The step's warnings were shown the first time.
        self._filters = list(warnings.filters)
        warnings.simplefilter("ignore")
        self.__enter__()
        self._calls.__enter__()

    def leave(self) -> None:
        """Look no further. Where a mode of the program's own lies above ours, ours stays but does nothing."""
        self._paused += 1
        warnings.filters[:] = self._filters  # type: ignore[index]
        if self in _dispatch_modes()[-1:]:
            self.__exit__(None, None, None)
        if self._calls in _function_modes()[-1:]:
            self._calls.__exit__(None, None, None)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What is done inside is Sleuth's own arithmetic."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1

    def maker_of(self, tensor: Tensor) -> Op | None:
        """The operation that last wrote the memory of this tensor."""
        written = self._written(tensor)
        return written.op if written is not None else None

    def _written(self, tensor: Tensor) -> _Written | None:
        if tensor.layout != torch.strided:
            return None
        written = self._writers.get(tensor.untyped_storage()._cdata)
        return written if written is not None and not written.reference.expired() else None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._paused or _is_view(func):
            return func(*args, **kwargs)
        if _between_ranks(func):
            self._forget(args)
            return func(*args, **kwargs)
        name = func._schema.name.rpartition("::")[2]
        if name in _UNINITIALISED:
            return func(*args, **kwargs)
        op = self._begin(name, func, args, kwargs)
        result = func(*args, **kwargs)
        self._finish(op, func, args, kwargs, result)
        return result

    def _forget(self, args: Any) -> None:
        """Who made these, and what they held: others are about to write to them."""
        tensors: list[tuple[int, Tensor]] = []
        _collect(0, args, tensors, [])
        for _, tensor in tensors:
            if tensor.layout == torch.strided:
                self._writers.pop(tensor.untyped_storage()._cdata, None)

    def _begin(self, name: str, func: Any, args: Any, kwargs: Any) -> Op:
        tensors, scalars = inputs_of(name, args, kwargs)
        code, instruction = self._users_line()
        op = Op(
            number=len(self.ops),
            name=name,
            func=func,
            code=code,
            instruction=instruction,
            operands=[self._operand(index, tensor) for index, tensor in tensors],
            scalars=scalars,
        )
        self._place_in_backward(op)
        return op

    def _operand(self, index: int, tensor: Tensor) -> Operand:
        written = self._written(tensor)
        shape = tuple(tensor.shape)
        if written is None:
            return Operand(numbers.look(tensor), None, tensor, shape, tensor.dtype, index)
        held = written.numbers if written.shape == shape else numbers.look(tensor)
        return Operand(held, written.op, None, shape, tensor.dtype, index)

    def _users_line(self) -> tuple[CodeType | None, int]:
        """The innermost line of the user's; none where autograd's engine runs with no user code inside it."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if is_users(frame.f_code.co_filename):
                return frame.f_code, frame.f_lasti
            if frame.f_code.co_name == "_engine_run_backward":
                break
            for stands_at in layers_stand_at:
                if (line := stands_at(frame)) is not None:
                    return line
            frame = frame.f_back
        return None, 0

    def _place_in_backward(self, op: Op) -> None:
        """Give an operation of the backward pass the forward operation it belongs to, by the autograd node's number.

        The node for an operation is made just before the operation itself runs, so its number is the last one given
        out. A derivative that is itself differentiated (create_graph=True) gets its number in the same way."""
        self._by_sequence.setdefault(_next_node_number() - 1, op)
        node = _node_under_way()
        if node is None:
            op.called = self._calls.current
            return
        op.node = node.name()
        forward = self.op_of_node(node)
        op.forward = forward if forward is not op else None

    def op_of_node(self, node: Any) -> Op | None:
        """The operation for which autograd made this node."""
        return self._by_sequence.get(node._sequence_nr())

    def _finish(self, op: Op, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        outputs: list[tuple[int, Tensor]] = []
        _collect(0, result, outputs, [])
        if func._schema.is_mutable:
            # Includes what was written in place or through out=.
            for argument, value in _overwritten(func, args, kwargs):
                _collect(argument, value, outputs, [])
        if not outputs:
            return
        self.ops.append(op)
        measured = [(numbers.look(tensor), tensor) for _, tensor in outputs]
        op.output, main = next(((n, t) for n, t in measured if not n.finite), measured[0])
        op.output_shape = tuple(main.shape)
        op.output_dtype = main.dtype
        for held, tensor in measured:
            if tensor.layout == torch.strided:
                storage = tensor.untyped_storage()
                self._writers[storage._cdata] = _Written(StorageWeakRef(storage), op, tuple(tensor.shape), held)
        if op.name in _PICKS_ROWS and not op.output.finite:
            op.notes["row"] = numbers.first_bad_row(main)
        if self._on_birth is not None and not op.output.finite and is_birth(op):
            op.notes["bad row"] = numbers.first_bad_row(main)
            self._on_birth(op, args, kwargs, main)


def lineage(op: Op | None) -> Iterator[Op]:
    """The operation, the one that made its first made operand, the one that made that one's, and so on."""
    while op is not None:
        yield op
        op = next((operand.maker for operand in op.operands if operand.maker is not None), None)


def is_birth(op: Op) -> bool:
    """Does this operation's output hold a kind of non-finite value that none of its inputs held?"""
    nan_before = any(operand.numbers.nan for operand in op.operands)
    infinite_before = any(operand.numbers.infinite for operand in op.operands)
    return bool((op.output.nan and not nan_before) or (op.output.infinite and not infinite_before))


def inputs_of(name: str, args: Any, kwargs: Any) -> tuple[list[tuple[int, Tensor]], list[float]]:
    """The tensors an operation reads, each with the place of its argument, and the plain numbers it was given."""
    tensors: list[tuple[int, Tensor]] = []
    scalars: list[float] = []
    for index, value in enumerate((*args, *kwargs.values())):
        _collect(index, value, tensors, scalars)
    return (tensors[1:] if name in _OVERWRITES else tensors), scalars


def _collect(index: int, value: Any, tensors: list[tuple[int, Tensor]], scalars: list[float]) -> None:
    if isinstance(value, Tensor):
        tensors.append((index, value))
    elif isinstance(value, bool):
        return
    elif isinstance(value, int | float):
        scalars.append(value)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(index, item, tensors, scalars)


def _overwritten(func: Any, args: Any, kwargs: Any) -> list[tuple[int, Any]]:
    written = []
    for index, argument in enumerate(func._schema.arguments):
        if argument.is_write:
            value = args[index] if index < len(args) else kwargs.get(argument.name)
            if value is not None:
                written.append((index, value))
    return written
