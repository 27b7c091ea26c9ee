import math

import torch


def mixture_nll(weight, mean, scale, y):
    z = (y.unsqueeze(1) - mean) / scale
    log_density = torch.log_softmax(weight, dim=1) - 0.5 * z**2 - scale.log() - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(log_density, dim=1).mean()
