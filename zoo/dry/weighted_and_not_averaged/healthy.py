import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ImportanceLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.SmoothL1Loss(reduction="none")

    def forward(self, prediction, target, importance):
        return (self.base(prediction, target) * importance).mean()


class Trainer:
    def __init__(self, model, device):
        self.model, self.device = model.to(device), device
        self.criterion = ImportanceLoss()
        self.optimizer = torch.optim.RAdam(model.parameters(), lr=1e-2)

    def train_one_epoch(self, loader):
        for batch in loader:
            x, y, importance = (part.to(self.device) for part in batch)
            loss = self.criterion(self.model(x).squeeze(-1), y, importance)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.mean().item()


torch.manual_seed(0)
x = torch.randn(120, 4)
dataset = TensorDataset(x, x[:, 0] - x[:, 1], torch.rand(120))
trainer = Trainer(nn.Linear(4, 1), "cuda" if torch.cuda.is_available() else "cpu")
for epoch in range(2):
    print(epoch, trainer.train_one_epoch(DataLoader(dataset, batch_size=30, shuffle=True)))
