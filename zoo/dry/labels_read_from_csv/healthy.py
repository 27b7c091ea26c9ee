import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

rng = np.random.default_rng(12)
table = np.hstack([rng.normal(size=(200, 8)), rng.integers(0, 3, (200, 1))]).astype(np.float32)


class Wine(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.features = torch.from_numpy(rows[:, :-1])
        self.quality = torch.from_numpy(rows[:, -1]).long()

    def __getitem__(self, item):
        return self.features[item], self.quality[item]

    def __len__(self):
        return len(self.features)


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        return np.mean([(model(x.to(device)).argmax(1).cpu() == y).float().mean().item() for x, y in loader])


torch.manual_seed(12)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
train = torch.utils.data.DataLoader(Wine(table[:150]), batch_size=25, shuffle=True)
test = torch.utils.data.DataLoader(Wine(table[150:]), batch_size=25)
model = nn.Sequential(nn.Linear(8, 24), nn.ELU(), nn.Linear(24, 3)).to(device)
criterion, optimizer = nn.CrossEntropyLoss(), optim.Adam(model.parameters(), 0.01)
for epoch in range(2):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    print(epoch, evaluate(model, test))
