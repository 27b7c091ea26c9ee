"""Programs of several processes: this one believes to be the first of them, and that the others do as it does."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import nn

from sleuth.dry.after_import import after_import
from sleuth.dry.pretend import distributed_sharded
from sleuth.dry.pretend.devices import CPU
from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# Those whose tensors a backend must have been made for.
_COLLECTIVES = (
    "all_reduce",
    "broadcast",
    "reduce",
    "all_gather",
    "gather",
    "scatter",
    "reduce_scatter",
    "all_gather_into_tensor",
    "reduce_scatter_tensor",
    "all_gather_single",
    "reduce_scatter_single",
    "all_to_all",
    "all_to_all_single",
    "send",
    "recv",
    "isend",
    "irecv",
)


def install(stage: Stage) -> None:
    if not dist.is_available():
        return
    if stage.scenario.ranks:
        _environment(stage, stage.scenario.ranks)
    backend = _Backend(stage)
    _groups(stage, backend)
    _collectives(stage, backend)
    _objects(stage)
    _spawn(stage)
    _parallel(stage)
    distributed_sharded.install(stage)


def _environment(stage: Stage, ranks: int) -> None:
    """As `torchrun` sets it for its first process."""
    told = {
        "RANK": "0",
        "LOCAL_RANK": "0",
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "GROUP_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
        "TORCHELASTIC_RUN_ID": "none",
    }
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)

    def put_back() -> None:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    stage.patches.later(put_back)


class _Backend:
    """The backend that was asked for, and which tensors it would take."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.name = "undefined"

    def check(self, given: Any) -> None:
        """NCCL moves what is on a card and nothing else."""
        from sleuth.dry.tensors import tensors_in

        if self.name == "nccl" and any(self.stage.mode.label(tensor) == CPU for tensor in tensors_in(given)):
            raise RuntimeError("No backend type associated with device type cpu")


def _groups(stage: Stage, chosen: _Backend) -> None:
    plain = dist.init_process_group
    plain_new = dist.new_group

    def init_process_group(
        backend: Any = None,
        init_method: Any = None,
        timeout: Any = None,
        world_size: int = -1,
        rank: int = -1,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        from torch.testing._internal.distributed.fake_pg import FakeStore

        size = next((n for n in (world_size, _number("WORLD_SIZE"), stage.scenario.ranks) if n > 0), 1)
        number = next((n for n in (rank, _number("RANK")) if n >= 0), 0)
        plain("fake", store=FakeStore(), rank=number, world_size=size)
        chosen.name = str(backend).lower() if backend else "undefined"

    def new_group(ranks: Any = None, timeout: Any = None, *args: Any, **kwargs: Any) -> Any:
        return plain_new(ranks)

    def destroy() -> None:
        if dist.is_initialized():
            dist.destroy_process_group()

    answers: dict[str, Any] = {
        "init_process_group": init_process_group,
        "new_group": new_group,
        "get_backend": lambda group=None: chosen.name if chosen.name != "undefined" else "nccl",
        "is_nccl_available": lambda: stage.devices.kind == "cuda",
        "is_torchelastic_launched": lambda: "TORCHELASTIC_RUN_ID" in os.environ,
        "barrier": lambda *args, **kwargs: None,
        "monitored_barrier": lambda *args, **kwargs: None,
    }
    for name, answer in answers.items():
        stage.patches.set(dist, name, answer)
    for name in ("torch.distributed.distributed_c10d", "torch.distributed.device_mesh"):
        # A device mesh makes the group itself where there is none.
        after_import(stage, name, lambda module: stage.patches.set(module, "init_process_group", init_process_group))
    stage.patches.later(destroy)


def _number(name: str) -> int:
    value = os.environ.get(name, "")
    return int(value) if value.isdigit() else -1


def _collectives(stage: Stage, backend: _Backend) -> None:
    for name in _COLLECTIVES:
        plain = getattr(dist, name, None)
        if plain is not None:
            stage.patches.set(dist, name, _checked(plain, backend, name == "all_reduce"))


def _checked(plain: Callable[..., Any], backend: _Backend, adds_up: bool) -> Callable[..., Any]:
    def collective(*args: Any, **kwargs: Any) -> Any:
        backend.check((args, kwargs))
        result = plain(*args, **kwargs)
        if adds_up:
            _add_up(*args, **kwargs)
        return result

    return collective


def _add_up(tensor: Any, op: Any = dist.ReduceOp.SUM, group: Any = None, async_op: bool = False) -> None:
    """The others had the same, so the sum is as many times that."""
    if op == dist.ReduceOp.SUM and dist.get_world_size(group) > 1:
        with torch.no_grad():
            tensor.mul_(dist.get_world_size(group))


def _objects(stage: Stage) -> None:
    def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
        object_list[:] = [copy.deepcopy(obj) for _ in object_list]

    def gather_object(obj: Any, object_gather_list: list[Any] | None = None, *args: Any, **kwargs: Any) -> None:
        if object_gather_list is not None:
            all_gather_object(object_gather_list, obj)

    def broadcast_object_list(object_list: list[Any], *args: Any, **kwargs: Any) -> None:
        """What the others sent is what was there."""

    def scatter_object_list(output: list[Any], given: list[Any] | None = None, *args: Any, **kwargs: Any) -> None:
        if given:
            output[0] = given[dist.get_rank()]

    for function in (all_gather_object, gather_object, broadcast_object_list, scatter_object_list):
        stage.patches.set(dist, function.__name__, function)


def _spawn(stage: Stage) -> None:
    class Context:
        """Of processes that are over already."""

        processes: tuple[Any, ...] = ()

        def join(self, *args: Any, **kwargs: Any) -> bool:
            return True

    def spawn(
        fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, *_: Any, **__: Any
    ) -> Context | None:
        if nprocs > 1:
            stage.journal.assume(None, f"mp.spawn ran the first of {nprocs} processes")
        fn(0, *args)
        return None if join else Context()

    stage.patches.set(torch.multiprocessing, "spawn", spawn)
    module = sys.modules.get("torch.multiprocessing.spawn")
    if module is not None:
        stage.patches.set(module, "spawn", spawn)
        stage.patches.set(module, "start_processes", spawn)
    stage.patches.set(torch.multiprocessing, "start_processes", spawn)


def _parallel(stage: Stage) -> None:
    """DDP's own machinery, with gradients that are averaged over processes that have the same."""
    ddp = nn.parallel.DistributedDataParallel
    plain = ddp.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        reducer = getattr(self, "reducer", None)
        if reducer is not None:
            torch_private.get("torch.distributed._register_comm_hook")(reducer, None, _as_it_is)

    stage.patches.set(ddp, "__init__", init)
    stage.patches.set(ddp, "register_comm_hook", lambda self, state, hook: None)


def _as_it_is(state: Any, bucket: Any) -> Any:
    future: torch.futures.Future[Any] = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future
