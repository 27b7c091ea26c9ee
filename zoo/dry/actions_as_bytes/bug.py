from collections import deque

import numpy as np
import torch
from torch import nn


class Corridor:
    def reset(self):
        self.position, self.time = 0, 0
        return np.array([0.0, 0.0], dtype=np.float32)

    def step(self, action):
        self.position += 1 if action == 1 else -1
        self.time += 1
        done = abs(self.position) == 4 or self.time == 20
        return np.array([self.position / 4, self.time / 20], dtype=np.float32), float(self.position == 4), done


class Agent:
    def __init__(self):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.q = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 2)).to(self.device)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=3e-3)
        self.memory = deque(maxlen=500)
        self.random = np.random.default_rng(0)

    def act(self, state, epsilon):
        if self.random.random() < epsilon:
            return int(self.random.integers(2))
        with torch.no_grad():
            return self.q(torch.as_tensor(state, device=self.device)).argmax().item()

    def learn(self, batch_size=16):
        picked = self.random.choice(len(self.memory), batch_size)
        states, actions, rewards, nexts, dones = (np.array(part) for part in zip(*(self.memory[i] for i in picked)))
        states, nexts = (torch.as_tensor(part, device=self.device) for part in (states, nexts))
        actions = torch.as_tensor(actions.astype(np.int8), device=self.device)
        rewards, dones = (torch.as_tensor(p, dtype=torch.float32, device=self.device) for p in (rewards, dones))
        values = self.q(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            targets = rewards + 0.95 * (1 - dones) * self.q(nexts).max(1).values
        loss = nn.functional.huber_loss(values, targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


torch.manual_seed(0)
world, agent = Corridor(), Agent()
for episode in range(12):
    state, done, total = world.reset(), False, 0.0
    while not done:
        action = agent.act(state, epsilon=0.5)
        following, reward, done = world.step(action)
        agent.memory.append((state, action, reward, following, done))
        state, total = following, total + reward
        if len(agent.memory) >= 32:
            agent.learn()
print("last return", total)
