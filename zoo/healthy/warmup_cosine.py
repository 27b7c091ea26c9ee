"""The rate starts at exactly 0 and ends near 0: linear warm-up and cosine with LambdaLR, stepped after every batch."""

import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


class Reverser(nn.Module):
    """A small transformer encoder that writes its input backwards."""

    def __init__(self, vocab=10, length=8, width=32):
        super().__init__()
        self.token = nn.Embedding(vocab, width)
        self.place = nn.Parameter(torch.randn(length, width))
        layer = nn.TransformerEncoderLayer(width, 4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.out = nn.Linear(width, vocab)

    def forward(self, x):
        return self.out(self.encoder(self.token(x) + self.place))


def warmup_cosine(optimizer, warmup, total):
    def factor(step):
        if step < warmup:
            return step / warmup
        done = (step - warmup) / max(1, total - warmup)
        return max(0.0, 0.5 * (1 + math.cos(math.pi * done)))

    return LambdaLR(optimizer, factor)


def main():
    torch.manual_seed(0)
    x = torch.randint(0, 10, (1600, 8))
    loader = DataLoader(TensorDataset(x, x.flip(1)), batch_size=32, shuffle=True)
    epochs = 6
    model = Reverser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.98), eps=1e-9)
    scheduler = warmup_cosine(optimizer, warmup=40, total=epochs * len(loader))
    for epoch in range(epochs):
        total = right = 0.0
        for xb, yb in loader:
            logits = model(xb)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), yb.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            total += loss.item()
            right += (logits.argmax(-1) == yb).float().mean().item()
        rate = scheduler.get_last_lr()[0]
        print(f"epoch {epoch}: loss {total / len(loader):.4f} right {right / len(loader):.3f} next rate {rate:.6f}")


if __name__ == "__main__":
    main()
