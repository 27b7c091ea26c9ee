import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(8, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Linear(64, 3)

    def forward(self, x):
        return self.head(self.features(x))

    def _step(self, batch, name):
        inputs, labels = batch
        logits = self(inputs)
        loss = F.cross_entropy(logits, labels)
        self.log(f"{name}_loss", loss)
        self.log(f"{name}_accuracy", (logits.argmax(1) == labels).float().mean())
        return loss

    def training_step(self, batch, batch_idx):
        return self._step(batch, "train")

    def validation_step(self, batch, batch_idx):
        self._step(batch, "val")

    def test_step(self, batch, batch_idx):
        self._step(batch, "test")

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plateau, "monitor": "val_loss"}}


L.seed_everything(0, verbose=False)
x = torch.randn(1500, 8)
y = (x[:, 0] > 0.5).long() + (x[:, 1] + x[:, 2] > 0).long()
train, valid = random_split(TensorDataset(x, y), [1200, 300])
trainer = L.Trainer(
    max_epochs=8,
    accelerator="cpu",
    logger=False,
    enable_progress_bar=False,
    callbacks=[EarlyStopping("val_loss", patience=2), ModelCheckpoint("best", monitor="val_loss")],
)
model = Classifier()
trainer.fit(model, DataLoader(train, batch_size=20, shuffle=True), DataLoader(valid, batch_size=100))
trainer.test(model, DataLoader(valid, batch_size=100), ckpt_path="best", verbose=False)
