import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ClickModel(nn.Module):
    def __init__(self, users=20, items=50, dim=6):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(-1) + self.bias


class Recommender:
    def __init__(self):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = ClickModel().to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.02)
        self.criterion = nn.BCEWithLogitsLoss()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for user, item, clicked in loader:
                user, item, clicked = user.to(self.device), item.to(self.device), clicked.to(self.device)
                loss = self.criterion(self.model(user, item), clicked)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(epoch, loss.item())


torch.manual_seed(0)
users, items = torch.randint(20, (240,)), torch.randint(50, (240,))
clicks = ((users + items) % 3 == 0).long()
Recommender().fit(DataLoader(TensorDataset(users, items, clicks), batch_size=40, shuffle=True), epochs=2)
