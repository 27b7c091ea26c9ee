import torch
from torch import nn


class TwoPaths(nn.Module):
    def __init__(self, dim=10):
        super().__init__()
        self.local = nn.Conv1d(1, dim, 3, padding=1)
        self.wide = nn.Conv1d(1, dim, 9, padding=4)
        self.mix = nn.Conv1d(dim, dim, 1)
        self.out = nn.Linear(dim, 4)

    def forward(self, wave):
        near = torch.relu(self.local(wave))
        far = torch.relu(self.wide(wave))
        return self.out(self.mix(near + far).mean(-1))


def batch(n=12, device="cpu"):
    kind = torch.randint(4, (n,))
    t = torch.linspace(0, 20, 50)
    wave = torch.sin(t * (1 + kind[:, None])) + 0.1 * torch.randn(n, 50)
    return wave[:, None].to(device), kind.to(device)


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = TwoPaths().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(20):
    wave, kind = batch(device=device)
    loss = nn.functional.cross_entropy(model(wave), kind)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
