import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        return torch.randn(1, 40, generator=generator), i % 3


class Waveform(nn.Module):
    def __init__(self):
        super().__init__()
        self.extract = nn.Sequential(nn.Conv1d(1, 8, 5, stride=2), nn.ReLU(), nn.AvgPool1d(2))
        self.classify = nn.Linear(72, 3)

    def forward(self, x):
        x = self.extract(x)
        x = x.view(-1, 72)
        return self.classify(x)


def main(epochs=2):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Waveform().to(device)
    loader = DataLoader(Noise(96), batch_size=16)
    optimizer = torch.optim.NAdam(model.parameters())
    lossfn = nn.CrossEntropyLoss(label_smoothing=0.1)
    for epoch in range(epochs):
        for wave, kind in loader:
            prediction = model(wave.to(device))
            loss = lossfn(prediction, kind.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, f"{loss:.4f}")


main()
