import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EMOTIONS = 5


class EmotionNet(nn.Module):
    def __init__(self, features=16):
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.first = nn.Linear(features, 64)
        self.last = nn.Linear(64, EMOTIONS)

    def forward(self, x):
        return self.last(F.gelu(self.norm(self.first(x))))


def annotated_clips(count, voters=40):
    clips = torch.randn(count, 16)
    tendency = F.softmax(0.35 * clips @ torch.randn(16, EMOTIONS), dim=1)
    votes = torch.multinomial(tendency, voters, replacement=True)
    return clips, F.one_hot(votes, EMOTIONS).float().mean(dim=1)


def fit(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(epochs):
        total = gap = 0.0
        for clips, votes in loader:
            scores = model(clips)
            predicted = F.log_softmax(scores, dim=1)
            loss = F.kl_div(predicted, votes, reduction="batchmean")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            gap += (F.softmax(scores, dim=1) - votes).abs().sum(dim=1).mean().item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} distance to votes {gap / len(loader):.4f}")


if __name__ == "__main__":
    torch.manual_seed(10)
    data = TensorDataset(*annotated_clips(1200))
    fit(EmotionNet(), DataLoader(data, batch_size=48, shuffle=True), epochs=8)
