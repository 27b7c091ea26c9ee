import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class GestureNet(nn.Module):
    def __init__(self, joints, hidden, layers, gestures):
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.rnn = nn.LSTM(joints, hidden, layers)
        self.classify = nn.Linear(hidden, gestures)

    def forward(self, x):
        h0 = torch.zeros(self.layers, x.size(0), self.hidden, device=x.device)
        c0 = torch.zeros(self.layers, x.size(0), self.hidden, device=x.device)
        out, _ = self.rnn(x, (h0, c0))
        return self.classify(out[:, -1, :])


def fit(net, loader, epochs, device):
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for movement, gesture in loader:
            movement = movement.to(device)
            gesture = gesture.to(device)
            loss = loss_function(net(movement), gesture)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"{epoch + 1}/{epochs} {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(11)
    where = "cuda" if torch.cuda.is_available() else "cpu"
    movements = torch.randn(128, 15, 9)
    gestures = torch.randint(0, 6, (128,))
    dataset = TensorDataset(movements, gestures)
    fit(GestureNet(9, 20, 2, 6).to(where), DataLoader(dataset, batch_size=16), 2, where)
