import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 5, padding=2)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).amax(-1))


print("GPU:", torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none")
torch.manual_seed(0)
net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(12):
    signal = torch.randn(10, 4, 50).cuda()
    label = torch.randint(3, (10,)).cuda()
    loss = nn.functional.cross_entropy(net(signal), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
