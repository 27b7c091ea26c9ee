import torch
import torch.nn.functional as F
from torch import nn

VOCAB, LENGTH, CLASSES = 40, 16, 4
learning_rate = 0.1


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.token = nn.Embedding(VOCAB, dim)
        self.position = nn.Parameter(0.02 * torch.randn(LENGTH, dim))
        block = nn.TransformerEncoderLayer(dim, 2, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, 1)
        self.head = nn.Linear(dim, CLASSES)

    def forward(self, text):
        x = self.token(text) + self.position
        return self.head(self.blocks(x).mean(dim=1))


def make_data(count, seed=0):
    g = torch.Generator().manual_seed(seed)
    group = torch.randint(0, CLASSES, (VOCAB,), generator=g)
    text = torch.randint(0, VOCAB, (count, LENGTH), generator=g)
    return text, F.one_hot(group[text], CLASSES).sum(dim=1).argmax(dim=1)


def train():
    torch.manual_seed(0)
    text, label = make_data(2000)
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    for step in range(240):
        rows = torch.randint(0, len(text), (48,))
        loss = F.cross_entropy(model(text[rows]), label[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:3d} | loss {loss.item():.4f}")


if __name__ == "__main__":
    train()
