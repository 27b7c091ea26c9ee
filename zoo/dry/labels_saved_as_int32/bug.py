import io

import numpy as np
import torch
from torch import nn


def stored():
    rng = np.random.default_rng(0)
    file = io.BytesIO()
    np.savez(file, images=rng.random((90, 8, 8)), labels=rng.integers(0, 10, 90, dtype=np.int32))
    file.seek(0)
    return np.load(file)


class MLP(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        x = x.flatten(1)
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)


def loop(model, images, labels, device, epochs=2, batch=30):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(epochs):
        for start in range(0, len(images), batch):
            x = torch.tensor(images[start : start + batch], dtype=torch.float32, device=device)
            y = torch.tensor(labels[start : start + batch], device=device)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


torch.manual_seed(0)
where = "cuda" if torch.cuda.is_available() else "cpu"
with stored() as file:
    loop(MLP(64, 32, 10).to(where), file["images"], file["labels"], where)
