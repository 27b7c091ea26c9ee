import torch
import torch.nn.functional as F
from torch import nn


class TinyTransformer(nn.Module):
    """Says which of the first four symbols occurs most often in a sequence."""

    def __init__(self, symbols=8, dim=32, answers=4):
        super().__init__()
        self.token = nn.Embedding(symbols, dim)
        layer = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.answer = nn.Linear(dim, answers)

    def forward(self, tokens):
        x = self.encoder(self.token(tokens))
        return F.log_softmax(self.answer(x.mean(dim=1)), dim=-1)


def draw(batch, length=15):
    tokens = torch.randint(0, 8, (batch, length))
    counts = F.one_hot(tokens, 8).sum(dim=1)[:, :4]
    return tokens, counts.argmax(dim=1)


def train(steps=150):
    model = TinyTransformer()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(1, steps + 1):
        tokens, answer = draw(64)
        log_probs = model(tokens)
        # negative log likelihood of the right answers
        loss = -F.nll_loss(log_probs, answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            accuracy = (log_probs.argmax(-1) == answer).float().mean()
            print(f"{step:4d} | {loss.item():9.4f} | {accuracy:.2f}")


torch.manual_seed(6)
train()
