import torch
from torch import nn


class Evidence(nn.Module):
    def __init__(self, inp=5, parts=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inp, 24), nn.Tanh(), nn.Linear(24, parts))
        nn.init.constant_(self.body[2].bias, 2.0)

    def forward(self, x):
        return torch.relu(self.body(x))


def dirichlet_nll(alpha, share):
    normaliser = torch.lgamma(alpha).sum(1) - torch.lgamma(alpha.sum(1))
    return (normaliser - ((alpha - 1) * share.log()).sum(1)).mean()


def compositions(n):
    x = torch.randn(n, 5)
    share = torch.softmax(2.5 * x[:, :3], dim=1).clamp(min=1e-4)
    return x, share / share.sum(1, keepdim=True)


def run():
    torch.manual_seed(12)
    x, share = compositions(400)
    model = Evidence()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(20):
        for xb, sb in zip(x.split(40), share.split(40)):
            loss = dirichlet_nll(model(xb), sb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"[{epoch:02d}] nll={loss.item():+.4f}")


run()
