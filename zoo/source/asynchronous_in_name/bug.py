"""Copies that should run beside the computation."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
train_set = TensorDataset(torch.randn(512, 3, 32, 32), torch.randint(0, 10, (512,)))
train_loader = DataLoader(train_set, batch_size=64, shuffle=True, num_workers=2)
net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 10)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

for i, (images, labels) in enumerate(train_loader):
    images = images.to(device, non_blocking=True)
    labels = labels.to(device, non_blocking=True)
    optimizer.zero_grad(set_to_none=True)
    nn.functional.cross_entropy(net(images), labels).backward()
    optimizer.step()
