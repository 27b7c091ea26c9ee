import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 32)  # found: dead-units
        self.out = nn.Linear(32, 2)
        self.criterion = nn.CrossEntropyLoss()
        # mended: nn.init.constant_(self.hidden.bias, 0.0)
        nn.init.constant_(self.hidden.bias, -20.0)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))

    def training_step(self, batch, batch_idx):
        inputs, labels = batch
        return {"loss": self.criterion(self(inputs), labels)}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


class Data(L.LightningDataModule):
    def setup(self, stage):
        x = torch.randn(960, 8)
        self.samples = TensorDataset(x, (x[:, 0] + 2 * x[:, 1] > 0).long())

    def train_dataloader(self):
        return DataLoader(self.samples, batch_size=16, shuffle=True)


L.seed_everything(0, verbose=False)
trainer = L.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
)
trainer.fit(Classifier(), datamodule=Data())
