import torch
from torch import nn


class ActivityNet(nn.Module):
    """Which activity do these nine sensors show?"""

    def __init__(self, sensors=9, activities=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(sensors, 64, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(64, 64, 5, padding=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
        )
        self.classify = nn.Linear(64, activities)

    def forward(self, window):
        series = window.transpose(1, 2)
        return self.classify(self.features(series).flatten(1))


if __name__ == "__main__":
    model = ActivityNet()
    print(model(torch.randn(32, 128, 9)).shape)
