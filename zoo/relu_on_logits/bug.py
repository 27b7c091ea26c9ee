import torch
import torch.nn as nn
import torch.nn.functional as F


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 12, 3)
        self.fc1 = nn.Linear(12 * 3 * 3, 40)
        self.fc2 = nn.Linear(40, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.flatten(1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return x


def glyphs(count, glyph, noise=0.8):
    target = torch.randint(0, 10, (count,))
    return glyph[target] + noise * torch.randn(count, 1, 16, 16), target


def main():
    torch.manual_seed(17)
    glyph = F.interpolate(torch.randn(10, 1, 4, 4), size=16, mode="bilinear")
    net = LeNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    for step in range(200):
        data, target = glyphs(32, glyph)
        output = net(data)
        loss = F.cross_entropy(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(f"step {step + 1:3d} loss {loss.item():.4f}")
    with torch.no_grad():
        data, target = glyphs(500, glyph)
        print("accuracy", (net(data).argmax(1) == target).float().mean().item())


if __name__ == "__main__":
    main()
