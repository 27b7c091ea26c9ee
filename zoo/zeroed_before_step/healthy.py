import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


class ToneDataset(Dataset):
    """Noisy tones; the label is the pitch."""

    def __init__(self, n=640, length=64, pitches=4, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, pitches, (n,), generator=g)
        time = torch.arange(length) / length
        frequency = (3 + 2 * self.labels).unsqueeze(1)
        phase = torch.rand(n, 1, generator=g)
        tone = torch.sin(6.2832 * (frequency * time + phase))
        self.waves = (tone + 0.5 * torch.randn(n, length, generator=g)).unsqueeze(1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        return self.waves[idx], self.labels[idx]


def make_model():
    return nn.Sequential(
        nn.Conv1d(1, 16, 9, stride=2),
        nn.ReLU(),
        nn.Conv1d(16, 16, 5, stride=2),
        nn.ReLU(),
        nn.AdaptiveMaxPool1d(1),
        nn.Flatten(),
        nn.Linear(16, 4),
    )


def train(epochs=8):
    torch.manual_seed(0)
    loader = DataLoader(ToneDataset(), batch_size=32, shuffle=True)
    model = make_model()
    optimizer = optim.RMSprop(model.parameters(), lr=2e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        epoch_loss = 0.0
        for wave, label in loader:
            loss = loss_fn(model(wave), label)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            epoch_loss += loss.item()
        print(f"epoch {epoch} loss {epoch_loss / len(loader):.4f}")


if __name__ == "__main__":
    train()
