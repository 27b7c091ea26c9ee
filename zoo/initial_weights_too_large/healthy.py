import torch
import torch.nn as nn
import torch.nn.functional as F


class ImageNet10(nn.Module):
    """Classifies tiny colour pictures."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 3 * 3, 64)
        self.fc2 = nn.Linear(64, 10)
        for layer in (self.conv1, self.conv2, self.fc1, self.fc2):
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def pictures(scenes, batch_size):
    label = torch.randint(0, 10, (batch_size,))
    return scenes[label] + torch.randn(batch_size, 3, 12, 12), label


def main():
    torch.manual_seed(23)
    scenes = torch.randn(10, 3, 12, 12)
    net = ImageNet10()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(220):
        picture, label = pictures(scenes, 32)
        loss = F.cross_entropy(net(picture), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
