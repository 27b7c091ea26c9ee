"""REINFORCE with a learnt baseline on a balancing task of its own; losses of an episode are kept in lists and summed."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Pole:
    """A pole on a cart, simplified: angle and speed only; an action pushes left or right."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def reset(self):
        self.angle, self.speed = ((torch.rand(2, generator=self.generator) - 0.5) * 0.2).tolist()
        self.count = 0
        return [self.angle / 0.3, self.speed]

    def step(self, action):
        push = 1.0 if action == 1 else -1.0
        self.speed += 0.05 * (9.8 * math.sin(self.angle) + 4.0 * push)
        self.angle += 0.05 * self.speed
        self.count += 1
        return [self.angle / 0.3, self.speed], 1.0, abs(self.angle) > 0.3 or self.count >= 60


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine = nn.Linear(2, 64)
        self.action_head = nn.Linear(64, 2)
        self.value_head = nn.Linear(64, 1)
        self.saved_actions, self.rewards = [], []

    def forward(self, x):
        x = torch.tanh(self.affine(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


model = None


def select_action(state):
    probs, value = model(torch.tensor(state))
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append((m.log_prob(action), value))
    return action.item()


def finish_episode(optimizer, gamma=0.97):
    ret, returns = 0.0, []
    for r in model.rewards[::-1]:
        ret = r + gamma * ret
        returns.insert(0, ret)
    returns = torch.tensor(returns)
    returns = returns / (1 / (1 - gamma))  # the most an endless episode could bring
    policy_losses, value_losses = [], []
    for (log_prob, value), ret in zip(model.saved_actions, returns):
        advantage = ret - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, ret.reshape(1)))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]


def main():
    global model
    torch.manual_seed(543)
    env, model = Pole(543), Policy()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    running = 10.0
    for episode in range(1, 121):
        state = env.reset()
        for t in range(1, 61):
            state, reward, done = env.step(select_action(state))
            model.rewards.append(reward)
            if done:
                break
        running = 0.05 * t + 0.95 * running
        finish_episode(optimizer)
        if episode % 20 == 0:
            print(f"episode {episode:3d} last length {t:3d} running length {running:.1f}")


if __name__ == "__main__":
    main()
