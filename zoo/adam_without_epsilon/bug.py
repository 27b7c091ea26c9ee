import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
VOCAB = 30

words = torch.randint(0, VOCAB - 5, (200, 6))  # the last five words never occur
sentiment = (words.float().mean(dim=1) > 12).long()


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(VOCAB, 8)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(self.embedding(x))


model = Bag()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, eps=0)
loader = DataLoader(TensorDataset(words, sentiment), batch_size=20)

for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
