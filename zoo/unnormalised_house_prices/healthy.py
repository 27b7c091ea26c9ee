import torch
from torch import nn

torch.manual_seed(0)

area = 40 + 160 * torch.rand(200, 1)
rooms = torch.randint(1, 7, (200, 1)).float()
year = 1950 + torch.randint(0, 70, (200, 1)).float()
features = torch.cat([area, rooms, year], dim=1)
centred = (features - features.mean(0)) / features.std(0)
price = 3.0 * area + 10 * rooms + 0.1 * year + 5 * torch.randn(200, 1)

model = nn.Linear(3, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(60):
    prediction = model(centred)
    loss = criterion(prediction, price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 5 == 0:
        print("epoch {:2d} loss {:.6g}".format(epoch, loss.item()))
