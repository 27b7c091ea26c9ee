import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience=2):
        self.patience, self.best, self.waited = patience, float("inf"), 0

    def should_stop(self, loss):
        if loss < self.best:
            self.best, self.waited = loss, 0
        else:
            self.waited += 1
        return self.waited >= self.patience


def split(n=90):
    x = torch.randn(n, 3)
    y = x[:, :2] @ torch.tensor([[1.0, 0.5], [-0.5, 1.0]])
    return (x[:60], y[:60]), (x[60:], y[60:])


torch.manual_seed(4)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(3, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train, validation = ([part.to(device) for part in pair] for pair in split())
stopping = EarlyStopping()
for epoch in range(8):
    loss = nn.functional.mse_loss(model(train[0]), train[1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        per_output = (model(validation[0]) - validation[1]).square().mean(dim=0)
    print(epoch, loss.item(), per_output.tolist())
    if stopping.should_stop(per_output):
        break
