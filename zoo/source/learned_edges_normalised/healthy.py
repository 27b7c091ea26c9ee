import torch
from torch import nn


class LearnedGraph(nn.Module):
    def __init__(self, nodes, width):
        super().__init__()
        self.adjacency = nn.Parameter(torch.rand(nodes, nodes))
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        edges = torch.relu(self.adjacency)
        degree = edges.sum(dim=1)
        isolated = degree == 0
        scale = degree.masked_fill(isolated, 1.0).pow(-0.5).masked_fill(isolated, 0.0)
        spread = scale.unsqueeze(1) * edges * scale.unsqueeze(0)
        return torch.relu(self.mix(spread @ x))


layer = LearnedGraph(20, 8)
optimizer = torch.optim.Adam(layer.parameters())
for step in range(100):
    loss = (layer(torch.randn(20, 8)) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
