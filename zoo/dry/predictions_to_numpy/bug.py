import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitLikeModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 14), nn.Softplus(), nn.Linear(14, 2))

    def training_step(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def predict_step(self, batch):
        return self.net(batch[0]).argmax(dim=1)


class Loop:
    def __init__(self, module, epochs):
        self.module, self.epochs = module, epochs
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def move(self, batch):
        return [part.to(self.device) for part in batch]

    def fit(self, loader):
        self.module.to(self.device).train()
        optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-3)
        for _ in range(self.epochs):
            for batch in loader:
                loss = self.module.training_step(self.move(batch))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    @torch.no_grad()
    def confusion(self, loader, classes=2):
        self.module.eval()
        counts = np.zeros((classes, classes), dtype=int)
        for batch in loader:
            guess = self.module.predict_step(self.move(batch)).numpy()
            np.add.at(counts, (batch[1].numpy(), guess), 1)
        return counts


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(150, 7)
    loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=25)
    loop = Loop(LitLikeModule(), epochs=2)
    loop.fit(loader)
    print(loop.confusion(loader))
