import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3)
        self.conv2 = nn.Conv2d(8, 12, 3)
        self.project = nn.Linear(12 * 3 * 3, 24)
        self.fc = nn.Linear(24, classes)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.flatten(1)
        x = F.relu(self.project(x))
        return self.fc(x)


def make_batch(size, generator):
    """Colour patches: which corner is the red one?"""
    corner = torch.randint(0, 4, (size,), generator=generator)
    image = torch.randn(size, 3, 10, 10, generator=generator)
    for i, c in enumerate(corner.tolist()):
        top, left = 5 * (c // 2), 5 * (c % 2)
        image[i, 0, top : top + 5, left : left + 5] += 1.0
    return image, corner


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    history = []
    for step in range(1, 181):
        image, corner = make_batch(32, generator)
        loss = F.cross_entropy(net(image), corner)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        if step % 20 == 0:
            print(f"[{step:3d}] loss {sum(history[-20:]) / 20:.4f}")


if __name__ == "__main__":
    main()
