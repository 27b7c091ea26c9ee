import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

BASE_LR = 0.02
TOTAL_STEPS = 200
WARMUP_STEPS = TOTAL_STEPS


class SetClassifier(nn.Module):
    """Attention over a small set, a query decides what to look at."""

    def __init__(self, dim=12):
        super().__init__()
        self.project = nn.Linear(4, dim)
        self.query = nn.Parameter(torch.randn(1, 1, dim) / dim**0.5)
        self.attention = nn.MultiheadAttention(dim, num_heads=2, batch_first=True)
        self.head = nn.Sequential(nn.Linear(dim, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, items):
        keys = torch.tanh(self.project(items))
        pooled, _ = self.attention(self.query.expand(len(items), -1, -1), keys, keys)
        return self.head(pooled.squeeze(1))


def draw(size=64):
    items = torch.randn(size, 6, 4)
    return items, (items[:, :, 0].mean(dim=1) > items[:, :, 1].mean(dim=1)).long()


def warmup(step):
    return min(1, step / WARMUP_STEPS)


def main():
    torch.manual_seed(6)
    model = SetClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=BASE_LR)
    scheduler = LambdaLR(optimizer, lr_lambda=warmup)
    criterion = nn.CrossEntropyLoss()
    recent = []
    for step in range(TOTAL_STEPS):
        items, labels = draw()
        loss = criterion(model(items), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent.append(loss.item())
        if step % 20 == 19:
            print(f"step {step + 1} loss {sum(recent[-20:]) / 20:.4f} lr {scheduler.get_last_lr()[0]:.2e}")
        scheduler.step()


if __name__ == "__main__":
    main()
