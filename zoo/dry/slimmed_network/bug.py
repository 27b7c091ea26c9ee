import torch
import torch.nn as nn


def conv_block(cin, cout, groups=8):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(groups, cout), nn.SiLU())


class SlimNet(nn.Module):
    def __init__(self, width_multiplier=0.75, classes=4):
        super().__init__()
        widths = [int(w * width_multiplier) for w in (16, 24, 32)]
        blocks, channels = [], 3
        for width in widths:
            blocks += [conv_block(channels, width), nn.MaxPool2d(2)]
            channels = width
        self.features = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(self.features(x).mean((-1, -2)))


def train(steps=6):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = SlimNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, nesterov=True, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(steps):
        x = torch.randn(8, 3, 16, 16, device=device)
        y = torch.randint(4, (8,), device=device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    print(train())
