import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SPEAKERS = 4


class SpeakerNet(nn.Module):
    def __init__(self, coefficients=13, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(coefficients, hidden, batch_first=True)
        self.classify = nn.Linear(hidden, SPEAKERS)

    def forward(self, frames):
        _, (last, _) = self.lstm(frames)
        return F.log_softmax(self.classify(last[-1]), dim=1)


def utterances(count, length=12):
    voices = torch.randn(SPEAKERS, 13)
    speaker = torch.multinomial(torch.tensor([0.5, 0.25, 0.15, 0.1]), count, replacement=True)
    frames = 0.3 * voices[speaker].unsqueeze(1) + torch.randn(count, length, 13)
    return TensorDataset(frames, speaker)


def run(epochs=6):
    torch.manual_seed(4)
    loader = DataLoader(utterances(1024), batch_size=32, shuffle=True)
    net = SpeakerNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(epochs):
        total = hits = 0
        for frames, speaker in loader:
            log_probs = net(frames)
            loss = F.nll_loss(log_probs, speaker)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            hits += (log_probs.argmax(dim=1) == speaker).sum().item()
        print(f"[{epoch + 1}/{epochs}] loss={total / len(loader):.4f} acc={hits / 1024:.3f}")


if __name__ == "__main__":
    run()
