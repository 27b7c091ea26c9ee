import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH = 32
VOCABULARY = 100


class Sentiment(nn.Module):
    def __init__(self, embedding=16, hidden=20):
        super().__init__()
        self.hidden_size = hidden
        self.embedding = nn.Embedding(VOCABULARY, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def init_hidden(self, batch_size):
        weight = next(self.parameters())
        zeros = weight.new_zeros(1, batch_size, self.hidden_size)
        return zeros, zeros.clone()

    def forward(self, x, state):
        out, state = self.lstm(self.embedding(x), state)
        return self.fc(out[:, -1]).squeeze(1), state


torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
reviews = torch.randint(1, VOCABULARY, (500, 25))
positive = (reviews % 7 == 0).float().mean(dim=1).gt(0.14).float()
loader = DataLoader(TensorDataset(reviews, positive), batch_size=BATCH, shuffle=True)

model = Sentiment().to(device)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

for epoch in range(2):
    h = model.init_hidden(BATCH)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        h = tuple(part.detach() for part in h)
        model.zero_grad()
        output, h = model(x, h)
        loss = criterion(output, y)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
