import numpy as np
import torch
from torch import nn

np.random.seed(0)
torch.manual_seed(0)

X = np.random.randn(300, 15).astype(np.float32) * 4
true_w = np.random.randn(15, 6).astype(np.float32)
Y = (X @ true_w).argmax(axis=1)
X, Y = torch.from_numpy(X), torch.from_numpy(Y)


def softmax(z):
    e = torch.exp(z)
    return e / e.sum(dim=1, keepdim=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(15, 64)
        self.fc2 = nn.Linear(64, 6)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return softmax(self.fc2(x))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.6, momentum=0.9)
batch_size = 30
for epoch in range(20):
    perm = np.random.permutation(len(X))
    for i in range(0, len(X), batch_size):
        idx = perm[i : i + batch_size]
        probs = net(X[idx])
        loss = -(probs[torch.arange(len(idx)), Y[idx]] + 1e-6).log().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch %d loss %.4f" % (epoch, loss.item()))
