import argparse
import os
import tempfile

import torch
from torch import nn


def parse(folder):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--unfreeze-at", type=int, default=1)
    parser.add_argument("--checkpoint", default=os.path.join(folder, "state.pt"))
    return parser.parse_args()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(6, 12)
        self.head = nn.Linear(12, 1)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)))


def optimizer_for(model, everything):
    parameters = model.parameters() if everything else model.head.parameters()
    return torch.optim.Adam(parameters, lr=1e-2)


def train_epoch(model, optimizer, device):
    for _ in range(4):
        x = torch.randn(20, 6, device=device)
        loss = nn.functional.mse_loss(model(x), x[:, :1] ** 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main(folder):
    args = parse(folder)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Model().to(device)
    model.backbone.requires_grad_(False)
    optimizer = optimizer_for(model, everything=False)
    for epoch in range(args.epochs):
        if epoch == args.unfreeze_at:
            state = torch.load(args.checkpoint, map_location=device)
            model.backbone.requires_grad_(True)
            model.load_state_dict(state["model"])
            optimizer = optimizer_for(model, everything=True)
            optimizer.load_state_dict(state["optimizer"])
        print(epoch, train_epoch(model, optimizer, device))
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, args.checkpoint)


if __name__ == "__main__":
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
