"""The batches of a run: the same one again and again? one class at a time? how many to an epoch?"""

from __future__ import annotations

import sys
import weakref
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import RandomSampler
from torch.utils.data.distributed import DistributedSampler

from sleuth.live.batches import named_tensors
from sleuth.live.learning.looks import Lookout
from sleuth.live.learning.making import Making
from sleuth.live.naming import same_memory
from sleuth.live.signals import Run
from sleuth.program import users_place

_BATCHES = 256


class BatchLedger:
    def __init__(self, run: Run, making: Making) -> None:
        self._run = run
        self._making = making
        self._starting: Any = None
        self._label: str | None = None
        self._newest: Any = None
        self._first: tuple[Any, int, Any] | None = None
        self._classes: set[Any] = set()
        self._seen = 0
        self._shuffled: tuple[int, int] | None = None
        # Does each rank get its own part of the data?
        self.distributed = False

    def started(self, loader: Any) -> None:
        self._starting = weakref.ref(loader)

    def dealt(self, iterator: Any, batch: Any, step: int) -> None:
        if self._seen >= _BATCHES:
            return
        self._seen += 1
        self._newest = batch if self._label is None else None
        loader = self._starting() if self._starting is not None else None
        if loader is not None and getattr(loader, "dataset", None) is getattr(iterator, "_dataset", self):
            self._run.loader_made = self._making.place_of_loader(loader) or self._run.loader_made
            sampler = getattr(loader.batch_sampler, "sampler", None) or loader.sampler
            self._run.shuffled = isinstance(sampler, RandomSampler)
            self.distributed = isinstance(sampler, DistributedSampler) and sampler.num_replicas > 1
        self._note_same(iterator, loader, step)
        if self._label is not None and self._run.epochs == 0:
            self._note_classes(batch)

    def _note_same(self, iterator: Any, loader: Any, step: int) -> None:
        memory = iterator.__dict__.get("_sleuth_dealt")
        if memory is None or not memory.recent:
            return
        indices = memory.recent[-1].indices
        if memory.count != 1 or not isinstance(indices, list) or indices[:1] == [None]:
            self._first = None
            return
        before, self._first = self._first, (indices, step, id(iterator))
        try:
            several = loader is not None and len(loader) > 1
        except TypeError:
            several = False
        if before is not None and before[0] == indices and step > before[1] and several:
            place = users_place(sys._getframe(1))
            self._run.facts.note("same batch again", step, place, numbers={"batches": len(loader)})

    def _note_classes(self, batch: Any) -> None:
        labels = next((tensor for name, tensor in named_tensors(batch) if name == self._label), None)
        if labels is None or labels.numel() < 8 or labels.dim() > 2:
            return
        found = labels.unique()
        if found.numel() > 1000:
            return
        self._run.batches_seen += 1
        self._run.batches_of_one_class += found.numel() == 1
        self._classes.update(found.tolist())
        self._run.classes_seen = len(self._classes)

    def targets(self, lookout: Lookout) -> None:
        """Which tensor of the batch the loss function was given as its labels."""
        batch, self._newest = self._newest, None
        if batch is None or self._label is not None:
            return
        for call, args, kwargs in lookout.recipes:
            target = args[1] if len(args) > 1 else kwargs.get("target")
            loss = lookout.losses.get(call.number)
            if loss is None or not loss.is_root or not isinstance(target, Tensor) or not loss.integral_targets:
                continue
            for name, tensor in named_tensors(batch):
                if same_memory(tensor, target) or (
                    tensor.numel() == target.numel() and torch.equal(tensor.flatten().to(target), target.flatten())
                ):
                    self._label = name
                    return

    def ended(self, iterator: Any) -> None:
        memory = iterator.__dict__.get("_sleuth_dealt")
        if memory is not None and memory.count:
            self._run.epochs += 1
            self._run.batches_per_epoch = memory.count
            self._note_order()

    def _note_order(self) -> None:
        """A distributed sampler shuffles by the epoch it is told, and by nothing else."""
        loader = self._starting() if self._starting is not None else None
        sampler = getattr(loader, "sampler", None)
        if not isinstance(sampler, DistributedSampler) or not sampler.shuffle:
            return
        before, self._shuffled = self._shuffled, (id(sampler), sampler.epoch)
        if before == self._shuffled:
            place = self._making.place(loader)
            self._run.facts.note("same order again", self._run.step, place, numbers={"epoch": sampler.epoch})
