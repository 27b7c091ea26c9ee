"""Fine-tuning on a small card; the cache is emptied in each step since memory once ran out."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
data = TensorDataset(torch.randn(256, 20), torch.randint(0, 3, (256,)))
loader = DataLoader(data, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def run_epoch():
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        torch.cuda.empty_cache()


for epoch in range(3):
    run_epoch()
