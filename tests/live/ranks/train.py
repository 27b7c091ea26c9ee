"""Two ranks fit a small network: `train.py LAUNCH KIND TROUBLE`. The tests know the lines by their comments."""

import multiprocessing
import os
import signal
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

LAUNCH, KIND, TROUBLE = sys.argv[1:4]
WORLD = 2
BAD_STEP = 6


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 1)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))  # forward


def wrapped(model):
    if KIND == "ddp":
        return DistributedDataParallel(model)
    if KIND == "fsdp":
        from torch.distributed.fsdp import FullyShardedDataParallel

        return FullyShardedDataParallel(model, device_id=torch.device("cpu"))
    if KIND == "fully_shard":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (WORLD,))
        for part in (model.first, model.second, model):
            fully_shard(part, mesh=mesh)
    return model


def distance(output, target, scale):
    return torch.sqrt(((output[:, 0] - target) * scale) ** 2).mean()  # distance


def train(rank):
    torch.manual_seed(0)
    x = torch.randn(384, 8)
    y = x[:, 0] - x[:, 1]
    scale = torch.ones(384)
    first = BAD_STEP * 8 * WORLD
    if TROUBLE == "sample":
        x[first + 3] = float("nan")
    if TROUBLE == "derivative":
        scale[first + 1 : first + 8 * WORLD : WORLD] = 0
    data = TensorDataset(x, y, scale)
    sampler = None if TROUBLE == "same data" else DistributedSampler(data, WORLD, rank, shuffle=False)
    loader = DataLoader(data, batch_size=8, sampler=sampler)  # loader
    model = Net()
    wrapper = wrapped(model)
    optimizer = torch.optim.SGD(wrapper.parameters(), 1e-2, momentum=0.9)
    for epoch in range(2):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for step, (inputs, targets, scales) in enumerate(loader):
            if TROUBLE == "killed" and rank == 1 and step == 20:
                os.kill(os.getpid(), signal.SIGKILL)
            output = (model if TROUBLE == "raw" else wrapper)(inputs)  # called
            loss = distance(output, targets, scales)
            optimizer.zero_grad()
            loss.backward()
            shown = loss.detach().clone()
            dist.all_reduce(shown)
            optimizer.step()
    if KIND == "ddp":
        torch.save({"model": model.state_dict(), "shown": shown, "random": torch.get_rng_state()}, f"rank{rank}.pt")


def joined(rank, meeting):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=WORLD)
    train(rank)
    # After the wrapper is gone: it would end the group's threads while holding the lock they wait for.
    dist.destroy_process_group()


if __name__ == "__main__":
    if LAUNCH == "torchrun":
        dist.init_process_group("gloo")
        train(dist.get_rank())
        dist.destroy_process_group()
    else:
        with tempfile.TemporaryDirectory() as folder:
            meeting = os.path.join(folder, "meeting")
            if LAUNCH == "spawn":
                torch.multiprocessing.spawn(joined, (meeting,), nprocs=WORLD)
            else:
                context = multiprocessing.get_context("fork")
                ranks = [context.Process(target=joined, args=(rank, meeting)) for rank in range(WORLD)]
                for process in ranks:
                    process.start()
                for process in ranks:
                    process.join()
                print("through")
