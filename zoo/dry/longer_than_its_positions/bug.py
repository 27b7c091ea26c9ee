import torch
from torch import nn


class TinyBert(nn.Module):
    def __init__(self, vocabulary=60, max_length=32, dim=16):
        super().__init__()
        self.word = nn.Embedding(vocabulary, dim)
        self.position = nn.Embedding(max_length, dim)
        layer = nn.TransformerEncoderLayer(dim, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.head = nn.Linear(dim, 2)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.word(tokens) + self.position(positions)
        return self.head(self.encoder(x)[:, 0])


class Corpus:
    def __init__(self, lengths, batch=8):
        self.lengths, self.batch = lengths, batch

    def __iter__(self):
        for length in self.lengths:
            tokens = torch.randint(1, 60, (self.batch, length))
            yield tokens, (tokens[:, 1] > 30).long()


def evaluate(model, corpus, device):
    model.eval()
    with torch.no_grad():
        hits = [(model(tokens.to(device)).argmax(-1) == y.to(device)).float().mean() for tokens, y in corpus]
    return torch.stack(hits).mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TinyBert().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(3):
        model.train()
        for tokens, y in Corpus([20, 24, 32, 28]):
            loss = nn.functional.cross_entropy(model(tokens.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item(), evaluate(model, Corpus([30, 40]), device))
