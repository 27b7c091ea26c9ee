"""Deep Q-learning on a corridor with a pit: replay buffer, target network copied now and then, epsilon that falls."""

import random
from collections import deque, namedtuple

import torch
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state done")


class Corridor:
    """A 5 x 5 field; the goal is in the far corner, two pits lie on the way. Moves: up, down, left, right."""

    size, pits, goal = 5, {(1, 1), (3, 2)}, (4, 4)

    def reset(self):
        self.at, self.steps = (0, 0), 0
        return self.observe()

    def observe(self):
        state = torch.zeros(2 * self.size)
        state[self.at[0]] = 1.0
        state[self.size + self.at[1]] = 1.0
        return state

    def step(self, action):
        dr, dc = [(-1, 0), (1, 0), (0, -1), (0, 1)][action]
        r, c = self.at
        self.at = (min(max(r + dr, 0), self.size - 1), min(max(c + dc, 0), self.size - 1))
        self.steps += 1
        if self.at == self.goal:
            return self.observe(), 1.0, True
        if self.at in self.pits:
            return self.observe(), -1.0, True
        return self.observe(), -0.02, self.steps >= 40


class Agent:
    def __init__(self):
        self.policy, self.target = self.network(), self.network()
        self.target.load_state_dict(self.policy.state_dict())
        self.target.eval()
        self.memory = deque(maxlen=2000)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=2e-3, amsgrad=True)
        self.updates = 0

    @staticmethod
    def network():
        return nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(4)
        with torch.no_grad():
            return self.policy(state).argmax().item()

    def learn(self, batch_size=64, gamma=0.95):
        if len(self.memory) < 200:
            return None
        batch = Transition(*zip(*random.sample(self.memory, batch_size)))
        action = torch.tensor(batch.action).unsqueeze(1)
        q = self.policy(torch.stack(batch.state)).gather(1, action).squeeze(1)
        with torch.no_grad():
            later = self.target(torch.stack(batch.next_state)).max(1).values
            expected = torch.tensor(batch.reward) + gamma * later * (1 - torch.tensor(batch.done).float())
        loss = nn.functional.smooth_l1_loss(q, expected)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.policy.parameters(), 100)
        self.optimizer.step()
        self.updates += 1
        if self.updates % 50 == 0:
            self.target.load_state_dict(self.policy.state_dict())
        return loss.item()


random.seed(0)
torch.manual_seed(0)
env, agent = Corridor(), Agent()
returns = deque(maxlen=20)
for episode in range(90):
    state, done, total = env.reset(), False, 0.0
    epsilon = max(0.05, 0.9 * 0.96**episode)
    while not done:
        action = agent.act(state, epsilon)
        next_state, reward, done = env.step(action)
        # running out of time is not the end of the world: the value goes on
        terminal = done and env.at in {env.goal, *env.pits}
        agent.memory.append(Transition(state, action, reward, next_state, terminal))
        agent.learn()
        state, total = next_state, total + reward
    returns.append(total)
    if episode % 10 == 9:
        print(f"episode {episode + 1:3d} steps {agent.updates:4d} mean return {sum(returns) / len(returns):+.3f}")
