"""Programs of several processes, rehearsed in one."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from pretending import performed, raised
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler


def train(model: nn.Module, steps: int = 2) -> torch.Tensor:
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        loss = model(torch.randn(4, 3, device="cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.detach()


def work(rank: int, world: int) -> None:
    dist.init_process_group("nccl", rank=rank, world_size=world)
    torch.cuda.set_device(rank)
    assert dist.get_backend() == "nccl"
    model = DistributedDataParallel(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).cuda(), device_ids=[rank])
    before = model.module[0].weight.detach().clone()
    loss = train(model)
    assert not torch.equal(before, model.module[0].weight)
    alone = loss.clone()
    dist.all_reduce(loss)
    assert torch.allclose(loss, alone * world)
    gathered = [torch.zeros_like(loss) for _ in range(world)]
    dist.all_gather(gathered, loss)
    assert all(torch.equal(one, loss) for one in gathered)
    things: list[object] = [None] * world
    dist.all_gather_object(things, {"rank": rank})
    assert things == [{"rank": rank}] * world
    dist.broadcast(loss, src=0)
    dist.barrier()
    assert len(DistributedSampler(range(10))) == 10 // world
    dist.destroy_process_group()


def test_spawned_processes_are_rehearsed_as_the_first_of_them() -> None:
    stage = performed(lambda: mp.spawn(work, args=(2,), nprocs=2), cards=2)
    assert any("first of 2 processes" in what for _, what in stage.journal.assumptions)


def test_a_program_of_torchrun_finds_its_environment() -> None:
    def act() -> None:
        assert int(os.environ["LOCAL_RANK"]) == 0
        dist.init_process_group("nccl")
        assert (dist.get_rank(), dist.get_world_size()) == (0, 4)

    performed(act, ranks=4)
    assert "LOCAL_RANK" not in os.environ
    assert not dist.is_initialized()


def test_without_torchrun_it_is_alone() -> None:
    def act() -> None:
        dist.init_process_group(backend="gloo", init_method="env://")
        assert dist.get_world_size() == 1
        DistributedDataParallel(nn.Linear(3, 2))(torch.randn(2, 3)).sum().backward()

    performed(act)


def test_nccl_takes_only_what_is_on_a_card() -> None:
    def act() -> None:
        dist.init_process_group("nccl")
        dist.all_reduce(torch.ones(2))

    error = raised(act)
    assert type(error) is RuntimeError
    assert str(error) == "No backend type associated with device type cpu"


def test_parameters_without_gradients_are_told_by_ddp_itself() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used = nn.Linear(3, 2)
            self.unused = nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.used(x)

    def act() -> None:
        dist.init_process_group("nccl")
        train(DistributedDataParallel(Model().cuda(), device_ids=[0]))

    error = raised(act, ranks=2)
    assert type(error) is RuntimeError
    assert str(error).startswith(
        "Expected to have finished reduction in the prior iteration before starting a new one."
    )


def test_sharded_models_train() -> None:
    from torch.distributed.fsdp import FSDPModule, FullyShardedDataParallel, StateDictType, fully_shard

    def wrapped() -> None:
        dist.init_process_group("nccl")
        model = FullyShardedDataParallel(nn.Sequential(nn.Linear(3, 2)), device_id=torch.cuda.current_device())
        train(model)
        model.clip_grad_norm_(1.0)
        with FullyShardedDataParallel.state_dict_type(model, StateDictType.FULL_STATE_DICT):
            assert list(model.state_dict()) == ["0.weight", "0.bias"]

    def sharded() -> None:
        import torch.distributed.fsdp as fsdp

        dist.init_process_group("nccl")
        model = nn.Sequential(nn.Linear(3, 2), nn.ReLU()).cuda()
        for part in [*model, model]:
            fsdp.fully_shard(part)
        assert isinstance(model, FSDPModule)
        train(model)
        assert {name: tensor.full_tensor().shape for name, tensor in model.state_dict().items()} == {
            "0.weight": (2, 3),
            "0.bias": (2,),
        }

    performed(wrapped, ranks=2)
    performed(sharded, ranks=2)
    assert fully_shard is __import__("torch.distributed.fsdp", fromlist=["fully_shard"]).fully_shard


def test_synchronised_batch_norm_works() -> None:
    def act() -> None:
        dist.init_process_group("nccl")
        model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))).cuda()
        train(DistributedDataParallel(model, device_ids=[0]))
        assert model[1].num_batches_tracked.item() == 2

    performed(act, ranks=2)


def test_models_cut_into_columns_and_rows_train() -> None:
    def act() -> None:
        import torch.distributed.tensor.parallel as parallel
        from torch.distributed.device_mesh import init_device_mesh

        mesh = init_device_mesh("cuda", (2,))
        assert mesh.size() == 2
        model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).cuda()
        plan = {"0": parallel.ColwiseParallel(), "1": parallel.RowwiseParallel()}
        train(parallel.parallelize_module(model, mesh, plan))

    performed(act, ranks=2)
