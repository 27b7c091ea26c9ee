import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Phrases(Dataset):
    def __init__(self, n=80, longest=12):
        generator = torch.Generator().manual_seed(6)
        self.lengths = torch.randint(3, longest + 1, (n,), generator=generator)
        self.tokens = torch.randint(1, 30, (n, longest), generator=generator)
        for row, length in enumerate(self.lengths.tolist()):
            self.tokens[row, length:] = 0

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        return self.tokens[i], self.lengths[i], self.tokens[i, 0] % 2


class LastState(nn.Module):
    def __init__(self, dim=14):
        super().__init__()
        self.embed = nn.Embedding(30, dim, padding_idx=0)
        self.rnn = nn.RNN(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, 2)

    def forward(self, tokens, lengths):
        states, _ = self.rnn(self.embed(tokens))
        rows = torch.arange(len(tokens), device=tokens.device)
        last = states[rows, lengths]
        return self.out(last)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = LastState().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(2):
        for batch in DataLoader(Phrases(), batch_size=40):
            tokens, lengths, label = (part.to(device) for part in batch)
            loss = nn.functional.cross_entropy(model(tokens, lengths), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
