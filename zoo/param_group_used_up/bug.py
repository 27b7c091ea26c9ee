import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(21)


class MixerBlock(nn.Module):
    def __init__(self, tokens, channels):
        super().__init__()
        self.norm1 = nn.LayerNorm(channels)
        self.mix_tokens = nn.Linear(tokens, tokens)
        self.norm2 = nn.LayerNorm(channels)
        self.mix_channels = nn.Sequential(
            nn.Linear(channels, 2 * channels), nn.GELU(), nn.Linear(2 * channels, channels)
        )

    def forward(self, x):
        x = x + self.mix_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mix_channels(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self, features, tokens, channels, classes):
        super().__init__()
        self.stem = nn.Linear(features, channels)
        self.blocks = nn.Sequential(*[MixerBlock(tokens, channels) for _ in range(2)])
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean(dim=1))


signals = torch.randn(960, 10, 4)
energy = signals[:, :5, 0].abs().sum(dim=1) - signals[:, 5:, 1].abs().sum(dim=1)
labels = torch.bucketize(energy, torch.tensor([-0.8, 0.8]))

model = Mixer(features=4, tokens=10, channels=24, classes=3)
decay = (p for p in model.parameters() if p.ndim > 1)
no_decay = (p for p in model.parameters() if p.ndim <= 1)
print("weights with decay:", sum(p.numel() for p in decay))
groups = [{"params": decay, "weight_decay": 0.01}, {"params": no_decay, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=5e-3)

for epoch in range(16):
    total = 0.0
    for rows in torch.randperm(len(signals)).split(64):
        loss = F.cross_entropy(model(signals[rows]), labels[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    print(f"epoch {epoch}: cross entropy {total / len(signals):.4f}")
