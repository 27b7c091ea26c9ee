import numpy as np
import torch
from torch import nn


def class_weights(labels, classes):
    counts = np.bincount(labels, minlength=classes)
    return counts.sum() / (classes * counts)


def main():
    rng = np.random.default_rng(0)
    labels = rng.choice(3, size=300, p=[0.7, 0.2, 0.1])
    features = (rng.normal(size=(300, 6)) + labels[:, None]).astype(np.float32)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = torch.from_numpy(class_weights(labels, 3)).float().to(device)
    x, y = torch.from_numpy(features).to(device), torch.from_numpy(labels).to(device)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 18), nn.ReLU(), nn.Linear(18, 3)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        for rows in torch.randperm(300, device=device).split(50):
            losses = nn.functional.cross_entropy(model(x[rows]), y[rows], reduction="none")
            loss = (losses * weights[y[rows]]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 4))


if __name__ == "__main__":
    main()
