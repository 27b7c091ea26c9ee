"""Masked prediction: three quarters of each sequence are hidden, and the loss looks at the hidden places only."""

import torch
import torch.nn.functional as F
from torch import nn

LENGTH, WIDTH = 16, 32


class MaskedModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, WIDTH)
        self.place = nn.Parameter(0.5 * torch.randn(LENGTH, WIDTH))
        self.mask_token = nn.Parameter(torch.zeros(WIDTH))
        self.encoder, self.decoder = (
            nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.0, batch_first=True, norm_first=True) for _ in range(2)
        )
        self.out = nn.Linear(WIDTH, 4)

    def forward(self, patches, keep):
        """`keep` holds, for each row, the places that may be seen."""
        rows = torch.arange(len(patches)).unsqueeze(1)
        seen = self.encoder(self.embed(patches[rows, keep]) + self.place[keep])
        full = self.mask_token.expand(len(patches), LENGTH, WIDTH).clone()
        full[rows, keep] = seen
        return self.out(self.decoder(full + self.place))


def signals(count):
    """Sixty-four values of a wave, cut into sixteen patches of four."""
    t = torch.arange(64.0)
    rate = 0.1 + 0.15 * torch.rand(count, 1)
    phase, height = 6.28 * torch.rand(count, 1), 0.5 + torch.rand(count, 1)
    return (height * torch.sin(rate * t + phase)).view(count, LENGTH, 4)


def masked_loss(model, patches, visible=4):
    order = torch.rand(len(patches), LENGTH).argsort(dim=1)
    keep, hidden = order[:, :visible], order[:, visible:]
    guess = model(patches, keep)
    rows = torch.arange(len(patches)).unsqueeze(1)
    return F.mse_loss(guess[rows, hidden], patches[rows, hidden])


if __name__ == "__main__":
    torch.manual_seed(0)
    model = MaskedModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.05)
    held = signals(256)
    print(f"variance of the data {held.var().item():.4f}")
    for step in range(1, 401):
        loss = masked_loss(model, signals(64))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            with torch.no_grad():
                print(f"step {step}: train {loss.item():.4f} held {masked_loss(model, held).item():.4f}")
