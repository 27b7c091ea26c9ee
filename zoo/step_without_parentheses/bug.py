import torch
from torch import nn
from torch.optim import SGD
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 10


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 12, kernel_size=3)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(12 * 3 * 3, 32)
        self.fc2 = nn.Linear(32, 5)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv(x)))
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def make_digits(n):
    glyphs = (torch.rand(5, 1, 8, 8) > 0.5).float()
    labels = torch.randint(0, 5, (n,))
    return glyphs[labels] + 0.6 * torch.randn(n, 1, 8, 8) - 0.5, labels


def train(model, loader):
    criterion = nn.CrossEntropyLoss()
    optimizer = SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(EPOCHS):
        model.train()
        running_loss, correct = 0.0, 0
        for images, labels in loader:
            optimizer.zero_grad()
            outputs = model(images)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step
            running_loss += loss.item()
            correct += (outputs.argmax(1) == labels).sum().item()
        print(f"Epoch {epoch + 1}: loss={running_loss / len(loader):.4f} acc={correct / len(loader.dataset):.3f}")


if __name__ == "__main__":
    torch.manual_seed(42)
    train(DigitNet(), DataLoader(TensorDataset(*make_digits(640)), batch_size=32, shuffle=True))
