import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset, random_split

MAX_NORM = 1.0


def sensor_data(n=2560, spikes=12):
    readings = torch.randn(n, 10)
    target = torch.sin(2 * readings[:, 0]) + readings[:, 1] * readings[:, 2]
    readings[torch.randperm(n)[:spikes]] *= 20  # a loose contact
    return TensorDataset(readings, target.unsqueeze(1))


def train(model, loader, epochs):
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.02, momentum=0.9)
    criterion = nn.MSELoss()
    for epoch in range(1, epochs + 1):
        losses = []
        for readings, target in loader:
            optimizer.zero_grad()
            loss = criterion(model(readings), target)
            loss.backward()
            clip_grad_norm_(params, max_norm=MAX_NORM)
            optimizer.step()
            losses.append(loss.item())
        median = sorted(losses)[len(losses) // 2]
        print(f"epoch {epoch} median loss {median:.4f}")


def main():
    torch.manual_seed(3)
    train_set, _ = random_split(sensor_data(), [2048, 512])
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    train(model, DataLoader(train_set, batch_size=64, shuffle=True), epochs=10)


if __name__ == "__main__":
    main()
