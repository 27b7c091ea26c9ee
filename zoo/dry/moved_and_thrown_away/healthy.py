import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

words = torch.randint(0, 40, (120, 9))
dataset = TensorDataset(words, words[:, 0] // 10)
loader = DataLoader(dataset, batch_size=30)

model = nn.Sequential(nn.EmbeddingBag(40, 8), nn.Linear(8, 4))
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(2):
    for x, y in loader:
        x = x.to(device)
        y = y.to(device)
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
