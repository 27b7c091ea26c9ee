import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision import datasets, models, transforms


def loader_for(root, batch_size, workers=4):
    prepare = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
    images = datasets.ImageFolder(root, transform=prepare)
    sampler = DistributedSampler(images)
    return DataLoader(images, batch_size, shuffle=True, num_workers=workers, sampler=sampler, pin_memory=True), sampler


def main():
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", rank)
    loader, sampler = loader_for("imagenet/train", 64)
    model = DistributedDataParallel(models.resnet18(num_classes=100).to(device), device_ids=[rank])
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(90):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            loss = criterion(model(images.to(device, non_blocking=True)), labels.to(device, non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
