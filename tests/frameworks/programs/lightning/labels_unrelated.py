import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))

    def training_step(self, batch, batch_idx):
        inputs, labels = batch
        return F.cross_entropy(self.net(inputs), labels)

    def validation_step(self, batch, batch_idx):
        inputs, labels = batch
        self.log("val_loss", F.cross_entropy(self.net(inputs), labels))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


class Data(L.LightningDataModule):
    def setup(self, stage):
        x = torch.randn(2700, 8)
        y = (x[:, 0] + 2 * x[:, 1] > 0).long()
        # mended: y = y.clone()
        y = y[torch.randperm(len(y))]
        self.train, self.valid = TensorDataset(x[:2400], y[:2400]), TensorDataset(x[2400:], y[2400:])

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=16, shuffle=True)  # found: labels-unrelated-to-inputs

    def val_dataloader(self):
        return DataLoader(self.valid, batch_size=100)


L.seed_everything(0, verbose=False)
trainer = L.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
)
trainer.fit(Classifier(), datamodule=Data())
