import torch
from torch import nn
from torch.utils.data import DataLoader


def pad(batch):
    longest = max(len(tokens) for tokens, _ in batch)
    tokens = torch.zeros(len(batch), longest, dtype=torch.long)
    mask = torch.ones(len(batch), longest, dtype=torch.bool)
    for row, (sentence, _) in enumerate(batch):
        tokens[row, : len(sentence)] = torch.tensor(sentence)
        mask[row, : len(sentence)] = False
    return {"tokens": tokens, "mask": mask, "label": torch.tensor([label for _, label in batch])}


class Pooler(nn.Module):
    def __init__(self, words=30, dim=10):
        super().__init__()
        self.embed = nn.Embedding(words, dim)
        self.score = nn.Linear(dim, 1)
        self.classify = nn.Linear(dim, 2)

    def forward(self, tokens, mask):
        x = self.embed(tokens)
        scores = self.score(x).squeeze(-1).masked_fill(mask, -1e9)
        return self.classify((scores.softmax(1).unsqueeze(-1) * x).sum(1))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
sentences = [([1 + (i * j) % 29 for j in range(1, 4 + i % 6)], i % 2) for i in range(80)]
loader = DataLoader(sentences, batch_size=16, shuffle=True, collate_fn=pad)
model = Pooler().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(2):
    for batch in loader:
        tokens, label = batch["tokens"].to(device), batch["label"].to(device)
        loss = nn.functional.cross_entropy(model(tokens, batch["mask"].to(device)), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
