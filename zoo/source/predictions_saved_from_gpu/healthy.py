import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return self.layers(x)


@torch.no_grad()
def predict(model, loader):
    gathered = []
    for (features,) in loader:
        features = features.to(device)
        scores = model(features)
        gathered.append(scores.argmax(dim=1).cpu().numpy())
    return np.concatenate(gathered)


if __name__ == "__main__":
    model = Classifier().to(device).eval()
    loader = DataLoader(TensorDataset(torch.randn(500, 30)), batch_size=100)
    np.savetxt("predictions.csv", predict(model, loader))
