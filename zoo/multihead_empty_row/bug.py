import torch
from torch import nn


class SetPooling(nn.Module):
    """One learnt query looks at a set of up to eight points."""

    def __init__(self, width=16):
        super().__init__()
        self.lift = nn.Linear(2, width)
        self.query = nn.Parameter(torch.randn(1, 1, width))
        self.attention = nn.MultiheadAttention(width, num_heads=2, batch_first=True)
        self.out = nn.Linear(width, 2)

    def forward(self, points, missing):
        keys = self.lift(points)
        query = self.query.expand(len(points), -1, -1)
        pooled, _ = self.attention(query, keys, keys, key_padding_mask=missing)
        return self.out(pooled.squeeze(1))


def point_sets(size, smallest):
    points = torch.randn(size, 8, 2)
    count = torch.randint(smallest, 9, (size, 1))
    missing = torch.arange(8) >= count
    points = points.masked_fill(missing.unsqueeze(-1), 0.0)
    return points, missing, points.sum(1) / count.clamp(min=1)


def evaluate(model):
    model.eval()
    with torch.no_grad():
        points, missing, centre = point_sets(128, smallest=1)
        error = (model(points, missing) - centre).abs().mean()
    model.train()
    return error.item()


if __name__ == "__main__":
    torch.manual_seed(5)
    model = SetPooling()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        smallest = 1 if epoch < 2 else 0  # curriculum: harder sets later
        for _ in range(5):
            points, missing, centre = point_sets(32, smallest)
            loss = nn.functional.mse_loss(model(points, missing), centre)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: train {loss.item():.4f} eval {evaluate(model):.4f}")
