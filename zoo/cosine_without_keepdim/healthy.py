import torch
from torch import nn, optim

torch.manual_seed(17)
width = batch = 16


class Encoder(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.lin1 = nn.Linear(inp, 32)
        self.lin2 = nn.Linear(32, out)

    def forward(self, x):
        return self.lin2(torch.tanh(self.lin1(x)))


def great_circle(a, b):
    a = a / a.norm(dim=1, keepdim=True)
    b = b / b.norm(dim=1, keepdim=True)
    half_chord = (a - b).norm(dim=1) / 2
    return 2 * torch.asin(half_chord)


students, teacher = Encoder(10, width), Encoder(10, width)
for p in teacher.parameters():
    p.requires_grad_(False)
optimizer = optim.SGD(students.parameters(), lr=0.05)

for step in range(150):
    x = torch.randn(batch, 10)
    loss = great_circle(students(x), teacher(x)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step:3d}  angle {loss.item():.4f}")
