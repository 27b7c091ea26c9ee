"""Are the ranks still the same model, fed with different data? At a few steps each one leaves a fingerprint of its
weights and its batch in the store that brought the ranks together; the first rank compares them a look later.

Never a collective call: a rank that has fallen behind, or died, must not be waited for."""

from __future__ import annotations

import hashlib
import json
import weakref
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from sleuth.findings import Place
from sleuth.frameworks import torch_private
from sleuth.frameworks.after_import import AfterImport
from sleuth.live import sentinel
from sleuth.live.learning.listener import Learning, is_due
from sleuth.live.ranks import distributed
from sleuth.live.ranks.shards import any_part, is_part
from sleuth.live.ranks.team import store_of, wait_for
from sleuth.live.wraps import Wraps, after, before

_Unseen = torch_private.get("torch._C.DisableTorchFunction")

# Of each parameter the first so many values, and of all parameters the first so many: drift spares none of them.
_VALUES = 1 << 16
_PARAMETERS = 512
_BYTES = 1 << 18
# Equal weights have equal fingerprints; this leaves room for devices that add up in another order.
_TOLERANCE = 1e-6
_WAITING = 8
_SECONDS_AT_THE_END = 1.0


@dataclass(frozen=True, slots=True)
class _Apart:
    """A look at which the ranks' weights differ: the first parameter that does, by how much, and how many do."""

    number: int
    parameter: str
    wrapped: bool
    by: float
    different: int


@dataclass(eq=False)
class _Seen:
    """What the comparisons have come to so far."""

    first: _Apart | None = None
    apart: int = 0
    equal_after: bool = False
    same_data: int = 0
    compared_data: int = 0
    batches: set[str] = field(default_factory=set)
    gradients_shared: bool = False
    gradients_differ: bool = False


