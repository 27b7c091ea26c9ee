import torch
from torch import nn

torch.manual_seed(2)


class SpamFilter(nn.Module):
    def __init__(self, n_features, width=40):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_features, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return torch.sigmoid(self.head(self.body(x)))


n, n_features = 1000, 16
mails = torch.randn(n, n_features)
direction = torch.randn(n_features)
spam = ((mails @ direction) * 0.7 + mails[:, 0] * mails[:, 1] > 0).float().unsqueeze(1)
train_x, test_x = mails[:800], mails[800:]
train_y, test_y = spam[:800], spam[800:]

model = SpamFilter(n_features)
criterion = nn.BCELoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)

for epoch in range(10):
    model.train()
    for i in range(0, len(train_x), 50):
        xb, yb = train_x[i : i + 50], train_y[i : i + 50]
        prediction = model(xb)
        loss = criterion(prediction, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = ((model(test_x) > 0.5).float() == test_y).float().mean()
    print(f"epoch {epoch}: loss {loss.item():.4f} test accuracy {accuracy:.3f}")
