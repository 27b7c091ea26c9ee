import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Cosine(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 32)
        self.out = nn.Linear(32, 2)

    def forward(self, x):
        # mended: x = F.normalize(x, dim=1)
        x = x / x.norm(dim=1, keepdim=True)  # found: division-by-zero
        return self.out(torch.relu(self.hidden(x)))

    def training_step(self, batch, batch_idx):
        inputs, labels = batch
        loss = F.cross_entropy(self(inputs), labels)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


L.seed_everything(0, verbose=False)
x = torch.randn(960, 8)
y = (x[:, 0] + 2 * x[:, 1] > 0).long()
x[611] = 0
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False)
trainer.fit(Cosine(), loader)
