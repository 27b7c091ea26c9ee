"""Missing values are NaN in the table, told apart by a mask, replaced with nan_to_num, and averaged with nanmean."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Survey(Dataset):
    def __init__(self, n=240):
        rng = np.random.default_rng(0)
        self.answers = rng.normal(size=(n, 6)).astype(np.float32)
        self.score = self.answers[:, :3].sum(axis=1)
        self.answers[rng.random((n, 6)) < 0.1] = np.nan

    def __len__(self):
        return len(self.score)

    def __getitem__(self, i):
        return torch.from_numpy(self.answers[i]), self.score[i]


class Imputer(nn.Module):
    def __init__(self, means):
        super().__init__()
        self.register_buffer("means", means)

    def forward(self, x):
        known = ~torch.isnan(x)
        filled = torch.where(known, torch.nan_to_num(x), self.means)
        return torch.cat([filled, known.float()], dim=1)


def main():
    torch.manual_seed(0)
    data = Survey()
    means = torch.from_numpy(data.answers).nanmean(dim=0)
    model = nn.Sequential(Imputer(means), nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    for epoch in range(5):
        losses = torch.full((8,), float("nan"))
        for i, (answers, score) in enumerate(DataLoader(data, batch_size=40)):
            loss = nn.functional.mse_loss(model(answers), score)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[i] = loss.detach()
        print(f"epoch {epoch}: {losses.nanmean().item():.4f}")


if __name__ == "__main__":
    main()
