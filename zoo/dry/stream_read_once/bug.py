import torch
from torch import nn


def stream(count, batch=16):
    generator = torch.Generator().manual_seed(0)
    for _ in range(count):
        x = torch.randn(batch, 6, generator=generator)
        yield x, x[:, :2].sum(1, keepdim=True)


def train(model, batches, epochs, device):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        total, seen = 0.0, 0
        for x, y in batches:
            x, y = x.to(device), y.to(device)
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            seen += len(x)
        print(f"epoch {epoch}: mean loss {total / seen:.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    batches = stream(6)
    train(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1)).to(device), batches, 3, device)
