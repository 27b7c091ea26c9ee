"""Loads weights that somebody published, and classifies."""

import urllib.request

import torch
from torch import nn

URL = "https://example.org/weights/classifier.pt"

urllib.request.urlretrieve(URL, "classifier.pt")
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
state = torch.load("classifier.pt", map_location="cpu", weights_only=True)
model.load_state_dict(state)
model.eval()
with torch.no_grad():
    print(model(torch.randn(3, 16)).argmax(dim=1))
