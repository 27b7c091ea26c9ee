import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PAD = 0


class Sentences(Dataset):
    def __init__(self, n=64, length=12):
        g = torch.Generator().manual_seed(2)
        self.tokens = torch.randint(1, 50, (n, length), generator=g)
        for row, end in zip(self.tokens, torch.randint(4, length + 1, (n,), generator=g)):
            row[end:] = PAD

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return self.tokens[i], self.tokens[i].sum() % 2


class Encoder(nn.Module):
    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.embed = nn.Embedding(50, dim, padding_idx=PAD)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.classify = nn.Linear(dim, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        padding = tokens == PAD
        mask = padding[:, None, :].expand(-1, tokens.size(1), -1)
        x, _ = self.attention(x, x, x, attn_mask=mask)
        return self.classify(x[:, 0])


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    encoder = Encoder().to(device)
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=5e-4)
    for epoch in range(2):
        for tokens, parity in DataLoader(Sentences(), batch_size=8, shuffle=True):
            tokens, parity = tokens.to(device), parity.to(device)
            loss = nn.functional.cross_entropy(encoder(tokens), parity)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(f"{epoch=} loss={loss.item():.3f}")


main()
