import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self, count, seed=0):
        generator = torch.Generator().manual_seed(seed)
        lengths = torch.randint(20, 40, (count,), generator=generator).tolist()
        self.items = [(torch.randn(n, 4, generator=generator), n % 2) for n in lengths]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(batch):
    signals, labels = zip(*batch)
    return nn.utils.rnn.pad_sequence(signals, batch_first=True), torch.tensor(labels)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 12, batch_first=True)
        self.out = nn.Linear(12, 2)

    def forward(self, signal):
        _, last = self.gru(signal)
        return self.out(last[0])


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Listener().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Recordings(64), batch_size=8, shuffle=True, collate_fn=collate)
    for epoch in range(2):
        for signals, labels in loader:
            loss = nn.functional.cross_entropy(model(signals.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())
