import torch
import torch.nn as nn
import torch.nn.functional as F


class BilinearPool(nn.Module):
    def forward(self, x):
        x = x.flatten(2)
        z = torch.bmm(x, x.transpose(1, 2)).flatten(1) / x.shape[2]
        z = z.sign() * z.abs() ** 0.5
        return F.normalize(z, dim=1)


class FineGrained(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 6, 3, padding=1)
        self.pool = BilinearPool()
        self.head = nn.Linear(36, classes)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.head(self.pool(x))


def pictures(n):
    labels = torch.randint(0, 4, (n,))
    stripes = (torch.arange(8) % 2).float() * 2
    patterns = torch.stack([stripes.repeat(8, 1), stripes.repeat(8, 1).T, torch.zeros(8, 8), torch.ones(8, 8)])
    x = (patterns[labels] + 0.3 * torch.randn(n, 8, 8)).unsqueeze(1)
    return x, labels


if __name__ == "__main__":
    torch.manual_seed(9)
    model = FineGrained()
    nn.init.constant_(model.conv2.bias, 0.2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for step in range(50):
        x, labels = pictures(32)
        loss = F.cross_entropy(model(x), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"{step:3d} {loss.item():.4f}")
