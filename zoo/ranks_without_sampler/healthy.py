"""Two ranks fit a classifier, each on its part of the data."""

import multiprocessing
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

WORLD = 2


def fit(rank: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(512, 10)
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
    wrapper = DistributedDataParallel(model)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, num_replicas=WORLD, rank=rank)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    optimizer = torch.optim.Adam(wrapper.parameters(), 1e-2)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            logits = wrapper(inputs)
            loss = nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def train(rank: int, meeting: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=WORLD)
    fit(rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("fork")
        ranks = [context.Process(target=train, args=(rank, f"{folder}/meeting")) for rank in range(WORLD)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
