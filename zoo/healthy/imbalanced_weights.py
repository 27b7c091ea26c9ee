"""One sample in twenty-five is a fraud: the loss weighs the rare class up, and recall is watched instead of accuracy."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def transactions(count, generator):
    x = torch.randn(count, 12, generator=generator)
    fraud = torch.rand(count, generator=generator) < 0.04
    x[fraud, :4] += torch.tensor([1.8, -1.6, 1.4, 1.6])
    x[fraud, 4] *= 2.5
    return x, fraud.long()


def measure(model, x, y):
    model.eval()
    with torch.no_grad():
        guess = model(x).argmax(dim=1)
    model.train()
    hit = ((guess == 1) & (y == 1)).sum().item()
    recall = hit / max(1, (y == 1).sum().item())
    precision = hit / max(1, (guess == 1).sum().item())
    return recall, precision, (guess == y).float().mean().item()


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    x, y = transactions(4000, generator)
    held_x, held_y = transactions(2000, generator)
    counts = torch.bincount(y)
    weight = len(y) / (2 * counts.float())
    print("counts", counts.tolist(), "weights", [round(w, 2) for w in weight.tolist()])
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
    criterion = nn.CrossEntropyLoss(weight=weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loader = DataLoader(TensorDataset(x, y), batch_size=100, shuffle=True)
    for epoch in range(10):
        total = 0.0
        for xb, yb in loader:
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        recall, precision, accuracy = measure(model, held_x, held_y)
        print(
            f"epoch {epoch}: loss {total / len(loader):.4f} recall {recall:.3f} precision {precision:.3f} "
            f"accuracy {accuracy:.3f}"
        )


if __name__ == "__main__":
    main()
