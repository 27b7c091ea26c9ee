import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)

# flowers: four measurements, three species
species = torch.randint(0, 3, (600,))
centres = torch.tensor([[0.0, 1.0, -1.0, -1.0], [0.2, -0.8, 0.4, 0.2], [0.9, -0.2, 1.0, 1.1]])
measurements = centres[species] + 0.35 * torch.randn(600, 4)

train_loader = DataLoader(TensorDataset(measurements, species), batch_size=20, shuffle=True)

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for epoch in range(8):
    loss_sum = 0.0
    n_correct = 0
    for x, y in train_loader:
        out = net(x)
        loss = criterion(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * x.size(0)
        n_correct += (out.argmax(dim=1) == y).sum().item()
    print("epoch %d  loss %.4f  acc %.3f" % (epoch, loss_sum / 600, n_correct / 600))
