import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Thumbnails(Dataset):
    """Grey 14x14 pictures of eight things in changing light, as bytes."""

    def __init__(self, size=1600):
        rng = np.random.default_rng(3)
        things = 130 + rng.normal(0, 12, (8, 14, 14))
        light = rng.normal(0, 25, (size, 1, 1))
        self.labels = rng.integers(0, 8, size)
        noisy = things[self.labels] + light + rng.normal(0, 50, (size, 14, 14))
        self.pictures = np.clip(noisy, 0, 255).astype(np.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        picture = torch.from_numpy(self.pictures[i]).float()
        return (picture - 130) / 60, self.labels[i]


def evaluate(model, dataset):
    pictures = torch.stack([picture for picture, _ in dataset])
    with torch.no_grad():
        predicted = model(pictures).argmax(dim=1)
    return (predicted == torch.from_numpy(dataset.labels)).float().mean().item()


def main(epochs=6, lr=0.02):
    torch.manual_seed(3)
    dataset = Thumbnails()
    loader = DataLoader(dataset, batch_size=40, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(14 * 14, 8))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for pictures, labels in loader:
            logits = model(pictures)
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} accuracy {evaluate(model, dataset):.3f}")


if __name__ == "__main__":
    main()
