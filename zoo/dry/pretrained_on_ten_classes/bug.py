import io

import torch
import torch.nn.functional as F
from torch import nn


class Backbone(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(2, 8, 3), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten())
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.features(x))


def epoch(model, optimizer, classes, device):
    for _ in range(4):
        x, y = torch.randn(12, 2, 30, device=device), torch.randint(classes, (12,), device=device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
store = io.BytesIO()

general = Backbone(classes=10).to(device)
print("pretraining", epoch(general, torch.optim.Adam(general.parameters()), 10, device))
torch.save(general.state_dict(), store)
store.seek(0)

special = Backbone(classes=3).to(device)
state = torch.load(store)
special.load_state_dict(state)
print("fine-tuning", epoch(special, torch.optim.Adam(special.parameters(), lr=1e-4), 3, device))
