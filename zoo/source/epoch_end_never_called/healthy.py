"""A classifier in Lightning that reports its validation accuracy after each epoch."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
        self.correct = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.correct.append((self.net(x).argmax(dim=1) == y).float().mean())

    def on_validation_epoch_end(self):
        self.log("accuracy", torch.stack(self.correct).mean())
        self.correct.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)
