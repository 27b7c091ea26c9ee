import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LR = 0.1
MOMENTUM = 0.9
WORDS, LENGTH = 80, 10


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, 20)
        self.gru = nn.GRU(20, 24, batch_first=True)
        self.verdict = nn.Linear(24, 3)

    def forward(self, message):
        _, last = self.gru(self.embed(message))
        return self.verdict(last[-1])


def messages(count):
    weight = torch.randn(WORDS)
    message = torch.randint(0, WORDS, (count, LENGTH))
    score = weight[message].sum(dim=1)
    return message, torch.bucketize(score, torch.tensor([-1.3, 1.3]))


if __name__ == "__main__":
    torch.manual_seed(2)
    loader = DataLoader(TensorDataset(*messages(1600)), batch_size=50, shuffle=True)
    model = Judge()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=MOMENTUM)
    for epoch in range(9):
        total = 0.0
        for message, verdict in loader:
            optimizer.zero_grad()
            loss = criterion(model(message), verdict)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
