import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.conv = nn.Conv1d(1, width, 9, stride=4)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, wave):
        return torch.relu(self.norm(self.conv(wave)))


class KeywordSpotter(nn.Module):
    def __init__(self, words=12):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(32, words)

    def forward(self, wave):
        features = self.encoder(wave)
        return self.head(features.mean(dim=2))


def features_of(model, waves):
    kept = []
    handle = model.encoder.register_forward_hook(lambda module, given, output: kept.append(output.cpu()))
    model.eval()
    with torch.no_grad():
        model(waves)
    handle.remove()
    return torch.cat(kept)
