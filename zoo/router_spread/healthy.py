import torch
from torch import nn

torch.manual_seed(4)


class Router(nn.Module):
    def __init__(self, width=6, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, 1) for _ in range(experts))

    def forward(self, x):
        load = torch.softmax(self.gate(x), dim=1)
        out = torch.cat([expert(x) for expert in self.experts], dim=1)
        return (load * out).sum(dim=1), load


def spread(load):
    """Every expert should be loved by some inputs and not by others."""
    return (load.var(dim=0) + 1e-8).sqrt().mean()


model = Router()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(60):
    x = torch.randn(64, 6)
    y = x[:, 0] * x[:, 1].sign()
    prediction, load = model(x)
    loss = nn.functional.mse_loss(prediction, y) - 0.1 * spread(load)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step >= 10:
        with torch.no_grad():
            model.gate.bias[3] -= 4.0  # expert 3 is being retired
    if step % 5 == 0:
        print(f"step {step:2d} loss {loss.item():.4f} loads {load.mean(0).tolist()[3]:.1e}")
