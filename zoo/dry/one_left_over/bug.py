import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, genes, latent=8):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(genes, 32), nn.BatchNorm1d(32), nn.LeakyReLU(0.2), nn.Linear(32, latent))

    def forward(self, counts):
        return self.layers(torch.log1p(counts))


class Model(nn.Module):
    def __init__(self, genes, types):
        super().__init__()
        self.encoder = Encoder(genes)
        self.classifier = nn.Linear(8, types)

    def forward(self, counts):
        return self.classifier(self.encoder(counts))


def load(seed=0):
    rng = np.random.default_rng(seed)
    cells = rng.poisson(2.0, (257, 40)).astype(np.float32)
    types = rng.integers(0, 3, 257)
    return TensorDataset(torch.from_numpy(cells), torch.from_numpy(types))


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
loader = DataLoader(load(), batch_size=64, shuffle=True)
model = Model(40, 3).to(device)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    model.train()
    for cells, types in loader:
        loss = nn.functional.cross_entropy(model(cells.to(device)), types.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
