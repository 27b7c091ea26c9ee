import torch
from torch import nn, optim


class SmallNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(3),
        )
        self.fc = nn.Linear(16 * 9, num_classes)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


def make_images(n, generator):
    """Noisy images with a bright bar in one of four places."""
    labels = torch.randint(0, 4, (n,), generator=generator)
    images = 0.7 * torch.randn(n, 1, 12, 12, generator=generator)
    for i, label in enumerate(labels.tolist()):
        start = 2 + 5 * (label // 2)
        if label % 2:
            images[i, 0, start : start + 3] += 1.0
        else:
            images[i, 0, :, start : start + 3] += 1.0
    return images, labels


def main():
    torch.manual_seed(7)
    net = SmallNet()
    net.fc = nn.Linear(net.fc.in_features, 4)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(
        [{"params": net.features.parameters(), "lr": 1e-3}, {"params": net.fc.parameters()}],
        lr=0.05,
        momentum=0.9,
    )

    generator = torch.Generator().manual_seed(1)
    images, labels = make_images(640, generator)
    for epoch in range(10):
        correct, total_loss = 0, 0.0
        for index in torch.randperm(len(images), generator=generator).split(32):
            optimizer.zero_grad()
            scores = net(images[index])
            loss = criterion(scores, labels[index])
            loss.backward()
            optimizer.step()
            correct += (scores.argmax(dim=1) == labels[index]).sum().item()
            total_loss += loss.item() * len(index)
        print(f"epoch {epoch} loss {total_loss / len(images):.4f} accuracy {correct / len(images):.3f}")


if __name__ == "__main__":
    main()
