"""Sees every torch call of the program: keeps the device label and the birth of each tensor, and checks that they fit.

The devices of torch's own C++ stay the CPU throughout: a CUDA device in there would abort the interpreter in the first
backward pass of a build that has no CUDA."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from sleuth.dry.births import Argument, Birth, Call, users_line
from sleuth.dry.ours_or_yours import Attempt
from sleuth.dry.pretend import amp, errors, handlers, mps
from sleuth.dry.pretend.devices import CPU, META
from sleuth.dry.tensors import tensors_in
from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_is_of_a_transform = torch_private.get("torch._C._functorch.is_functorch_wrapped_tensor")
_unwrapped = torch_private.get("torch._C._functorch.get_unwrapped")
_is_wrapper = torch_private.get("torch.utils._python_dispatch.is_traceable_wrapper_subclass")
_default = torch_private.get("torch.utils._device")
_constructors = torch_private.get("torch.utils._device._device_constructors")

Handler = Callable[["Mode", Any, tuple[Any, ...], dict[str, Any]], Any]

# A CPU kernel that a GPU has for half precision.
_ONLY_ON_CARDS = re.compile(r"not implemented for '(?:Half|BFloat16)'|not supported for (?:Half|BFloat16)")
# Properties that tell of a tensor without making one: asked so often that a call would be a waste.
_PLAIN = {"shape", "dtype", "ndim", "requires_grad", "is_leaf", "layout", "names", "grad_fn", "_version", "output_nr"}


class Mode(TorchFunctionMode):
    """Entered around the program; `perform` runs a call as torch would, `label` says where a tensor is."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self.stage = stage
        self.births = stage.births
        self.devices = stage.devices
        self.handlers: dict[Any, Handler] = handlers.table()
        # Where a storage that is being saved or loaded belongs.
        self.storages: dict[int, str] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if isinstance(func, torch._ops.OpOverload):  # from beneath: whoever counts memory calls these
            return func(*args, **kwargs)
        handler = self.handlers.get(func)
        if handler is not None:
            result = handler(self, func, args, kwargs)
            if result is not handlers.UNANSWERED:
                return result
        if _property(func) in _PLAIN:
            return func(*args, **kwargs)
        return self.perform(func, args, kwargs)

    # ---- where tensors are

    def label(self, tensor: Any) -> str | None:
        """The device the tensor seems to be on; None where it fits everywhere."""
        if _is_around_others(tensor):
            return None
        birth = self.births[tensor]
        if birth is not None:
            return birth.device
        if _is_of_a_transform(tensor):  # where the one is that it stands for
            return None if _unwrapped is None else self.label(_unwrapped(tensor))
        if self.stage.in_backward or _was_computed(tensor):
            return None  # made by C++ alone: wherever its makers were
        return META if tensor.is_meta else CPU

    def shown_label(self, tensor: Any) -> str:
        return self.label(tensor) or self.stage.now_on

    def settle(self, tensor: Any, label: str, operation: str, parents: tuple[Birth, ...] = ()) -> Birth:
        """Note where a tensor is and what made it."""
        code, instruction = users_line(sys._getframe(1))
        birth = Birth(
            operation,
            _shape(tensor),
            str(tensor.dtype).removeprefix("torch."),
            label,
            parents,
            self.stage.layer,
            code,
            instruction,
        )
        self.births[tensor] = birth
        return birth

    def birth(self, tensor: Any) -> Birth:
        """The tensor's birth; one that nobody saw is noted as such."""
        known = self.births[tensor]
        if known is not None:
            return known
        label = self.label(tensor)
        birth = Birth(
            "parameter" if isinstance(tensor, torch.nn.Parameter) else "tensor",
            _shape(tensor),
            str(tensor.dtype).removeprefix("torch."),
            label or self.stage.now_on,
        )
        if label is not None:
            self.births[tensor] = birth
        return birth

    # ---- calls

    def perform(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call as it would go on the pretended devices."""
        call = self._call(func, args, kwargs)
        before = self.stage.now_on
        running = False
        try:
            given = list(tensors_in((args, kwargs)))
            label = self._together(call, func, args, given)
            target = kwargs.get("device")
            pinned = self.devices.kind != CPU and kwargs.pop("pin_memory", False)
            if target is None and label is None and func in _constructors():
                target = getattr(_default, "CURRENT_DEVICE", None)
            if target is not None:
                wanted = self.devices.label(target)
                if self.devices.is_pretended(wanted):
                    kwargs = {**kwargs, "device": CPU}
                label = wanted
            self._check_generator(kwargs, label if given else label or CPU)
            self.stage.now_on = label or CPU
            refusal = errors.refused(call)
            if refusal is not None:
                raise refusal
            running = True
            result = self._run(func, args, kwargs, label)
            running = False
            if self.devices.kind == "mps" and label is not None and label.startswith("mps"):
                mps.refuse_float64(result)
        except Exception as error:
            translated = errors.translated(error, call, self.stage)
            if not hasattr(translated, "__sleuth_call__"):
                translated.__sleuth_call__ = call  # type: ignore[attr-defined]
                if running:
                    attempt = Attempt.of(amp.run, (func, args, kwargs), label, call.operation, error)
                    translated.__sleuth_attempt__ = attempt  # type: ignore[attr-defined]
            if translated is error:
                raise
            raise translated from None
        finally:
            self.stage.now_on = before
        self._settle_results(call, func, args, result, label or CPU)
        if pinned:
            self.birth(result).operation = "pin_memory"
        self.stage.tell("called", call, func, args, kwargs, result)
        return result

    def _run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], label: str | None) -> Any:
        if self.stage.fake:
            from sleuth.dry.fake import oracle

            answer = oracle.answer(self.stage, func, args, kwargs)
            if answer is not oracle.UNANSWERED:
                return answer
        self.stage.purse.spend(func, args, kwargs)
        try:
            return amp.run(func, args, kwargs, label, name_of(func))
        except (RuntimeError, NotImplementedError) as error:
            self.stage.purse.check_allocation(error)
            if label in (None, CPU, META) or not _ONLY_ON_CARDS.search(str(error)):
                raise
        return amp.in_float32(func, args, kwargs)

    def _call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        code, instruction = users_line(sys._getframe(1))
        arguments = []
        for name, value in [*((str(i), arg) for i, arg in enumerate(args)), *kwargs.items()]:
            if isinstance(value, torch.Tensor):
                arguments.append(Argument(name, self.birth(value)))
            elif isinstance(value, list | tuple) and any(isinstance(one, torch.Tensor) for one in value):
                arguments += [
                    Argument(f"{name}[{i}]", self.birth(one))
                    for i, one in enumerate(value)
                    if isinstance(one, torch.Tensor)
                ]
            else:
                arguments.append(Argument(name, None, value))
        return Call(name_of(func), tuple(arguments), self.stage.layer, code, instruction)

    def _together(self, call: Call, func: Any, args: tuple[Any, ...], given: list[Any]) -> str | None:
        """The one device all tensors of a call are on. Raises as torch does where they are on several."""
        where: dict[str, Any] = {}
        alone: str | None = None
        for tensor in given:
            label = self.label(tensor)
            if label is None or label == META or is_lazy(tensor):
                continue
            if label == CPU and tensor.dim() == 0 and call.operation not in errors.MIND_NUMBERS:
                alone = CPU
            else:
                where.setdefault(label, tensor)
        if len(where) > 1 and not handlers.may_differ(self, func, args):
            mismatch = errors.device_mismatch(call, tuple(where))
            if mismatch is not None:
                raise mismatch
        own = self.label(args[0]) if args and isinstance(args[0], torch.Tensor) else None
        if own is not None and (own in where or not where):
            return own
        return next(iter(where), alone) or (META if any(t.is_meta for t in given) else None)

    def _check_generator(self, kwargs: dict[str, Any], label: str | None) -> None:
        generator = kwargs.get("generator")
        if generator is None or label is None:
            return
        wanted, found = label.split(":")[0], str(generator.device).split(":")[0]
        if wanted != found and META not in (wanted, found):
            raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{found}'")

    def _settle_results(self, call: Call, func: Any, args: tuple[Any, ...], result: Any, label: str) -> None:
        first = args[0] if args else None
        in_place = _is_in_place(call.operation)
        if in_place and (result is None or isinstance(first, list | tuple)):
            self._settle_changed(call, list(tensors_in(first)))
        for made in tensors_in(result):
            known = self.births[made]
            operation = call.operation
            if made is first and not in_place and _asked_to_be_in_place(call):
                operation = f"{operation}_"
            if known is not None and not (made is first and _is_in_place(operation)):
                continue  # handed through
            at = META if made.is_meta and not self.stage.fake else label
            birth = Birth(
                operation,
                _shape(made),
                str(made.dtype).removeprefix("torch."),
                at,
                call.births,
                call.layer,
                call.code,
                call.instruction,
            )
            if known is not None:
                birth.name = known.name
            self.births[made] = birth

    def _settle_changed(self, call: Call, changed: list[Any]) -> None:
        """`x[i] = y` and the optimisers' operations on lists change tensors and give no new ones."""
        for tensor in changed:
            before = self.births[tensor]
            if before is None:
                continue
            parents = call.births if len(changed) == 1 else (before,)
            where = (before.device, parents, call.layer, call.code, call.instruction, before.name)
            self.births[tensor] = Birth(call.operation, before.shape, before.dtype, *where)
        if call.operation.startswith(("foreach", "fused")):
            # Under whoever counts memory torch forgets that these were changed, and backward would not notice.
            torch.autograd.graph.increment_version([one for one in changed if not one.is_inference()])


def name_of(func: Any) -> str:
    """`conv2d`, `view`, `add_`; for a property its own name."""
    return _property(func) or getattr(func, "__name__", str(func)).strip("_") + (
        "_" if _is_in_place(getattr(func, "__name__", "")) else ""
    )


def _property(func: Any) -> str | None:
    if getattr(func, "__name__", "") not in ("__get__", "__set__", "__delete__"):
        return None
    name: str | None = getattr(getattr(func, "__self__", None), "__name__", None)
    return name


def _is_in_place(name: str) -> bool:
    if name.startswith("__") and name.endswith("__"):
        return name in _IN_PLACE
    return name.endswith("_") and not name.endswith("__")


def _asked_to_be_in_place(call: Call) -> bool:
    """`F.relu(x, inplace=True)`; layers give it by its position, which is the last."""
    return any(
        argument.value is True and (argument.name == "inplace" or argument is call.arguments[-1])
        for argument in call.arguments
    )


_IN_PLACE = {f"__i{name}__" for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()} | {
    "__setitem__"
}


def _shape(tensor: Any) -> tuple[int, ...]:
    try:
        return tuple(tensor.shape)
    except (RuntimeError, NotImplementedError):  # a nested tensor has none
        return ()


def _was_computed(tensor: Any) -> bool:
    try:
        return tensor.grad_fn is not None
    except RuntimeError:  # a view made without gradients, changed in place with them
        return True


def _is_around_others(tensor: Any) -> bool:
    """Is it a tensor around other tensors, e.g. one that is spread over several processes?"""
    return type(tensor) not in (torch.Tensor, torch.nn.Parameter) and _is_wrapper(tensor)
