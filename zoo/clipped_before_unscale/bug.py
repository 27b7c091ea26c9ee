import torch
from torch import nn
from torch.amp import GradScaler, autocast

torch.manual_seed(0)
device = "cpu"


class PatchNet(nn.Module):
    """Cuts an image into patches and mixes them with one attention layer."""

    def __init__(self, patch=4, dim=24, classes=4):
        super().__init__()
        self.embed = nn.Conv2d(1, dim, patch, stride=patch)
        self.attention = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, image):
        tokens = self.embed(image).flatten(2).transpose(1, 2)
        mixed, _ = self.attention(tokens, tokens, tokens, need_weights=False)
        return self.head(torch.relu(self.norm(tokens + mixed)).mean(dim=1))


def draw_batch(size=32):
    label = torch.randint(0, 4, (size,))
    wave = torch.sin(torch.arange(12) * 1.57)
    across, down = wave.expand(12, 12), wave.view(12, 1).expand(12, 12)
    texture = torch.stack([across, down, across * down, torch.zeros(12, 12)])
    return texture[label].unsqueeze(1) + 0.4 * torch.randn(size, 1, 12, 12), label


model = PatchNet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = GradScaler(device)
criterion = nn.CrossEntropyLoss()

for step in range(160):
    image, label = draw_batch()
    optimizer.zero_grad(set_to_none=True)
    with autocast(device, dtype=torch.float16):
        output = model(image)
        loss = criterion(output, label)
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 10 == 9:
        print(f"step {step + 1:3d} loss {loss.item():.4f} scale {scaler.get_scale():.0f}")
