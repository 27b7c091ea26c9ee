import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.inp = nn.Conv2d(1, channels, 3, padding=1)
        self.out = nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, noisy):
        return noisy - self.out(torch.tanh(self.inp(noisy)))


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Denoiser().to(device)
clean = torch.rand(32, 1, 16, 16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    for batch in clean.split(8):
        batch = batch.to(device)
        noisy = batch + 0.1 * torch.randn_like(batch)
        loss = (model(noisy) - batch).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

model.to(dtype=torch.bfloat16)
model.eval()
with torch.inference_mode():
    sample = clean[:4].to(device)
    restored = model(sample)
print("restored", tuple(restored.shape), restored.float().mean().item())
