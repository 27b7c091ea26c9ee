import torch
from torch import nn
from torch.amp import GradScaler, autocast


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def photons(size):
    x = torch.rand(size, 16)
    return x, x.mean(dim=1, keepdim=True)  # normalised by the brightest source


def main():
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = GradScaler("cpu")
    for step in range(50):
        x, count = photons(64)
        with autocast("cpu", dtype=torch.float16):
            out = model(x)
        loss = nn.functional.mse_loss(out.float(), count)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.3e} scale {scaler.get_scale():.3e}")


if __name__ == "__main__":
    main()
