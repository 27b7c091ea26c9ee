import torch
from torch import nn


def correlation(a, b):
    a = a - a.mean(dim=1, keepdim=True)
    b = b - b.mean(dim=1, keepdim=True)
    return (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))


class Score(nn.Module):
    def forward(self, prediction, target):
        return -torch.atanh(correlation(prediction, target).clamp(-0.9999, 0.9999)).mean()


class Denoiser(nn.Module):
    def __init__(self, length=6):
        super().__init__()
        self.mix = nn.Linear(length, length, bias=False)
        with torch.no_grad():
            self.mix.weight.copy_(torch.eye(length) + 0.05 * torch.randn(length, length))

    def forward(self, x):
        return self.mix(x)


def main():
    torch.manual_seed(0)
    clean = torch.randn(128, 6)
    model, score = Denoiser(), Score()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=150)
    for step in range(150):
        k = torch.randint(0, 128, (64,))
        loss = score(model(clean[k]), clean[k])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 15 == 0:
            print(f"step {step:3d}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
