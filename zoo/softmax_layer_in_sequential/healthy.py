import torch
from torch import nn


def make_patterns(count, generator):
    """Stripes, dots, blobs and gradients on 12x12 noise."""
    y, x = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    patterns = torch.stack(
        [
            torch.sin(x),
            torch.sin(y),
            torch.sin(x) * torch.sin(y),
            (x - 5.5) / 4,
            (y - 5.5) / 4,
            torch.cos((x + y) / 2),
            torch.cos((x - y) / 2),
            torch.exp(-((x - 6) ** 2 + (y - 6) ** 2) / 8),
        ]
    )
    labels = torch.randint(0, len(patterns), (count,), generator=generator)
    images = patterns[labels] + 0.7 * torch.randn(count, 12, 12, generator=generator)
    return images.unsqueeze(1), labels


def build_model(num_classes=8):
    return nn.Sequential(
        nn.Conv2d(1, 8, kernel_size=3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 5 * 5, 32),
        nn.ReLU(),
        nn.Linear(32, num_classes),
    )


def train(model, images, labels, steps=200, batch_size=32):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(steps):
        picked = torch.randint(0, len(images), (batch_size,))
        loss = criterion(model(images[picked]), labels[picked])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:4d}  loss {loss.item():.4f}")
    with torch.no_grad():
        accuracy = (model(images).argmax(1) == labels).float().mean()
    print(f"accuracy {accuracy:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    images, labels = make_patterns(600, torch.Generator().manual_seed(1))
    train(build_model(), images, labels)
