import math

import torch

torch.manual_seed(0)
budget = 10.0
gain = torch.tensor([3.0, 1.0, 2.0, 0.5])
shares = torch.nn.Parameter(torch.full((4,), 0.5))
optimizer = torch.optim.LBFGS([shares], lr=1.0, max_iter=4)


def objective(barrier):
    log_portions = math.log(budget) + torch.log_softmax(torch.cat([shares, shares.new_zeros(1)]), dim=0)
    amount, log_unspent = log_portions[:-1].exp(), log_portions[-1]
    utility = (gain * torch.log1p(amount)).sum()
    return -utility - barrier * log_unspent


barrier = 4.0
for outer in range(8):

    def closure():
        optimizer.zero_grad()
        loss = objective(barrier)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    print(f"outer {outer} barrier {barrier:.3g} objective {loss.item():.4f}")
    barrier *= 0.3
