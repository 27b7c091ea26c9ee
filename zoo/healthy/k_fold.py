"""Cross-validation: every fold builds its own model and its own optimiser, and takes the seed anew."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, SubsetRandomSampler, TensorDataset


def flowers(count):
    """Three kinds of flowers by four lengths."""
    kind = torch.arange(count) % 3
    centre = torch.tensor([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.5, 2.0]])
    width = torch.tensor([0.4, 0.3, 0.4, 0.2])
    x = centre[kind] + width * torch.randn(count, 4)
    return TensorDataset((x - x.mean(0)) / x.std(0), kind)


def reset(fold):
    torch.manual_seed(100 + fold)
    model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.BatchNorm1d(24), nn.Linear(24, 3))
    return model, torch.optim.Adam(model.parameters(), lr=5e-3)


def train_fold(fold, data, train_rows, test_rows, epochs=8):
    model, optimizer = reset(fold)
    loader = DataLoader(data, batch_size=16, sampler=SubsetRandomSampler(train_rows))
    test = DataLoader(Subset(data, test_rows), batch_size=len(test_rows))
    for _ in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
    model.eval()
    with torch.no_grad():
        x, y = next(iter(test))
        accuracy = (model(x).argmax(1) == y).float().mean().item()
    print(f"fold {fold}: last epoch's loss {total / len(loader):.4f} accuracy {accuracy:.3f}")
    return accuracy


def main(k=5):
    torch.manual_seed(0)
    data = flowers(240)
    order = torch.randperm(len(data))
    folds = [part.tolist() for part in order.chunk(k)]
    scores = []
    for fold in range(k):
        train_rows = [row for other in range(k) if other != fold for row in folds[other]]
        scores.append(train_fold(fold, data, train_rows, folds[fold]))
    print(f"mean accuracy {sum(scores) / k:.3f}")


if __name__ == "__main__":
    main()
