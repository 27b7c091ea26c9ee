"""Label smoothing and mixup: the loss has a floor well above zero, and the training loss stays above the test loss."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def textures(count, generator):
    """Five textures: how fast the pattern changes across and down."""
    rates = torch.tensor([[0.5, 0.5], [1.6, 0.2], [0.2, 1.6], [1.2, 1.2], [2.2, 0.9]])
    y = torch.randint(0, 5, (count,), generator=generator)
    phase = 6.28 * torch.rand(count, 2, generator=generator)
    t = torch.arange(10.0)
    down = torch.sin(rates[y, :1] * t + phase[:, :1])
    across = torch.sin(rates[y, 1:] * t + phase[:, 1:])
    x = down[:, :, None] * across[:, None, :] + 0.2 * torch.randn(count, 10, 10, generator=generator)
    return x.unsqueeze(1), y


def mixup(x, y, strength=0.3):
    share = torch.distributions.Beta(strength, strength).sample().item()
    other = torch.randperm(len(x))
    hard = F.one_hot(y, 5).float()
    return share * x + (1 - share) * x[other], share * hard + (1 - share) * hard[other]


class Net(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.GroupNorm(4, 16),
            nn.Mish(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.GroupNorm(4, 32),
            nn.Mish(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Linear(128, 5),
        )


if __name__ == "__main__":
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    loader = DataLoader(TensorDataset(*textures(1600, generator)), batch_size=32, shuffle=True)
    test_x, test_y = textures(400, generator)
    model = Net()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
    for epoch in range(6):
        total = 0.0
        for x, y in loader:
            mixed, soft = mixup(x, y)
            loss = criterion(model(mixed), soft)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            logits = model(test_x)
        plain = F.cross_entropy(logits, test_y).item()
        right = (logits.argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch}: train {total / len(loader):.4f} test, unsmoothed {plain:.4f} accuracy {right:.3f}")
