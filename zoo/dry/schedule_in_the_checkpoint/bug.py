import os
import tempfile

import torch
from torch import nn

config = {
    "lr": 0.05,
    "epochs": 10,
    "save_every": 10,
    "warmup": lambda epoch: min(1.0, (epoch + 1) / 3),
}


def build(device):
    model = nn.Sequential(nn.Linear(3, 9), nn.ReLU(), nn.Linear(9, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, config["warmup"])
    return model, optimizer, scheduler


def save(path, epoch, model, optimizer):
    torch.save(
        {"epoch": epoch, "config": config, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, path
    )


def main(folder):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, optimizer, scheduler = build(device)
    for epoch in range(1, config["epochs"] + 1):
        for _ in range(3):
            x = torch.rand(24, 3, device=device)
            loss = nn.functional.mse_loss(model(x), x.norm(dim=1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        if epoch % config["save_every"] == 0:
            save(os.path.join(folder, f"epoch{epoch}.pt"), epoch, model, optimizer)
    print(loss.item())


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    main(folder)
