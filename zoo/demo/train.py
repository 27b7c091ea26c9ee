"""A small picture classifier: 12 x 12 grey pictures of four kinds of strokes."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = ["horizontal", "vertical", "diagonal", "blank"]


def strokes(n=1024, size=12):
    """Pictures with values from 0 to 255, and one-hot labels."""
    kind = torch.randint(0, len(CLASSES), (n,))
    where = torch.arange(size) == torch.randint(0, size, (n, 1))
    rows, columns = where[:, :, None].expand(n, size, size), where[:, None, :].expand(n, size, size)
    patterns = torch.stack([rows, columns, torch.eye(size).bool().expand_as(rows), torch.zeros_like(rows)], dim=1)
    ink = patterns[torch.arange(n), kind].float() * 180
    images = (ink + 60 * torch.rand(n, size, size)).clamp(0, 255).unsqueeze(1)
    return images, nn.functional.one_hot(kind, len(CLASSES)).float()


class StrokeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU())
        self.classify = nn.Sequential(nn.Flatten(), nn.Linear(16 * 16, 64), nn.ReLU(), nn.Linear(64, len(CLASSES)))

    def forward(self, x):
        return torch.softmax(self.classify(self.features(x)), dim=1)


def cross_entropy(p, y):
    return -(y * torch.log(p)).sum(1).mean()


def main():
    torch.set_num_threads(1)  # so small a model is quickest on one core
    torch.manual_seed(0)
    images, labels = strokes()
    loader = DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True)
    model = StrokeNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        total = correct = 0.0
        for x, y in loader:
            p = model(x)
            loss = cross_entropy(p, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            correct += (p.argmax(1) == y.argmax(1)).sum().item()
        print(f"epoch {epoch}  loss {total / len(images):.4f}  accuracy {correct / len(images):.3f}")


if __name__ == "__main__":
    main()
