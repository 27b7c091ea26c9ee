import csv
import io
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def table(rows=300):
    rng = random.Random(1)
    text = io.StringIO()
    writer = csv.writer(text)
    for _ in range(rows):
        petals = [rng.gauss(0, 1) for _ in range(4)]
        writer.writerow([*petals, int(sum(petals) > 0) + int(petals[0] > 1)])
    return text.getvalue()


def load(text):
    rows = [[float(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
    values = torch.tensor(rows)
    features = values[:, :4]
    species = values[:, 4].long()
    return TensorDataset(features, species)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(load(table()), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    for features, species in loader:
        features = features.to(device)
        species = species.to(device)
        optimizer.zero_grad()
        loss = criterion(model(features), species)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
