"""A graph convolution on a random graph of four communities: one full batch each epoch, loss on the few labelled nodes."""

import torch
import torch.nn.functional as F
from torch import nn


def community_graph(n=300, classes=4, inside=0.1, outside=0.01):
    labels = torch.randint(0, classes, (n,))
    same = labels[:, None] == labels[None, :]
    edges = torch.rand(n, n) < torch.where(same, inside, outside)
    edges = torch.triu(edges, 1)
    adjacency = (edges | edges.T).float()
    features = torch.randn(n, 16) + 1.0 * F.one_hot(labels, 16)
    return adjacency, features, labels


def normalise(adjacency):
    adjacency = adjacency + torch.eye(len(adjacency))  # every node is its own neighbour, so no degree is 0
    scale = adjacency.sum(1).pow(-0.5)
    return (scale[:, None] * adjacency * scale[None, :]).to_sparse()


class GraphConvolution(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, a):
        return torch.sparse.mm(a, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, n_in, hidden, classes):
        super().__init__()
        self.gc1 = GraphConvolution(n_in, hidden)
        self.gc2 = GraphConvolution(hidden, classes)

    def forward(self, x, a):
        x = F.dropout(x, 0.3, training=self.training)
        x = F.relu(self.gc1(x, a))
        x = F.dropout(x, 0.5, training=self.training)
        return F.log_softmax(self.gc2(x, a), dim=1)


def main():
    torch.manual_seed(42)
    adjacency, x, y = community_graph()
    a = normalise(adjacency)
    order = torch.randperm(len(y))
    train, val, test = order[:60], order[60:140], order[140:]
    model = GCN(16, 16, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(200):
        model.train()
        optimizer.zero_grad()
        output = model(x, a)
        loss = F.nll_loss(output[train], y[train])
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            output = model(x, a)
        right = output.argmax(1) == y
        if epoch % 20 == 0 or epoch == 199:
            print(f"epoch {epoch:3d} train loss {loss.item():.4f} val accuracy {right[val].float().mean():.3f}")
    print(f"test accuracy {right[test].float().mean():.3f}")


if __name__ == "__main__":
    main()
