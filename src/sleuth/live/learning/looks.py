"""A close look at one step: activations, loss functions and inputs as they are computed, weights when they change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.findings import Place
from sleuth.live import sentinel
from sleuth.live.learning import losses
from sleuth.live.learning.inspection import VIEWS, Call, Inspection, RootCall, ancestors, back
from sleuth.live.learning.making import Making
from sleuth.live.learning.taps import LOSSES
from sleuth.live.ranks.shards import any_part, is_part, local
from sleuth.live.signals import ActivationLook, InputLook, Look, LossLook, WeightLook

_RELU = ("relu", "relu6", "threshold")
_AT_THE_ENDS = {"sigmoid": (0.01, 0.99), "tanh": (-0.99, 0.99)}
LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "matmul", "conv_transpose2d")
_NORMALISING = ("batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm")
_PASSING = ("dropout", "dropout1d", "dropout2d", "alpha_dropout")
_ARITHMETIC = ("mul", "div", "sub", "add", "neg")
# Copying more weights than this to see an update would be felt.
_MOST_WEIGHTS = 30_000_000
_MOST_VALUES = 1 << 20
NOT_NONLINEAR = frozenset((*LINEAR, *_PASSING, "add", "embedding", "cat", "stack", "getitem", "mean", "sum"))


class Lookout:
    """Looks at one step. Fed by an Inspection, by the end of the backward pass and by the optimiser's step."""

    def __init__(self, making: Making, names: Callable[[Tensor], str]) -> None:
        self._making = making
        self._names = names
        self.look = Look(0, math.nan)
        self.losses: dict[int, LossLook] = {}
        self.modes: list[tuple[Any, bool, bool, Call]] = []
        self.recipes: list[Any] = []
        self._before: list[tuple[Tensor, Tensor]] = []

    def begin(self, step: int) -> None:
        self.look = Look(step, math.nan)
        self.losses = {}
        self.modes = []
        self.recipes = []
        self._before = []

    # The forward pass

    def saw(self, call: Call, args: Any, kwargs: Any, result: Any) -> None:
        name = call.name
        if isinstance(result, Tensor) and result.is_meta:
            # Shapes without numbers: a model that is only being built.
            return
        if is_part(result) or any_part(args):
            return
        if name in _ARITHMETIC:
            self._arithmetic(call, args)
        elif name in LOSSES:
            self._loss(call, args, kwargs, result)
        elif name in ("softmax", "log_softmax"):
            call.dim = _dim(args, kwargs)
        elif name in _RELU or name in _AT_THE_ENDS:
            if call.grad_enabled:
                self._activation(call, args, result)
        elif name in _PASSING:
            given = dict(zip(("input", "p", "training"), args, strict=False)) | kwargs
            share = float(given.get("p", 0.5))
            if share > 0:
                self.modes.append((call.module, bool(given.get("training", True)), call.grad_enabled, call))
            if call.grad_enabled:
                self.look.dropouts.append((share, self._made(call)))
        elif name == "batch_norm":
            training = bool(args[5] if len(args) > 5 else kwargs.get("training", False))
            running = getattr(call.module, "track_running_stats", True)
            if running:
                self.modes.append((call.module, training, call.grad_enabled, call))
            self.look.normalisations += 1
        elif name in _NORMALISING:
            self.look.normalisations += 1
        if (
            isinstance(result, Tensor)
            and result.numel() == 1
            and result.is_floating_point()
            and "value" not in call.notes
        ):
            call.notes["value"] = float(result.detach())

    def _arithmetic(self, call: Call, args: Any) -> None:
        call.notes["scalars"] = tuple(float(a) for a in args if isinstance(a, int | float) and not isinstance(a, bool))
        call.notes["first_is_number"] = bool(args) and isinstance(args[0], int | float)
        if call.name == "sub" and len(args) == 2 and all(isinstance(a, Tensor) for a in args):
            self._difference(call, *args)

    def _difference(self, call: Call, one: Tensor, other: Tensor) -> None:
        """(N, 1) - (N,): nobody writes a table of all pairs like this."""
        for column, row in ((one, other), (other, one)):
            if (
                column.dim() == 2
                and row.dim() == 1
                and column.shape[1] == 1
                and column.shape[0] == row.shape[0] > 1
                and column.requires_grad != row.requires_grad
            ):
                call.notes["broadcast"] = (tuple(one.shape), tuple(other.shape))

    def _loss(self, call: Call, args: Any, kwargs: Any, result: Any) -> None:
        if not call.grad_enabled:
            return
        made = back(call.inputs[0]) if call.inputs else None
        found = losses.look(call, args, kwargs, result, made, self.applied(made) if made is not None else None)
        if found is not None:
            found.extra["from_integers"] = _were_integers(call)
            found.extra["computed_targets"] = _come_from_a_model(call)
            self.losses[call.number] = found
            self.look.losses.append(found)
            self.recipes.append((call, args, kwargs))

    def _activation(self, call: Call, args: Any, result: Any) -> None:
        if (
            not isinstance(result, Tensor)
            or result.numel() > _MOST_VALUES
            or result.dim() < 2
            or not result.is_floating_point()
        ):
            return
        maker = _layer_before(call)
        values = result.detach()
        by_unit = values.movedim(1 if maker is not None and maker.name.startswith("conv") else -1, 0).flatten(1)
        zero = by_unit == 0
        saturated = 0.0
        kind = "relu" if call.name in _RELU else call.name
        if kind != "relu":
            low, high = _AT_THE_ENDS[kind]
            saturated = float(((values < low) | (values > high)).double().mean())
        given = args[0].detach() if args and isinstance(args[0], Tensor) and args[0] is not result else values
        self.look.activations.append(
            ActivationLook(
                kind=kind,  # type: ignore[arg-type]
                place=self.applied(call),
                layer=self._layer_name(maker),
                layer_made=self._made(maker) if maker is not None else None,
                dead=float(zero.all(dim=1).double().mean()),
                saturated=saturated,
                units=by_unit.shape[0],
                samples=by_unit.shape[1],
                input_size=float(given.double().abs().mean()),
            )
        )

    def applied(self, call: Call) -> Place | None:
        """Where the user applies this operation: a layer that only a container calls stands where it is made."""
        made = self._making.place(call.module) if call.depth > 1 and call.module is not None else None
        return made or call.place

    def _made(self, call: Call | None) -> Place | None:
        if call is None:
            return None
        return (self._making.place(call.module) if call.module is not None and call.depth else None) or call.place

    def _layer_name(self, call: Call | None) -> str:
        if call is None:
            return ""
        for parameter in call.parameters:
            return self._names(parameter).removesuffix(".weight").removesuffix(".bias")
        return type(call.module).__name__ if call.module is not None else call.name

    # The end of the forward pass

    def differentiated(self, inspection: Inspection, root: Any, value: float) -> None:
        call = inspection.call_of(root)
        self.look.loss = value
        losses.place_in_sum(call, self.losses)
        behind = {id(c) for c in ancestors(call)}
        for activation, made in zip(self.look.activations, self._activations(inspection), strict=False):
            activation.hidden = id(made) in behind and any(
                c.name in LINEAR and made.number < c.number and id(c) in behind for c in inspection.calls
            )
        linear = NOT_NONLINEAR | VIEWS | set(LOSSES)
        self.look.nonlinearities = sum(
            c.had_grad and c.name not in linear and id(c) in behind and len(c.shape) > 0 for c in inspection.calls
        )
        self._inputs(inspection)
        self._linear_pairs(inspection)

    @staticmethod
    def _activations(inspection: Inspection) -> Iterable[Call]:
        names = (*_RELU, *_AT_THE_ENDS)
        return [c for c in inspection.calls if c.name in names and c.grad_enabled and len(c.shape) >= 2]

    def _inputs(self, inspection: Inspection) -> None:
        seen = set()
        for root in inspection.roots:
            module = root.module()
            values = next((a for a in root.given if isinstance(a, Tensor) and a.is_floating_point()), None)
            if module is None or values is None or not root.grad_enabled or values.dim() < 2 or id(values) in seen:
                continue
            if type(module).__module__.startswith("torch.nn.modules.") and not any(True for _ in module.parameters()):
                continue
            seen.add(id(values))
            if not values.requires_grad and values.shape[0] > 0:
                self.look.inputs.append(_input_look(root, values.detach(), inspection))

    def _linear_pairs(self, inspection: Inspection) -> None:
        for call in inspection.calls:
            if call.name not in ("linear",) or not call.parameters or not call.inputs:
                continue
            before: Call | None = back(call.inputs[0])
            while before is not None and before.name in _PASSING and before.inputs:
                before = back(before.inputs[0])
            if before is not None and before.name in ("linear",) and before.parameters:
                self.look.linear_pairs.append((self._layer_name(before), self._layer_name(call), self._made(call)))

    # The step

    def before_step(self, parameters: list[Tensor]) -> None:
        if sum(p.numel() for p in parameters) <= _MOST_WEIGHTS:
            self._before = [(p, local(p).detach().clone()) for p in parameters if p.requires_grad]

    def after_step(self, owners: dict[int, Any], parameters: list[Tensor]) -> None:
        before = {id(p): old for p, old in self._before}
        measured = [p for p in parameters if p.requires_grad and p.layout == torch.strided and p.device.type != "meta"]
        measured = [p for p in measured if local(p).numel()]
        if not measured:
            return
        sizes = [float(n) for n in sentinel.norms([before.get(id(p), local(p).detach()) for p in measured])]
        for parameter, size in zip(measured, sizes, strict=True):
            values = local(parameter).detach()
            gradient = None if parameter.grad is None else local(parameter.grad).detach()
            old = before.get(id(parameter))
            owner = owners.get(id(parameter))
            change = None if old is None else values - old
            units = self._units_first(values)
            rows = units.flatten(1) if units.dim() > 1 and units.shape[0] > 1 else None
            half = parameter.dtype in (torch.float16, torch.bfloat16)
            self.look.weights.append(
                WeightLook(
                    name=self._names(parameter),
                    shape=tuple(units.shape),
                    made=self._making.place(owner) if owner is not None else None,
                    initialised=self._making.place_of_weights(parameter),
                    norm=size,
                    gradient_norm=None if gradient is None else float(sentinel.norms([gradient])[0]),
                    update_norm=None if change is None else float(change.float().norm()),
                    rows_equal=None if rows is None else bool((rows == rows[:1]).all()),
                    unchanged=float((change == 0).double().mean()) if half and change is not None else None,
                    half=half,
                    is_embedding=self._is_embedding(owner),
                )
            )
        self._before = []

    def _units_first(self, weight: Tensor) -> Tensor:
        """A weight with what each of its units reads behind the unit, as torch lays them out."""
        return weight

    def _is_embedding(self, owner: Any) -> bool:
        return isinstance(owner, nn.Embedding | nn.EmbeddingBag)


