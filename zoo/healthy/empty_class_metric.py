"""Evaluation computes a recall per class; a class without examples gives NaN, in the report only."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

CLASSES = 4


def recall_per_class(predicted, truth):
    hits = torch.stack([((predicted == c) & (truth == c)).sum() for c in range(CLASSES)]).float()
    return hits / torch.stack([(truth == c).sum() for c in range(CLASSES)]).float()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    predicted, truth = zip(*[(model(x).argmax(1), y) for x, y in loader])
    recall = recall_per_class(torch.cat(predicted), torch.cat(truth))
    model.train()
    return [round(r, 3) for r in recall.tolist()], torch.nanmean(recall).item()


def main():
    generator = torch.Generator().manual_seed(5)
    torch.manual_seed(0)
    x = torch.randn(400, 9, generator=generator)
    y = x[:, :3].argmax(dim=1)
    train, held_out = random_split(TensorDataset(x, y), [320, 80], generator=generator)
    model = nn.Sequential(nn.Linear(9, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, CLASSES))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=40)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    for epoch in range(4):
        for xb, yb in DataLoader(train, batch_size=32, shuffle=True, generator=generator):
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        print(f"epoch {epoch}", *evaluate(model, DataLoader(held_out, batch_size=40)))


if __name__ == "__main__":
    main()
