"""What ranks decide together. A rank that repeated a step by itself would call collectives that nobody answers."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from sleuth.findings import Finding
from sleuth.live.ranks import distributed
from sleuth.live.ranks.shards import any_part, is_part

# Ranks that share their gradients come to the optimiser's step within moments of each other. One that has not come
# after this does not know of the trouble.
SECONDS_TO_GATHER = 10.0
# A traced step is slow, and not equally slow everywhere.
SECONDS_TO_CONCLUDE = 60.0
_SECONDS_BETWEEN_ASKING = 0.005

# How much a verdict tells: the loss was bad in this rank's own forward pass; an operation of its own is to blame; the
# number arrived from elsewhere; it was not seen at all.
IN_OWN_FORWARD, BORN_HERE, ARRIVED, UNSEEN = 3, 2, 1, 0

Word = dict[str, Any]


def weight(finding: Finding, in_forward: bool) -> int:
    """How much this verdict tells. What came with an all-reduce has no line of the program."""
    if finding.diagnosis == "non-finite-loss":
        return UNSEEN
    if in_forward:
        return IN_OWN_FORWARD
    return BORN_HERE if finding.place is not None else ARRIVED


def speaks(words: dict[int, Word], rank: int) -> bool:
    """Does this rank's verdict count? Each of an own birth does; of lesser ones, the first of the best."""
    best = max(word["weight"] for word in words.values())
    with_best = sorted(one for one, word in words.items() if word["weight"] == best)
    return rank in with_best if best >= BORN_HERE else rank == with_best[0]


class Team:
    """This process among the others. Healthy steps send nothing, but for sharded gradients one number each."""

    def __init__(self) -> None:
        self._groups: dict[tuple[int, ...], Any] = {}
        self._sharded: dict[tuple[int, int], bool] = {}

    @property
    def several(self) -> bool:
        return distributed() is not None

    @property
    def rank(self) -> int:
        module = distributed()
        return 0 if module is None else int(module.get_rank())

    def whole_norm(self, norm: float, parameters: list[Tensor]) -> float:
        """The norm over all shards, where gradients are sharded: not finite as soon as it is so on any rank. FSDP
        keeps its ranks in step, so that all of them ask at once."""
        module = distributed()
        if module is None or not self._are_sharded(parameters):
            return norm
        total = torch.tensor([norm * norm if math.isfinite(norm) else math.nan], dtype=torch.float64)
        # A lost rank is the program's to notice, in its own next collective.
        with suppress(RuntimeError):
            module.all_reduce(total, group=self._group(module, parameters))
        return math.sqrt(float(total))

    def anywhere(self, flag: bool, parameters: list[Tensor]) -> bool:
        """Is it so on any of the ranks that share these sharded parameters? Elsewhere all ranks see the same."""
        module = distributed()
        if module is None or not self._are_sharded(parameters):
            return flag
        flags = torch.tensor([float(flag)])
        with suppress(RuntimeError):
            module.all_reduce(flags, op=module.ReduceOp.MAX, group=self._group(module, parameters))
        return bool(flags.item())

    def _are_sharded(self, parameters: list[Tensor]) -> bool:
        """Asked at every step, so looked at once for each list of parameters."""
        key = (id(parameters[0]), len(parameters)) if parameters else (0, 0)
        if key not in self._sharded:
            self._sharded[key] = any_part(parameters)
        return self._sharded[key]

    def _group(self, module: Any, parameters: list[Tensor]) -> Any:
        """A gloo group of our own, so that nothing of ours gets between the program's collectives."""
        part = next(parameter for parameter in parameters if is_part(parameter))
        mesh = getattr(part, "device_mesh", None)
        ranks = tuple(range(module.get_world_size()) if mesh is None else sorted(mesh.mesh.flatten().tolist()))
        if ranks not in self._groups:
            self._groups[ranks] = module.new_group(list(ranks), backend="gloo", use_local_synchronization=True)
        return self._groups[ranks]

    def exchange(self, topic: str, word: Word, seconds: float) -> dict[int, Word] | None:
        """Say a word and hear those of all others; None where some rank has said nothing in this time. Through the
        store that brought the ranks together, since a collective call might wait for ever."""
        module = distributed()
        if module is None:
            return None
        me, everyone = module.get_rank(), range(module.get_world_size())
        keys = [f"{topic}/{rank}" for rank in everyone]
        try:
            store = store_of(module)
            store.set(keys[me], json.dumps(word))
            if wait_for(store, keys, seconds):
                return {rank: json.loads(store.get(keys[rank])) for rank in everyone}
        except RuntimeError:
            # The store is gone with the process that held it.
            return None
        return None


def store_of(module: Any) -> Any:
    """The key-value store of the default process group, our keys apart from the program's."""
    return module.PrefixStore("sleuth", module.distributed_c10d._get_default_store())


def wait_for(store: Any, keys: Iterable[str], seconds: float) -> bool:
    """Are all keys there within this time?"""
    deadline = time.monotonic() + seconds
    wanted = list(keys)
    while not store.check(wanted):
        if time.monotonic() > deadline:
            return False
        time.sleep(_SECONDS_BETWEEN_ASKING)
    return True