def _input_look(root: RootCall, values: Tensor, inspection: Inspection) -> InputLook:
    first = ""
    for call in inspection.calls[root.first_call :]:
        if not call.parameters and call.name not in ("batch_norm", "layer_norm"):
            continue
        first = call.name
        break
    return input_look(values, first, root.place, sum(isinstance(a, Tensor) for a in root.given) - 1)


def input_look(values: Tensor, first: str, place: Place | None, others: int) -> InputLook:
    """`first` is the operation with weights that reads these values, `others` how many further inputs there are."""
    some = values.flatten()[:_MOST_VALUES].double()
    finite = some[torch.isfinite(some)]
    columns: tuple[int, ...] = ()
    held: tuple[float, ...] = ()
    if values.dim() == 2 and values.shape[0] > 3:
        same = (values == values[:1]).all(dim=0)
        columns = tuple(int(i) for i in same.nonzero().flatten()[:64])
        held = tuple(float(values[0, i]) for i in columns)
    return InputLook(
        place=place,
        shape=tuple(values.shape),
        low=float(finite.min()) if finite.numel() else math.nan,
        high=float(finite.max()) if finite.numel() else math.nan,
        mean=float(finite.mean()) if finite.numel() else math.nan,
        spread=float(finite.std()) if finite.numel() > 1 else math.nan,
        first_layer=first,
        identical_rows=values.shape[0] > 3 and bool((values == values[:1]).all()),
        constant_columns=columns,
        normalised_first=first in _NORMALISING,
        column_values=held,
        others=others,
    )


def _layer_before(call: Call) -> Call | None:
    """The layer with weights whose output this activation gets."""
    before = call.inputs[0] if call.inputs else None
    for _ in range(6):
        if before is None or (before.parameters and before.name in LINEAR):
            return before
        before = before.inputs[0] if before.inputs else None
    return None


def _come_from_a_model(loss: Call) -> bool:
    """Does a network compute the targets itself, as in distillation or Q-learning?"""
    return any(one.parameters for target in loss.inputs[1:] for one in ancestors(target))


def _were_integers(loss: Call) -> bool:
    """Were the targets of this loss whole numbers by type before they were converted?"""
    for call in loss.inputs[1:]:
        first = call
        while first.inputs and first.name in VIEWS:
            first = first.inputs[0]
        tensors = [source() for source in first.sources]
        if first.name in VIEWS and any(t is not None and not t.is_floating_point() for t in tensors):
            return True
    return False


def _dim(args: Any, kwargs: Any) -> int | None:
    dim = args[1] if len(args) > 1 else kwargs.get("dim")
    tensor = args[0] if args else kwargs.get("input")
    if not isinstance(dim, int) or not isinstance(tensor, Tensor):
        return None
    return dim % tensor.dim() if tensor.dim() else dim
