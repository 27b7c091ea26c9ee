import torch
from torch import nn


class KnowledgeGraph(nn.Module):
    """Scores (head, relation, tail) with one matrix a relation."""

    def __init__(self, entities, relations, dim, relation_dim):
        super().__init__()
        self.entity = nn.Embedding(entities, dim)
        self.matrix = nn.Parameter(torch.randn(relations, dim, relation_dim) * 0.1)
        self.shrink = nn.Linear(dim, relation_dim)

    def forward(self, head, relation, tail):
        h = self.entity(head)
        t = self.shrink(self.entity(tail))
        moved = torch.einsum("bd,bde->be", h, self.matrix[relation])
        return (moved * t).sum(-1)


def triples(n, entities, relations):
    head = torch.randint(entities, (n,))
    relation = torch.randint(relations, (n,))
    return head, relation, (head + relation + 1) % entities


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = KnowledgeGraph(entities=30, relations=4, dim=16, relation_dim=8).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(30):
    head, relation, tail = (part.to(device) for part in triples(64, 30, 4))
    wrong = tail[torch.randperm(64, device=device)]
    good = model(head, relation, tail)
    bad = model(head, relation, wrong)
    loss = torch.relu(1 - good + bad).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
