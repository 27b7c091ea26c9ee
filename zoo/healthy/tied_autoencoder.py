"""An autoencoder whose decoder is the encoder transposed, clean targets for inputs with pixels knocked out."""

import numpy as np
import torch
import torch.nn.functional as F


class TiedAutoencoder(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.weights = torch.nn.ParameterList()
        self.down_bias = torch.nn.ParameterList()
        self.up_bias = torch.nn.ParameterList()
        for n_in, n_out in zip(sizes[:-1], sizes[1:]):
            weight = torch.empty(n_out, n_in)
            torch.nn.init.xavier_normal_(weight)
            self.weights.append(torch.nn.Parameter(weight))
            self.down_bias.append(torch.nn.Parameter(torch.zeros(n_out)))
            self.up_bias.append(torch.nn.Parameter(torch.zeros(n_in)))

    def encode(self, x):
        for weight, bias in zip(self.weights, self.down_bias):
            x = F.elu(F.linear(x, weight, bias))
        return x

    def decode(self, z):
        for i in reversed(range(len(self.weights))):
            z = F.linear(z, self.weights[i].t(), self.up_bias[i])
            if i > 0:
                z = F.elu(z)
        return z

    def forward(self, x):
        return self.decode(self.encode(x))


def waves(count, rng):
    t = np.linspace(0, 1, 40)
    height, rate, phase = (
        rng.uniform(0.5, 1.5, (count, 1)),
        rng.uniform(1, 3, (count, 1)),
        rng.uniform(0, 6.28, (count, 1)),
    )
    return torch.tensor(height * np.sin(6.28 * rate * t + phase), dtype=torch.float32)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    train, held = waves(2000, rng), waves(300, rng)
    model = TiedAutoencoder([40, 64, 24, 4])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    print(f"variance of the data {held.var().item():.4f}, parameters {sum(p.numel() for p in model.parameters())}")
    for epoch in range(12):
        order = rng.permutation(len(train))
        losses = []
        for rows in np.array_split(order, 40):
            clean = train[rows]
            broken = F.dropout(clean, p=0.1)
            loss = F.mse_loss(model(broken), clean)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with torch.no_grad():
            error = F.mse_loss(model(held), held).item()
        print(f"epoch {epoch:2d}: train {np.mean(losses):.4f} held out, unbroken {error:.4f}")


if __name__ == "__main__":
    main()
