import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Textures(Dataset):
    """Stripes of three directions."""

    def __init__(self, size=768, side=10):
        g = torch.Generator().manual_seed(11)
        self.labels = torch.randint(0, 3, (size,), generator=g)
        row, column = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
        waves = torch.stack([torch.sin(1.5 * row), torch.sin(1.5 * column), torch.sin(1.1 * (row + column))])
        noise = 0.8 * torch.randn(size, side, side, generator=g)
        self.images = (waves[self.labels] + noise).unsqueeze(1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 24, 3),
            nn.BatchNorm2d(24),
            nn.ReLU(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(384, 64),
            nn.ReLU(),
        )
        self.head = nn.Linear(64, classes)

    def freeze_backbone(self):
        for p in self.backbone.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.head(self.backbone(x))


def main():
    torch.manual_seed(0)
    loader = DataLoader(Textures(), batch_size=48, shuffle=True)
    model = Classifier(classes=3)
    model.freeze_backbone()
    optimizer = torch.optim.Adam(model.head.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        losses = []
        for images, labels in loader:
            loss = criterion(model(images), labels)
            model.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} mean loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
