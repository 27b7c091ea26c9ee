"""From the live objects of a run to what a bundle holds of them."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from sleuth.findings import Place
from sleuth.live.batches import Batch, Dealt
from sleuth.live.bundle import census, format
from sleuth.live.bundle.tree import Planter
from sleuth.live.replay import Trouble, has_compiled
from sleuth.live.rounds import Rounds
from sleuth.live.snapshot import RandomState
from sleuth.program import place_of


@dataclass(frozen=True, slots=True)
class Stored:
    """One tensor as `format.write` takes it. It comes to the host only while it is written."""

    tensor: Tensor

    @property
    def kind(self) -> str:
        return str(self.tensor.dtype).removeprefix("torch.")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape) * format.ITEM_SIZE[self.kind]

    def raw(self) -> memoryview:
        if not self.size:
            return memoryview(b"")
        host = self.tensor.detach().resolve_conj().resolve_neg().to("cpu").contiguous()
        view = (ctypes.c_ubyte * self.size).from_address(host.data_ptr())
        # The view keeps no tensor alive by itself.
        view.owner = host  # type: ignore[attr-defined]
        return memoryview(view).cast("B")


class Gathering:
    """Everything of one step. `tensors` is in the order of their numbers."""

    def __init__(self, trouble: Trouble, rounds: Rounds, frame: FrameType | None) -> None:
        self.tensors: list[Stored] = []
        self._numbers: dict[int, int] = {}
        self._planter = Planter(self._store)
        self._trouble = trouble
        self._rounds = rounds
        self._census = census.take(frame)

    def content(self, room: int) -> dict[str, Any]:
        """All parts of bundle.json that come from the live objects, in at most `room` bytes of tensors."""
        driving = self._rounds.loaders(self._trouble.optimizer)
        window = self._trouble.window
        loaders = [self._loader(dealt, window) for dealt in driving or self._rounds.dealer.current()]
        random = self._random(self._rounds.random_at_start())
        self._check_room(room)
        content = {
            "symptom": self._symptom(window),
            "begins": "deal" if driving else "step" if self._trouble.step else "optimizer",
            "compiled": has_compiled(),
            "loaders": loaders,
            "random": random,
            "scalers": [self._planter.plant(scaler.state_dict(), "scaler") for scaler in self._census.scalers],
            **self._weights(room),
        }
        return {**content, "missing": list(dict.fromkeys(self._planter.missing))}

    def _symptom(self, window: int) -> dict[str, Any]:
        which = [i for i, one in enumerate(self._census.optimizers) if one is self._trouble.optimizer]
        return {
            "kind": self._trouble.symptom,
            "optimizer": which[0] if which else None,
            "backward": place(self._rounds.backward.place),
            "batches": window,
        }

    def _loader(self, dealt: Dealt, window: int) -> dict[str, Any]:
        # The batch before the failing one is of interest only where the loader runs ahead of the loop.
        ahead = self._rounds.dealer.keeps > 1
        batches = dealt.to_replay(window) if ahead else dealt.to_replay(window)[:window]
        at = batches[0].dealt_at if batches else None
        return {
            "place": place(place_of(*at) if at is not None else None),
            "batches": [self._batch(batch) for batch in batches],
        }

    def _batch(self, batch: Batch) -> dict[str, Any]:
        indices = batch.indices if isinstance(batch.indices, list) else None
        return {
            "content": self._planter.plant(batch.content, "the batch"),
            "random": self._random(batch.random),
            "samples": self._planter.plant(indices, "the batch's indices"),
        }

    def _random(self, state: RandomState | None) -> Any:
        if state is None:
            return None
        own = [[type(generator).__name__, kept] for generator, kept in state.generators]
        parts = {
            "torch": state.torch_cpu,
            "python": state.python,
            "numpy": state.numpy,
            "accelerator": list(state.accelerator),
            "own": own,
        }
        return self._planter.plant(parts, "random numbers")

    def _check_room(self, room: int) -> None:
        used = sum(stored.size for stored in self.tensors)
        if used > room:
            raise OSError(f"its batch alone takes {used:,} bytes, and {room:,} may be written")

    def _weights(self, room: int) -> dict[str, Any]:
        """Models, loose variables and optimisers; without any of them where they would be too large."""
        before, missing_before = len(self.tensors), len(self._planter.missing)
        parts = {
            "modules": [self._model(model) for model in self._census.models],
            "variables": self._named(self._census.variables.items(), "variable"),
            "optimizers": [self._optimizer(optimizer) for optimizer in self._census.optimizers],
            "weights": True,
        }
        size = sum(stored.size for stored in self.tensors)
        if size <= room:
            return parts
        del self.tensors[before:], self._planter.missing[missing_before:]
        self._planter.missing.append(f"weights and optimiser state: they would take {size:,} bytes")
        return {"modules": [], "variables": [], "optimizers": [], "weights": False}

    def _model(self, model: Any) -> dict[str, Any]:
        buffers = ((name, self._rounds.buffers.at_start(buffer)) for name, buffer in model.named_buffers())
        name = type(model).__qualname__
        return {
            "class": name,
            "parameters": self._named(model.named_parameters(remove_duplicate=False), name),
            "buffers": self._named(buffers, name),
        }

    def _named(self, tensors: Any, owner: str) -> list[list[Any]]:
        named = []
        for name, tensor in tensors:
            number = self._store(tensor)
            if number is None:
                self._planter.missing.append(f"{owner} {name}: {type(tensor).__name__}")
            else:
                named.append([name, number])
        return named

    def _optimizer(self, optimizer: Any) -> dict[str, Any]:
        name = type(optimizer).__qualname__
        groups, states = [], []
        for group in optimizer.param_groups:
            numbers = [self._store(parameter) for parameter in group["params"]]
            settings = {key: value for key, value in group.items() if key != "params"}
            groups.append(
                {
                    "parameters": [number for number in numbers if number is not None],
                    "settings": self._planter.plant(settings, f"settings of {name}"),
                }
            )
            for parameter, number in zip(group["params"], numbers, strict=True):
                held = optimizer.state.get(parameter)
                if held and number is not None:
                    states.append({"parameter": number, "holds": self._planter.plant(held, f"state of {name}")})
        return {"class": name, "groups": groups, "state": states}

    def _store(self, tensor: Tensor) -> int | None:
        known = self._numbers.get(id(tensor))
        if known is not None:
            return known
        if not _is_plain(tensor):
            return None
        self.tensors.append(Stored(tensor))
        self._numbers[id(tensor)] = len(self.tensors) - 1
        return len(self.tensors) - 1


def _is_plain(tensor: Tensor) -> bool:
    """Numbers in memory, and nothing behind them: no sharded, fake, sparse or quantised tensor."""
    own_dispatch = type(tensor).__torch_dispatch__ is not Tensor.__torch_dispatch__
    known = str(tensor.dtype).removeprefix("torch.") in format.ITEM_SIZE
    return known and not own_dispatch and tensor.layout == torch.strided and tensor.device.type != "meta"


def place(at: Place | None) -> dict[str, Any] | None:
    return None if at is None else {"path": at.path, "line": at.line, "code": at.code}
