"""Small programs that each make one error of a DataLoader or of a process group happen, by signature."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split
from torch.utils.data.distributed import DistributedSampler


class Each(Dataset[Any]):
    """A data set of what a function gives for each index."""

    def __init__(self, make: Callable[[int], Any], length: int = 4) -> None:
        self.make, self.length = make, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return self.make(index)


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(3))


class NoItems(Dataset[Any]):
    def __len__(self) -> int:
        return 3


def _die(index: int) -> torch.Tensor:
    os.kill(os.getpid(), signal.SIGKILL)
    return torch.ones(1)


def _raise(index: int) -> torch.Tensor:
    raise LookupError("no such sample")


def load(make: Callable[[int], Any], **options: Any) -> list[Any]:
    return list(DataLoader(Each(make), batch_size=2, **options))


def _uninitialised() -> None:
    torch.distributed.all_reduce(torch.ones(1))


def _without_environment() -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        os.environ.pop(name, None)
    torch.distributed.init_process_group("gloo", init_method="env://")


def _parallel_without_group() -> None:
    torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))


def _in_a_group(run: Callable[[], Any]) -> None:
    """In a process group of one."""
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        run()
    finally:
        torch.distributed.destroy_process_group()


def _unused_in_parallel() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.used(x)

    def train() -> None:
        model = torch.nn.parallel.DistributedDataParallel(Net())
        for _ in range(2):
            model(torch.ones(1, 1)).sum().backward()

    _in_a_group(train)


def _frozen_in_parallel() -> None:
    frozen = torch.nn.Linear(1, 1).requires_grad_(False)
    _in_a_group(lambda: torch.nn.parallel.DistributedDataParallel(frozen))


def _warned(run: Callable[[], Any]) -> None:
    """A warning raised as the error it stands for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run()


def _taken_port() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        torch.distributed.TCPStore("127.0.0.1", port, 1, True)


RAISED: dict[str, list[Callable[[], Any]]] = {
    "stack-sizes": [lambda: load(lambda i: torch.ones(i + 1)), lambda: torch.stack([torch.ones(2), torch.ones(3)])],
    "collate-type": [lambda: load(lambda i: None), lambda: load(lambda i: object())],
    "collate-lengths": [lambda: load(lambda i: [1] * (i + 1))],
    "collate-arrays": [lambda: load(lambda i: np.array(["a"], dtype=object))],
    "worker-killed": [lambda: load(_die, num_workers=1)],
    "worker-raised": [lambda: load(_raise, num_workers=1)],
    "sampler-and-shuffle": [
        lambda: DataLoader(Each(lambda i: i), shuffle=True, sampler=torch.utils.data.SequentialSampler([1])),
    ],
    "batch-sampler-and-size": [
        lambda: DataLoader(
            Each(lambda i: i),
            batch_size=2,
            batch_sampler=torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler([1]), 1, False),
        ),
    ],
    "iterable-shuffle": [lambda: DataLoader(Stream(), shuffle=True)],
    "empty-dataset": [lambda: DataLoader(Each(lambda i: i, 0), shuffle=True)],
    "workers-negative": [lambda: DataLoader(Each(lambda i: i), num_workers=-1)],
    "prefetch-without-workers": [lambda: DataLoader(Each(lambda i: i), prefetch_factor=2)],
    "persistent-without-workers": [lambda: DataLoader(Each(lambda i: i), persistent_workers=True)],
    "dataset-without-items": [lambda: list(DataLoader(NoItems()))],
    "random-split-lengths": [lambda: random_split(Each(lambda i: i, 4), [2, 3])],
    "tensors-of-different-lengths": [lambda: TensorDataset(torch.ones(2), torch.ones(3))],
    "worker-timeout": [lambda: load(lambda i: __import__("time").sleep(60), num_workers=1, timeout=1)],
    "group-not-initialised": [
        _uninitialised,
        _parallel_without_group,
        lambda: DistributedSampler(Each(lambda i: i)),
    ],
    "rendezvous-variable": [_without_environment],
    "port-in-use": [_taken_port],
    "replica-out-of-range": [lambda: DistributedSampler(Each(lambda i: i), num_replicas=2, rank=3)],
    "pickled-function": [lambda: list(DataLoader(Each(lambda i: i), num_workers=1, multiprocessing_context="spawn"))],
    "nccl-missing": [
        lambda: torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    ],
    "workers-more-than-cores": [lambda: _warned(lambda: DataLoader(Each(lambda i: i), num_workers=10_000))],
    "ddp-unused": [_unused_in_parallel],
    "ddp-no-gradient": [_frozen_in_parallel],
}
