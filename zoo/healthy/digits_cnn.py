"""Calculator digits on 14 x 14 pixels: a CNN with BatchNorm and dropout, a DataLoader, an evaluation after each epoch."""

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

STROKES = {  # segments of a pocket calculator that are lit for each digit: top, middle, bottom, and the four uprights
    0: "tbacdf",
    1: "cf",
    2: "tmbcd",
    3: "tmbcf",
    4: "macf",
    5: "tmbaf",
    6: "tmbadf",
    7: "tcf",
    8: "tmbacdf",
    9: "tmbacf",
}
BOX = {
    "t": (0, 1, 0, 6),
    "m": (4, 5, 0, 6),
    "b": (8, 9, 0, 6),
    "a": (0, 5, 0, 1),
    "c": (0, 5, 5, 6),
    "d": (4, 9, 0, 1),
    "f": (4, 9, 5, 6),
}


def draw(count, generator):
    labels = torch.randint(0, 10, (count,), generator=generator)
    images = torch.zeros(count, 1, 14, 14)
    for image, label in zip(images, labels.tolist()):
        down = torch.randint(1, 5, (1,), generator=generator).item()
        right = torch.randint(1, 8, (1,), generator=generator).item()
        for name in STROKES[label]:
            top, bottom, left, end = BOX[name]
            image[0, top + down : bottom + down, left + right : end + right] = 1.0
    images += 0.3 * torch.randn(images.shape, generator=generator)
    return TensorDataset((images - 0.13) / 0.42, labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(12)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(24)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(24 * 3 * 3, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        x = self.dropout(torch.flatten(x, 1))
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, loader, optimizer, epoch):
    model.train()
    for batch, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch % 25 == 0:
            print(f"epoch {epoch} batch {batch:3d} loss {loss.item():.4f}")


def test(model, loader):
    model.eval()
    total, right = 0.0, 0
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            total += F.nll_loss(output, target, reduction="sum").item()
            right += (output.argmax(dim=1) == target).sum().item()
    count = len(loader.dataset)
    print(f"   test loss {total / count:.4f} accuracy {100 * right / count:.1f} %")


def main():
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    train_loader = DataLoader(draw(3200, generator), batch_size=64, shuffle=True)
    test_loader = DataLoader(draw(600, generator), batch_size=200)
    model = Net()
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(1, 5):
        train(model, train_loader, optimizer, epoch)
        test(model, test_loader)
        scheduler.step()


if __name__ == "__main__":
    main()
