"""Training stops half-way, a checkpoint goes to memory, model and optimiser are built anew and loaded, and it goes on."""

import io

import torch
from torch import nn
from torch.optim.lr_scheduler import MultiStepLR
from torch.utils.data import DataLoader, TensorDataset


def build():
    model = nn.Sequential(
        nn.Linear(6, 48),
        nn.BatchNorm1d(48),
        nn.ReLU(),
        nn.Dropout(0.05),
        nn.Linear(48, 48),
        nn.ReLU(),
        nn.Linear(48, 1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    return model, optimizer, MultiStepLR(optimizer, milestones=[8], gamma=0.2)


def springs(count):
    x = torch.randn(count, 6)
    y = x[:, 0] * x[:, 1] + torch.cos(2 * x[:, 2]) + 0.1 * torch.randn(count)
    return x, y.unsqueeze(1)


def save(epoch, model, optimizer, scheduler, rng):
    file = io.BytesIO()
    state = {"epoch": epoch, "rng": rng.get_state()}
    state.update(model=model.state_dict(), optimizer=optimizer.state_dict(), scheduler=scheduler.state_dict())
    torch.save(state, file)
    file.seek(0)
    return file


def run(first, last, model, optimizer, scheduler, data, held, rng):
    loader = DataLoader(TensorDataset(*data), batch_size=50, shuffle=True, generator=rng)
    for epoch in range(first, last):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            error = nn.functional.mse_loss(model(held[0]), held[1]).item()
        print(f"epoch {epoch}: train {total / len(loader):.4f} held {error:.4f}")


def main():
    torch.manual_seed(0)
    data, held = springs(1500), springs(400)
    rng = torch.Generator().manual_seed(0)
    model, optimizer, scheduler = build()
    run(0, 6, model, optimizer, scheduler, data, held, rng)
    checkpoint = save(6, model, optimizer, scheduler, rng)

    print("-- a new process would start here")
    model, optimizer, scheduler = build()
    state = torch.load(checkpoint, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    rng = torch.Generator()
    rng.set_state(state["rng"])
    run(state["epoch"], 12, model, optimizer, scheduler, data, held, rng)


if __name__ == "__main__":
    main()
