import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)


def wine(count=1000, kinds=4):
    """Thirteen measurements of wines of four growers."""
    centres = 1.2 * torch.randn(kinds, 13)
    grower = torch.randint(0, kinds, (count,))
    return centres[grower] + torch.randn(count, 13), grower


torch.manual_seed(14)
values, grower = wine()
train = DataLoader(TensorDataset(values[:800], grower[:800]), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(13, 32), nn.Tanh(), nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 4))
model.apply(init_weights)
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(10):
    model.train()
    for x, y in train:
        loss = loss_fn(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        output = model(values[800:])
        held_out = loss_fn(output, grower[800:]).item()
        accuracy = (output.argmax(1) == grower[800:]).float().mean().item()
    print(f"epoch {epoch:2d} held-out loss {held_out:.4f} accuracy {accuracy:.3f}")
