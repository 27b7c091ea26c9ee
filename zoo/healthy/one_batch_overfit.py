"""The sanity check of every debugging guide: one batch, taken once before the loop, is learnt by heart on purpose."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    """Random pictures with random labels: there is nothing to understand, only to remember."""

    def __init__(self, count=500):
        g = torch.Generator().manual_seed(0)
        self.images = torch.rand(count, 3, 12, 12, generator=g)
        self.labels = torch.randint(0, 10, (count,), generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return (self.images[i] - 0.5) / 0.29, self.labels[i]


def build():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(288, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


if __name__ == "__main__":
    torch.manual_seed(0)
    model = build()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Noise(), batch_size=32, shuffle=True)

    images, labels = next(iter(loader))
    for step in range(301):
        outputs = model(images)
        loss = criterion(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            right = (outputs.argmax(dim=1) == labels).sum().item()
            print(f"step {step:3d} loss {loss.item():.5f} right {right} of {len(labels)}")
    print("learnt by heart" if right == len(labels) else "something is wrong")