class Drift:
    """Hears backward passes and steps of this rank (from `live.both`)."""

    def __init__(self, learning: Learning) -> None:
        self._learning = learning
        self._wraps = Wraps()
        self._wrapped: list[tuple[Any, set[int]]] = []
        self._pattern = torch.zeros(0, dtype=torch.float64)
        self._backwards = self._forwards = self._steps = self._unsynced = 0
        self._synced = False
        self._gradients: list[float] = []
        self._posted: deque[tuple[int, dict[str, Any], list[str], list[bool]]] = deque(maxlen=_WAITING)
        self._seen = _Seen()
        self._called: Place | None = None
        self._looked = False
        self.off = False

    def install(self, imports: AfterImport) -> None:
        import torch.distributed
        from torch.nn.parallel import DistributedDataParallel

        public: Any = torch.distributed
        if not public.is_available():
            return
        self._wraps.wrap(DistributedDataParallel, "__init__", after(self._wrapped_a_model))
        self._wraps.wrap(DistributedDataParallel, "forward", before(self._went_through_the_wrapper))
        self._wraps.wrap(public.distributed_c10d, "destroy_process_group", before(lambda *a, **k: self.finish()))
        self._wraps.patches.set(public, "destroy_process_group", public.distributed_c10d.destroy_process_group)

    def remove(self) -> None:
        self._wraps.remove()

    # What is heard

    def _wrapped_a_model(self, wrapper: Any, *args: Any, **kwargs: Any) -> None:
        self._wrapped.append((weakref.ref(wrapper), {id(parameter) for parameter in wrapper.module.parameters()}))

    def _went_through_the_wrapper(self, *args: Any, **kwargs: Any) -> None:
        self._forwards += 1

    def backward_begins(self) -> None:
        """Called for every backward pass of the program's own."""
        if self.off or distributed() is None:
            return
        if not self._synced:
            self._synced = any(w.require_backward_grad_sync for ref, _ in self._wrapped if (w := ref()) is not None)
        number, self._backwards = self._backwards, self._backwards + 1
        if is_due(number):
            self._safely(lambda: self._look(number))

    def step_begins(self, optimizer: Any) -> None:
        if self._looked and not self.off:
            self._looked = False
            self._safely(lambda: self._look_at_gradients(optimizer))

    def step_ended(self) -> None:
        self._steps += 1
        self._unsynced += not self._synced
        self._synced = False

    def finish(self) -> None:
        """The ranks part, or the program ends."""
        if not self.off and distributed() is not None:
            self._safely(lambda: self._compare(_SECONDS_AT_THE_END))

    def _safely(self, action: Any) -> None:
        try:
            with _Unseen(), torch.no_grad():
                action()
        except Exception:
            # The store is gone with the rank that held it, or a tensor cannot be read: then nothing is compared.
            self.off = True

    # Fingerprints

    def _look(self, number: int) -> None:
        module = distributed()
        parameters = self._parameters()
        self._note_calls()
        word = {
            "weights": [self._fingerprint(p) for p in parameters],
            "gradients": self._gradients,
            "data": self._batch(),
            "steps": self._steps,
            "clips": self._learning.clippings,
        }
        if module.get_rank() == 0:
            names = [self._learning.name(p) for p in parameters]
            ours = {key for _, ids in self._wrapped for key in ids}
            self._posted.append((number, word, names, [id(p) in ours for p in parameters]))
        else:
            store_of(module).set(f"look/{number}/{module.get_rank()}", json.dumps(word))
        self._looked = True
        self._compare(0.0)

    def _parameters(self) -> list[Tensor]:
        every = [p for optimizer in self._learning.holding.in_use() for p in sentinel.parameters_of(optimizer)]
        return [p for p in every if not is_part(p) and p.layout == torch.strided and not p.is_meta][:_PARAMETERS]

    def _fingerprint(self, tensor: Tensor) -> float:
        """The values weighted by a fixed pattern: any change of any of them shows, and how large it is."""
        values = tensor.detach().flatten()[:_VALUES].to("cpu", torch.float64)
        if self._pattern.numel() < values.numel():
            self._pattern = torch.cos(torch.arange(values.numel(), dtype=torch.float64))
        return float(values.real @ self._pattern[: values.numel()])

    def _look_at_gradients(self, optimizer: Any) -> None:
        some = [p.grad for p in sentinel.parameters_of(optimizer)[:32] if p.grad is not None and not is_part(p)]
        self._gradients = [self._fingerprint(gradient) for gradient in some if gradient.layout == torch.strided]

    def _note_calls(self) -> None:
        for root in self._learning.inspection.roots:
            module = root.module()
            wrapped = [wrapper.module for ref, _ in self._wrapped if (wrapper := ref()) is not None]
            if self._called is None and any(module is part for one in wrapped for part in one.modules()):
                self._called = root.place

    def _batch(self) -> str | None:
        """What the model was given, as a hash."""
        for root in self._learning.inspection.roots:
            given = [a for a in root.arguments if isinstance(a, Tensor) and not a.requires_grad and a.numel() > 1]
            if root.grad_enabled and given and not any_part(given):
                digest = hashlib.blake2b(digest_size=8)
                for tensor in given:
                    raw = tensor.detach().contiguous().flatten().view(torch.uint8)[:_BYTES]
                    digest.update(raw.cpu().numpy().tobytes())
                return digest.hexdigest()
        return None

    # Comparing

    def _compare(self, seconds: float) -> None:
        module = distributed()
        if module.get_rank() != 0:
            return
        store = store_of(module)
        others = range(1, module.get_world_size())
        while self._posted:
            number, mine, names, ours = self._posted[0]
            keys = [f"look/{number}/{rank}" for rank in others]
            if not wait_for(store, keys, seconds):
                return
            self._posted.popleft()
            words = {0: mine} | {rank: json.loads(store.get(key)) for rank, key in zip(others, keys, strict=True)}
            for key in keys:
                with suppress(Exception):
                    store.delete_key(key)
            self._weigh(number, words, names, ours)

    def _weigh(self, number: int, words: dict[int, dict[str, Any]], names: list[str], ours: list[bool]) -> None:
        seen = self._seen
        self._weigh_data([word["data"] for word in words.values()], number, len(words))
        weights = [word["weights"] for word in words.values()]
        if any(len(one) != len(weights[0]) for one in weights):
            # Each rank has a model, or a part of one, of its own.
            self.off = True
            return
        gradients = [word["gradients"] for word in words.values()]
        if all(gradients):
            shared = all(_equal(one, gradients[0]) for one in gradients)
            seen.gradients_shared |= shared
            seen.gradients_differ |= not shared
        different = [i for i in range(len(names)) if not _alike([one[i] for one in weights])]
        if not different:
            seen.equal_after |= seen.first is not None
            return
        seen.apart += 1
        by = _apart([one[different[0]] for one in weights])
        first = seen.first = seen.first or _Apart(number, names[different[0]], ours[different[0]], by, len(different))
        self._learning.run.facts.note(
            "ranks apart",
            self._learning.run.step,
            who="weights",
            numbers={
                "looks": seen.apart,
                "first look": first.number,
                "equal in between": seen.equal_after,
                "parameter": first.parameter,
                "different": first.different,
                "parameters": len(names),
                "ranks": tuple(words),
                "by": first.by,
                "intent": self._intent(),
                "cause": self._cause(words, first),
            },
            called=self._called,
        )

    def _weigh_data(self, batches: list[str | None], number: int, ranks: int) -> None:
        seen = self._seen
        if any(one is None for one in batches):
            return
        seen.compared_data += 1
        if len(set(batches)) > 1:
            return
        seen.same_data += 1
        seen.batches.add(str(batches[0]))
        self._learning.run.facts.note(
            "same data",
            self._learning.run.step,
            who="batch",
            numbers={
                "same": seen.same_data,
                "compared": seen.compared_data,
                "different batches": len(seen.batches),
                "ranks": tuple(range(ranks)),
                "intent": self._intent(),
            },
        )

    def _intent(self) -> str | None:
        """What says that the ranks are to train one model together, each on its part of the data?"""
        wrappers = [wrapper for ref, _ in self._wrapped if (wrapper := ref()) is not None]
        if any("localSGD" in str(hook) or "local_sgd" in str(hook) for w in wrappers for hook in _hooks(w)):
            return None
        if wrappers:
            return "DistributedDataParallel"
        if self._is_fsdp():
            return "FSDP"
        if self._seen.gradients_shared:
            return "shared gradients"
        return "DistributedSampler" if self._learning.batches.distributed else None

    def _is_fsdp(self) -> bool:
        """Sharded by FSDP alone: with a second way of sharding, ranks get the same batch on purpose."""
        every = [p for optimizer in self._learning.holding.in_use() for p in sentinel.parameters_of(optimizer)]
        parts = [p for p in every if is_part(p)]
        if any(getattr(getattr(p, "device_mesh", None), "ndim", 1) > 1 for p in parts):
            return False
        roots = [root.module() for root in self._learning.inspection.roots]
        names = {kind.__name__ for root in roots for kind in type(root).__mro__}
        return bool(parts) and not names.isdisjoint(("FSDPModule", "FullyShardedDataParallel"))

    def _cause(self, words: dict[int, dict[str, Any]], first: _Apart) -> str:
        """The reason, by what tells the reasons apart; what was not seen is not guessed."""
        seen = self._seen
        if len({word["steps"] for word in words.values()}) > 1:
            return "steps"
        if self._wrapped and (not self._forwards or self._called is not None):
            return "raw module"
        if self._wrapped and not first.wrapped:
            return "after wrapping"
        if self._wrapped and self._unsynced >= self._steps > 0:
            return "no_sync"
        if len({word["clips"] for word in words.values()}) > 1:
            return "clipping"
        if first.number == 0:
            return "written" if self._wrapped else "start"
        if not self._wrapped and not seen.gradients_shared:
            return "gradients"
        if seen.gradients_differ:
            return "gradients differ"
        return "update" if seen.gradients_shared else "unknown"


def _hooks(wrapper: Any) -> list[Any]:
    return [getattr(hook, "__name__", hook) for hook, _ in getattr(wrapper, "_comm_hooks", [])]


def _alike(values: list[float]) -> bool:
    return _apart(values) <= _TOLERANCE


def _apart(values: list[float]) -> float:
    """How far these numbers differ, relative to their size."""
    largest = max(abs(value) for value in values)
    return 0.0 if largest == 0 else (max(values) - min(values)) / largest


def _equal(one: list[float], other: list[float]) -> bool:
    return len(one) == len(other) and all(_alike([a, b]) for a, b in zip(one, other, strict=True))
