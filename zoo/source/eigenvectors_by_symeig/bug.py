"""Whitens features with the eigenvectors of their covariance, then fits a linear probe."""

import torch
from torch import nn

torch.manual_seed(0)
features = torch.randn(256, 16) @ torch.randn(16, 16)
labels = (features[:, 0] > 0).long()

centred = features - features.mean(dim=0)
covariance = centred.T @ centred / len(features)
values, vectors = torch.symeig(covariance, eigenvectors=True)
scale = values.clamp(min=1e-6).rsqrt()
white = centred @ vectors * scale

probe = nn.Linear(16, 2)
optimizer = torch.optim.Adam(probe.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(probe(white), labels)
    loss.backward()
    optimizer.step()
print(loss.item())
