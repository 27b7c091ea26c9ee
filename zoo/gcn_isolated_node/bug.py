import torch
import torch.nn.functional as F

torch.manual_seed(6)
nodes, width, classes = 60, 16, 3
labels = torch.arange(nodes) % classes
features = F.one_hot(labels, classes).float() @ torch.randn(classes, width) + 0.8 * torch.randn(nodes, width)
edges = (labels[:, None] == labels[None, :]) & (torch.rand(nodes, nodes) < 0.3)
edges = (edges | edges.T).float().fill_diagonal_(0)


def propagate(adjacency, h):
    degree = adjacency.sum(dim=1)
    norm = degree.pow(-0.5)
    return norm[:, None] * (adjacency @ (norm[:, None] * h))


def drop_edges(adjacency, rate):
    keep = (torch.rand_like(adjacency) > rate).float().triu()
    return adjacency * (keep + keep.T)


w1 = torch.nn.Parameter(torch.randn(width, 16) * 0.1)
w2 = torch.nn.Parameter(torch.randn(16, classes) * 0.1)
optimizer = torch.optim.Adam([w1, w2], lr=0.02, weight_decay=5e-4)

for epoch in range(40):
    adjacency = drop_edges(edges, rate=0.3 + 0.01 * epoch)
    h = torch.relu(propagate(adjacency, features @ w1))
    logits = propagate(adjacency, h @ w2)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 4 == 0:
        print(f"epoch {epoch:2d} loss {loss.item():.4f}")
