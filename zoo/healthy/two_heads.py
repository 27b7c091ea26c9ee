"""One trunk, two heads, two kinds of loss in one sum; the uncertainty weights of the losses are learnt along with the rest."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.kind = nn.Linear(64, 4)
        self.size = nn.Linear(64, 1)
        self.log_var = nn.Parameter(torch.zeros(2))  # weighs the two losses against each other

    def forward(self, x):
        h = self.trunk(x)
        return {"kind": self.kind(h), "size": self.size(h).squeeze(-1)}

    def losses(self, out, kind, size):
        parts = {"kind": F.cross_entropy(out["kind"], kind), "size": F.mse_loss(out["size"], size)}
        total = sum(torch.exp(-s) * part + 0.5 * s for s, part in zip(self.log_var, parts.values()))
        return total, {name: part.item() for name, part in parts.items()}


def make(count, generator):
    x = torch.randn(count, 10, generator=generator)
    kind = (x[:, 0] > 0).long() + 2 * (x[:, 1] * x[:, 2] > 0).long()
    size = torch.sin(2 * x[:, 3]) + 0.5 * x[:, 0] + 0.1 * torch.randn(count, generator=generator)
    return TensorDataset(x, kind, size)


def main():
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(5)
    loader = DataLoader(make(2000, generator), batch_size=50, shuffle=True)
    x, kind, size = make(500, generator).tensors
    model = TwoHeads()
    optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        for batch in loader:
            optimizer.zero_grad()
            loss, parts = model.losses(model(batch[0]), *batch[1:])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            out = model(x)
            right = (out["kind"].argmax(1) == kind).float().mean()
            error = F.l1_loss(out["size"], size)
        weights = ", ".join(f"{w:.2f}" for w in (-model.log_var).exp().tolist())
        print(
            f"epoch {epoch}: {parts['kind']:.4f} + {parts['size']:.4f}; held {right:.3f}, {error:.3f}; weights {weights}"
        )


if __name__ == "__main__":
    main()
