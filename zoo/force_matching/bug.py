import torch
from torch import nn


class PairPotential(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Parameter(torch.ones(3), requires_grad=False)
        self.radial = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, positions):
        scaled = positions * self.cell
        delta = scaled[:, :, None, :] - scaled[:, None, :, :]
        distance = delta.norm(dim=-1)
        return self.radial(distance.unsqueeze(-1)).flatten(1).sum(dim=1)


def forces(model, positions):
    positions = positions.clone().requires_grad_(True)
    energy = model(positions)
    (gradient,) = torch.autograd.grad(energy.sum(), positions, create_graph=True)
    return -gradient


def spring_system(batch=16, atoms=5):
    positions = torch.randn(batch, atoms, 3)
    centre = positions.mean(dim=1, keepdim=True)
    return positions, -(positions - centre) * torch.tensor([1.0, 1.0, 2.0])


def main():
    torch.manual_seed(0)
    model = PairPotential()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(40):
        if step == 20:
            model.cell.requires_grad_(True)  # first the potential, then the shape of the cell
        positions, target = spring_system()
        loss = nn.functional.mse_loss(forces(model, positions), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            print(f"step {step:2d} force error {loss.item():.4f}")


main()
