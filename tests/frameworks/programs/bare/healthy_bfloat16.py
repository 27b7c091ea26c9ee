import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x = torch.randn(1200, 1, 8, 8)
y = (x[:, 0, :4].mean(dim=(1, 2)) > x[:, 0, 4:].mean(dim=(1, 2))).long()
train, valid = random_split(TensorDataset(x, y), [1000, 200])
train_loader = DataLoader(train, batch_size=20, shuffle=True)
valid_loader = DataLoader(valid, batch_size=100)
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 2)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
best, patience, kept = float("inf"), 2, None

for epoch in range(6):
    model.train()
    for images, labels in train_loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        losses = [F.cross_entropy(model(images), labels).item() for images, labels in valid_loader]
    mean = sum(losses) / len(losses)
    print(epoch, mean)
    if mean < best:
        best, patience, kept = mean, 2, copy.deepcopy(model.state_dict())
    else:
        patience -= 1
        if patience == 0:
            break
model.load_state_dict(kept)
