import torch
from torch import nn


class KeywordSpotter(nn.Module):
    def __init__(self, words=12):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, 32, kernel_size=9, stride=2, padding=4),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.MaxPool1d(4, stride=4, padding=2),
            nn.Conv1d(32, 64, kernel_size=9, padding=4),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(64, words),
        )

    def forward(self, wave):
        return self.layers(wave)


if __name__ == "__main__":
    print(KeywordSpotter()(torch.randn(2, 1, 16000)).shape)
