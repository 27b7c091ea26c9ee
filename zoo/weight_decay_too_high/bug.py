import torch
from torch import nn


class SignNet(nn.Module):
    """Recognises road signs on 8x8 colour patches."""

    def __init__(self, signs=7):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 4 * 4, 48)
        self.fc2 = nn.Linear(48, signs)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv(x)))
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def make_patches(signs, count):
    which = torch.randint(0, len(signs), (count,))
    return signs[which] + 0.8 * torch.randn(count, 3, 8, 8), which


def main():
    torch.manual_seed(25)
    signs = torch.randn(7, 3, 8, 8)
    patches, which = make_patches(signs, 1200)
    net = SignNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=0.5)
    for epoch in range(7):
        order = torch.randperm(len(patches))
        total = 0.0
        for rows in order.split(40):
            optimizer.zero_grad()
            loss = criterion(net(patches[rows]), which[rows])
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / 30:.4f}")


if __name__ == "__main__":
    main()
