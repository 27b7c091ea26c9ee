import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SPECIES, PER_SPECIES = 5, 640


class BirdNet(nn.Module):
    def __init__(self, bands=20):
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 5, padding=2)
        self.fc1 = nn.Linear(8 * bands, 32)
        self.fc2 = nn.Linear(32, SPECIES)

    def forward(self, spectrum):
        x = F.relu(self.conv(spectrum.unsqueeze(1)))
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def recordings():
    """Spectra read folder by folder, one folder a species."""
    song = torch.randn(SPECIES, 20)
    species = torch.arange(SPECIES).repeat_interleave(PER_SPECIES)
    return 0.6 * song[species] + torch.randn(len(species), 20), species


torch.manual_seed(24)
spectra, species = recordings()
train_loader = DataLoader(TensorDataset(spectra, species), batch_size=40)

model = BirdNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(3):
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    with torch.no_grad():
        accuracy = (model(spectra).argmax(1) == species).float().mean().item()
    print(f"epoch {epoch}: loss {running / len(train_loader):.4f} accuracy {accuracy:.3f}")
