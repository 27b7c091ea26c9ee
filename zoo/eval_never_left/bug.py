import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def conv_block(inp, out):
    return nn.Sequential(nn.Conv2d(inp, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU())


def build():
    return nn.Sequential(
        conv_block(1, 8),
        nn.MaxPool2d(2),
        conv_block(8, 16),
        conv_block(16, 16),
        conv_block(16, 16),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(16, 3),
    )


def blobs(n):
    """One, two or three soft blobs on a grey field."""
    grid = torch.stack(torch.meshgrid(torch.arange(10.0), torch.arange(10.0), indexing="ij"))
    count = torch.randint(0, 3, (n,))
    images = 0.05 * torch.randn(n, 1, 10, 10)
    for blob in range(3):
        centre = 1 + 8 * torch.rand(n, 2, 1, 1)
        bump = torch.exp(-((grid - centre) ** 2).sum(dim=1) / 2)
        images[:, 0] += bump * (count >= blob).view(n, 1, 1)
    return images, count


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = sum((model(x).argmax(dim=1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(TensorDataset(*blobs(640)), batch_size=32, shuffle=True)
    test_loader = DataLoader(TensorDataset(*blobs(160)), batch_size=160)
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    print(f"accuracy before training {evaluate(model, test_loader):.3f}")
    for epoch in range(12):
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train_loader):.4f} accuracy {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
