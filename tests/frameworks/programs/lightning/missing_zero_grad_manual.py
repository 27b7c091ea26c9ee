import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        inputs, labels = batch
        loss = F.cross_entropy(self.net(inputs), labels)
        # mended: optimizer.zero_grad(); self.manual_backward(loss)
        self.manual_backward(loss)  # found: missing-zero-grad
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


L.seed_everything(0, verbose=False)
x = torch.randn(960, 8)
y = (x[:, 0] + 2 * x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
trainer = L.Trainer(max_epochs=2, accelerator="cpu", barebones=True)
trainer.fit(Classifier(), loader)
