import torch
import torch.nn.functional as F
from torch import nn

PAD, VOCAB, MAX_LEN, LABELS = 0, 200, 24, 4


def tickets(count, seed):
    """Support tickets of different lengths, padded with zeros, for four departments."""
    g = torch.Generator().manual_seed(seed)
    department = torch.randint(0, LABELS, (count,), generator=g)
    habits = torch.randn(LABELS, VOCAB - 1, generator=g).mul(1.5).softmax(dim=1)
    words = 1 + torch.multinomial(habits[department], MAX_LEN, replacement=True, generator=g)
    length = torch.randint(8, MAX_LEN - 2, (count, 1), generator=g)
    words[torch.arange(MAX_LEN) >= length] = PAD
    return words, department


class TicketRouter(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.fc1 = nn.Linear(dim, 32)
        self.fc2 = nn.Linear(32, LABELS)

    def forward(self, words):
        mask = (words == PAD).unsqueeze(2).float()
        mean = (self.embed(words) * mask).sum(dim=1) / mask.sum(dim=1)
        return self.fc2(F.relu(self.fc1(mean)))


def main():
    torch.manual_seed(0)
    words, department = tickets(1500, seed=1)
    router = TicketRouter()
    optimizer = torch.optim.AdamW(router.parameters(), lr=3e-3)
    for epoch in range(8):
        total = 0.0
        for rows in torch.randperm(len(words)).split(50):
            logits = router(words[rows])
            loss = F.cross_entropy(logits, department[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / 30:.4f}")


if __name__ == "__main__":
    main()
