"""Training loops, data and hyperparameters: what is found, and the healthy code beside it that is not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from snippets import examined, findings

from sleuth import editing

TORCH = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset
"""
# A network with dropout, its optimiser and data, for loops that are complete but for one mistake.
LOOP = (
    TORCH
    + """
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
table = torch.load("table.pt")
loader = DataLoader(TensorDataset(table[:, :4], table[:, 4].long()), batch_size=8, shuffle=True)
"""
)
VISION = """
import os
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
"""
SKLEARN = """
import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, StandardScaler
X, y = np.load("x.npy"), np.load("y.npy")
"""
KERAS = """
import keras
from keras import layers
model = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
"""

# The line of the finding is marked `# here`.
BUGS = {
    "a step in a function that the loop calls": (
        "missing-zero-grad",
        LOOP,
        """
        def learn(x, y):
            loss = criterion(model(x), y)
            loss.backward()  # here
            optimizer.step()
        for x, y in loader:
            learn(x, y)
        """,
    ),
    "a loop in a method, over attributes": (
        "missing-zero-grad",
        TORCH,
        """
        class Trainer:
            def __init__(self, model, loader):
                self.model, self.loader = model, loader
                self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            def run(self):
                for x, y in self.loader:
                    loss = F.mse_loss(self.model(x), y)
                    loss.backward()  # here
                    self.optimizer.step()
        """,
    ),
    "the other optimiser is cleared": (
        "missing-zero-grad",
        TORCH,
        """
        critic, actor = nn.Linear(4, 1), nn.Linear(4, 2)
        opt_critic = torch.optim.Adam(critic.parameters())
        opt_actor = torch.optim.Adam(actor.parameters())
        for x in torch.randn(100, 8, 4):
            opt_critic.zero_grad()
            critic(x).mean().backward()
            opt_critic.step()
            actor(x).mean().backward()  # here
            opt_actor.step()
        """,
    ),
    "a step through a scaler": (
        "missing-zero-grad",
        LOOP,
        """
        scaler = torch.amp.GradScaler("cuda")
        for x, y in loader:
            loss = criterion(model(x), y)
            scaler.scale(loss).backward()  # here
            scaler.step(optimizer)
            scaler.update()
        """,
    ),
    "zeroed between backward and step, by the model": (
        "zero-grad-before-step",
        LOOP,
        """
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            model.zero_grad()  # here
            optimizer.step()
        """,
    ),
    "the step stands first": (
        "step-before-backward",
        LOOP,
        """
        for x, y in loader:
            optimizer.step()  # here
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.zero_grad()
        """,
    ),
    "evaluated in training mode, in a function": (
        "train-mode-in-evaluation",
        LOOP,
        """
        @torch.no_grad()
        def accuracy(network, batches):
            right = 0
            for x, y in batches:
                right += (network(x).argmax(1) == y).sum().item()  # here
            return right
        for epoch in range(3):
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(accuracy(model, DataLoader(TensorDataset(table, table), batch_size=8)))
        """,
    ),
    "weights loaded, then used in training mode": (
        "train-mode-in-evaluation",
        TORCH,
        """
        from torchvision.models import resnet18
        model = resnet18(num_classes=4)
        model.load_state_dict(torch.load("model.pt", weights_only=True))
        with torch.inference_mode():
            for image, name in DataLoader(TensorDataset(torch.zeros(4, 3, 64, 64), torch.zeros(4)), batch_size=2):
                print(name, model(image).argmax(dim=1))  # here
        """,
    ),
    "left in eval by the validation function": (
        "model-left-in-eval",
        LOOP,
        """
        def validate():
            model.eval()  # here
            with torch.no_grad():
                return sum(criterion(model(x), y).item() for x, y in loader)
        model.train()
        for epoch in range(3):
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(validate())
        """,
    ),
    "the scheduler at the top of the epoch": (
        "scheduler-before-optimizer",
        LOOP,
        """
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
        for epoch in range(30):
            scheduler.step()  # here
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
    "a cosine over epochs, stepped per batch": (
        "scheduler-stepped-per-batch",
        LOOP,
        """
        def train(epochs):
            scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
            for epoch in range(1, epochs + 1):
                for x, y in loader:
                    loss = criterion(model(x), y)
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    scheduler.step()  # here
        """,
    ),
    "milestones in epochs, stepped per batch": (
        "scheduler-stepped-per-batch",
        LOOP,
        """
        scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[30, 60, 80], gamma=0.1)
        for epoch in range(90):
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()  # here
        """,
    ),
    "one cycle, stepped once an epoch": (
        "scheduler-stepped-per-epoch",
        LOOP,
        """
        total = 10 * len(loader)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=total)
        for epoch in range(10):
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            scheduler.step()  # here
        """,
    ),
    "clipped before unscaling": (
        "clip-before-unscale",
        LOOP,
        """
        scaler = torch.amp.GradScaler()
        for x, y in loader:
            optimizer.zero_grad()
            scaler.scale(criterion(model(x), y)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # here
            scaler.step(optimizer)
            scaler.update()
        """,
    ),
    "clipped by value after the step": (
        "clip-after-step",
        LOOP,
        """
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
            nn.utils.clip_grad_value_(model.parameters(), 0.5)  # here
        """,
    ),
    "a sum written out": (
        "loss-keeps-graph",
        LOOP,
        """
        total = 0
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total = total + loss * len(x)  # here
        """,
    ),
    "a list of losses": (
        "loss-keeps-graph",
        LOOP,
        """
        def train(model, criterion):
            history = []
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                history.append(loss)  # here
            return history
        """,
    ),
    "a hidden state from the batch before": (
        "graph-grows-every-step",
        TORCH,
        """
        rnn, head = nn.LSTM(3, 8), nn.Linear(8, 1)
        optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
        state = (torch.zeros(1, 4, 8), torch.zeros(1, 4, 8))
        for x in torch.randn(100, 20, 4, 3):
            output, state = rnn(x, state)
            loss = head(output).square().mean()
            optimizer.zero_grad()
            loss.backward()  # here
            optimizer.step()
        """,
    ),
    "a hidden state kept in the network": (
        "graph-grows-every-step",
        TORCH,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn, self.head = nn.GRU(3, 8), nn.Linear(8, 1)
                self.state = torch.zeros(1, 4, 8)
            def forward(self, x):
                output, self.state = self.rnn(x, self.state)
                return self.head(output)
        model = Model()
        optimizer = torch.optim.Adam(model.parameters())
        for x in torch.randn(100, 20, 4, 3):
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward(retain_graph=True)  # here
            optimizer.step()
        """,
    ),
    "a sampler or none, by the number of ranks": (
        "sampler-epoch-not-set",
        LOOP,
        """
        from torch.utils.data.distributed import DistributedSampler
        data = TensorDataset(table, table)
        sampler = DistributedSampler(data) if torch.distributed.is_initialized() else None
        batches = DataLoader(data, 8, sampler=sampler)  # here
        for epoch in range(3):
            for x, y in batches:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
    "an optimiser in a step function": (
        "optimizer-recreated",
        LOOP,
        """
        def learn(x, y):
            adam = torch.optim.Adam(model.parameters(), lr=1e-3)  # here
            loss = criterion(model(x), y)
            adam.zero_grad()
            loss.backward()
            adam.step()
        for x, y in loader:
            learn(x, y)
        """,
    ),
    "a seed in every step": (
        "reseeded-every-step",
        LOOP,
        """
        for x, y in loader:
            torch.manual_seed(42)  # here
            loss = criterion(model(x + torch.randn_like(x)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "the first batch in every epoch": (
        "same-batch-every-step",
        LOOP,
        """
        batches = DataLoader(TensorDataset(table[:, :4], table[:, 4].long()), batch_size=8, shuffle=False)
        for epoch in range(100):
            x, y = next(iter(batches))  # here
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "pairs that are gone after one epoch": (
        "consumed-generator",
        LOOP,
        """
        pairs = zip(table[:, :4], table[:, 4].long())
        for epoch in range(3):
            for x, y in pairs:  # here
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
    "trained parameters filtered once for two uses": (
        "consumed-generator",
        TORCH,
        """
        model = nn.Linear(4, 2)
        trained = filter(lambda p: p.requires_grad, model.parameters())
        print(sum(p.numel() for p in trained))
        optimizer = torch.optim.Adam(trained, lr=1e-3)  # here
        """,
    ),
    "an absurd rate for Adam": (
        "learning-rate-too-high",
        TORCH,
        """
        LR = 1.0
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        optimizer = torch.optim.AdamW(model.parameters(), lr=LR)  # here
        """,
    ),
    "a rate that integer division made 0": (
        "learning-rate-zero",
        TORCH,
        """
        BATCH = 64
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * (BATCH // 256))  # here
        """,
    ),
    "a warm-up by integer division": (
        "learning-rate-zero",
        LOOP,
        """
        def factor(step, length=500):
            return min(1.0, (step + 1) // length)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)  # here
        """,
    ),
    "a negative rate in optax": (
        "negative-learning-rate",
        "import optax\n",
        """
        optimizer = optax.adam(-1e-3)  # here
        """,
    ),
    "a momentum of one": (
        "momentum-out-of-range",
        TORCH,
        """
        optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), 0.1, 1.0)  # here
        """,
    ),
    "betas of Keras": (
        "betas-out-of-range",
        KERAS,
        """
        model.compile(optimizer=keras.optimizers.Adam(1e-3, beta_1=9.0), loss="mse")  # here
        """,
    ),
    "dropout in per cent": (
        "dropout-too-high",
        TORCH,
        """
        class Net(nn.Module):
            def __init__(self, drop):
                super().__init__()
                self.drop = nn.Dropout(p=drop)  # here
        net = Net(drop=25)
        """,
    ),
    "a decay that eats the weights": (
        "weight-decay-too-high",
        TORCH,
        """
        optimizer = torch.optim.AdamW(nn.Linear(2, 2).parameters(), lr=0.01, weight_decay=5.0)  # here
        """,
    ),
    "an image folder in its order": (
        "class-sorted-data",
        LOOP,
        """
        from torchvision.datasets import ImageFolder
        batches = DataLoader(ImageFolder("train"), batch_size=32, num_workers=2)  # here
        for epoch in range(3):
            for image, label in batches:
                loss = criterion(model(image), label)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
    "a batch sampler and a batch size": (
        "shuffle-with-sampler",
        TORCH,
        """
        from torch.utils.data import BatchSampler, RandomSampler
        data = TensorDataset(torch.zeros(10, 2))
        batches = BatchSampler(RandomSampler(data), batch_size=4, drop_last=False)
        loader = DataLoader(data, batch_size=4, batch_sampler=batches)  # here
        """,
    ),
    "a stream that is to be shuffled": (
        "shuffle-with-sampler",
        TORCH,
        """
        from torch.utils.data import IterableDataset
        class Lines(IterableDataset):
            def __iter__(self):
                yield from open("lines.txt")
        loader = DataLoader(Lines(), batch_size=8, shuffle=True)  # here
        """,
    ),
    "functional dropout in a helper of the network": (
        "dropout-always-on",
        TORCH,
        """
        class Net(nn.Module):
            def shrink(self, x):
                return F.dropout2d(x, 0.3)  # here
            def forward(self, x):
                return self.shrink(x)
        """,
    ),
    "with no_grad as a name": (
        "missing-call-parentheses",
        LOOP,
        """
        def predict(x):
            with torch.no_grad:  # here
                return model(x)
        """,
    ),
    "parameters without parentheses": (
        "missing-call-parentheses",
        TORCH,
        """
        model = nn.Linear(2, 2)
        optimizer = torch.optim.Adam(model.parameters, lr=1e-3)  # here
        """,
    ),
    "a condition that is always true": (
        "missing-call-parentheses",
        TORCH,
        """
        def setup(args):
            if not args.cpu and torch.cuda.is_available:  # here
                return torch.device("cuda")
            return torch.device("cpu")
        """,
    ),
    "a generator of torch in a data set": (
        "numpy-seed-in-workers",
        TORCH,
        """
        class Masked(Dataset):
            def __init__(self, rows):
                self.rows = rows
                self.g = torch.Generator().manual_seed(0)
            def __len__(self):
                return len(self.rows)
            def __getitem__(self, i):
                return self.rows[i] * (torch.rand(8, generator=self.g) > 0.5)
        loader = DataLoader(Masked(torch.zeros(10, 8)), 4, num_workers=2)  # here
        """,
    ),
    "augmentation given by split": (
        "augmentation-on-test-data",
        VISION,
        """
        flips = transforms.Compose([transforms.RandomVerticalFlip(), transforms.ToTensor()])
        held = datasets.SVHN("data", split="test", transform=flips)  # here
        """,
    ),
    "only the training data are normalised": (
        "normalisation-differs",
        VISION,
        """
        normalize = transforms.Normalize([0.5], [0.5])
        train = datasets.MNIST("d", True, transforms.Compose([transforms.ToTensor(), normalize]))
        test = datasets.MNIST("d", False, transforms.Compose([transforms.ToTensor()]))  # here
        """,
    ),
    "a scaler fitted on what the name calls test data": (
        "fit-on-test-data",
        SKLEARN,
        """
        def prepare(x_train, x_test):
            scaler = MinMaxScaler()
            x_train = scaler.fit_transform(x_train)
            x_test = scaler.fit_transform(x_test)  # here
            return x_train, x_test
        """,
    ),
    "a scaler fitted before the split": (
        "statistics-before-split",
        SKLEARN,
        """
        scaler = StandardScaler()
        X_scaled = scaler.fit_transform(X)  # here
        X_train, X_test, y_train, y_test = train_test_split(X_scaled, y)
        """,
    ),
    "one data set twice in fit": (
        "validation-on-training-data",
        KERAS,
        """
        train_ds = keras.utils.image_dataset_from_directory("train")
        model.fit(train_ds, epochs=3, validation_data=train_ds)  # here
        """,
    ),
    "single samples into BatchNorm1d": (
        "batchnorm-on-one-sample",
        LOOP,
        """
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
        adam = torch.optim.Adam(net.parameters())
        for x, y in DataLoader(TensorDataset(table[:, :4], table[:, 4].long()), batch_size=1, shuffle=True):
            loss = criterion(net(x), y)  # here
            adam.zero_grad()
            loss.backward()
            adam.step()
        """,
    ),
}

HINTS = {
    "a rate of 0.1 for Adam": (
        "learning-rate-too-high",
        TORCH,
        """
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)  # here
        """,
    ),
    "the part to keep given as the part to drop": (
        "dropout-too-high",
        "from keras import layers\n",
        """
        drop = layers.Dropout(0.8)  # here
        """,
    ),
    "a shuffled loader asked for one batch": (
        "loader-restarted-every-step",
        LOOP,
        """
        for step in range(100):
            x, y = next(iter(loader))  # here
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "a loop after eval with graphs": (
        "evaluation-without-no-grad",
        TORCH,
        """
        def evaluate(network, batches):
            network.eval()
            right = 0
            for x, y in batches:
                right += (network(x).argmax(1) == y).sum().item()  # here
            return right
        """,
    ),
    "forward of a layer": (
        "forward-called-directly",
        TORCH,
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 2)
            def forward(self, x):
                return self.fc.forward(x)  # here
        """,
    ),
}

HEALTHY = {
    "gradients cleared by a helper": (
        LOOP,
        """
        def clear(network):
            for p in network.parameters():
                p.grad = None
        for x, y in loader:
            clear(model)
            criterion(model(x), y).backward()
            optimizer.step()
        """,
    ),
    "gradients cleared in place": (
        LOOP,
        """
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.step()
            for p in model.parameters():
                p.grad.zero_()
        """,
    ),
    "cleared by the model": (
        LOOP,
        """
        for x, y in loader:
            model.zero_grad(set_to_none=True)
            criterion(model(x), y).backward()
            optimizer.step()
        """,
    ),
    "cleared by something we cannot see": (
        LOOP,
        """
        from somewhere import prepare
        for x, y in loader:
            prepare(model, optimizer)
            criterion(model(x), y).backward()
            optimizer.step()
        """,
    ),
    "a closure": (
        LOOP,
        """
        lbfgs = torch.optim.LBFGS(model.parameters())
        x, y = table[:, :4], table[:, 4].long()
        for _ in range(20):
            def closure():
                lbfgs.zero_grad()
                loss = criterion(model(x), y)
                loss.backward()
                return loss
            lbfgs.step(closure)
        """,
    ),
    "a context id of the RPC optimiser": (
        TORCH,
        """
        from torch.distributed.optim import DistributedOptimizer
        def run(dist_autograd, net, opt, data):
            for x, y in data:
                with dist_autograd.context() as context_id:
                    loss = F.mse_loss(net(x), y)
                    dist_autograd.backward(context_id, [loss])
                    opt.step(context_id)
        """,
    ),
    "accumulation with a counter and division": (
        LOOP,
        """
        for i, (x, y) in enumerate(loader):
            loss = criterion(model(x), y) / 4
            loss.backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
        """,
    ),
    "a model and an optimiser for each fold": (
        LOOP,
        """
        for fold in range(5):
            net = nn.Linear(4, 2)
            adam = torch.optim.Adam(net.parameters())
            criterion(net(table[:, :4]), table[:, 4].long()).backward()
            adam.step()
        """,
    ),
    "an environment that steps": (
        TORCH,
        """
        def act(env, policy, episodes):
            for _ in range(episodes):
                state = env.reset()
                loss = policy(state).mean()
                loss.backward()
                state, reward = env.step(0)
        """,
    ),
    "a backward hidden between zero_grad and step": (
        LOOP,
        """
        from somewhere import differentiate
        for x, y in loader:
            criterion(model(x), y).backward()
            optimizer.zero_grad()
            differentiate(x)
            optimizer.step()
        """,
    ),
    "evaluated in evaluation mode": (
        LOOP,
        """
        for epoch in range(3):
            model.train()
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                print(sum(criterion(model(x), y).item() for x, y in loader))
        """,
    ),
    "many passes of one input": (
        LOOP,
        """
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        x = table[:1, :4]
        with torch.no_grad():
            spread = torch.stack([model(x) for _ in range(50)]).std(dim=0)
        """,
    ),
    "a network without dropout and BatchNorm": (
        LOOP,
        """
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        adam = torch.optim.Adam(net.parameters())
        for x, y in loader:
            loss = criterion(net(x), y)
            adam.zero_grad()
            loss.backward()
            adam.step()
        with torch.no_grad():
            for x, y in loader:
                print(net(x).argmax(1) == y)
        """,
    ),
    "the mode put back as it was": (
        LOOP,
        """
        def score():
            before = model.training
            model.eval()
            with torch.no_grad():
                total = sum(criterion(model(x), y).item() for x, y in loader)
            model.train(before)
            return total
        for epoch in range(3):
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(score())
        """,
    ),
    "a scheduler that skips the first epoch": (
        LOOP,
        """
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
        for epoch in range(30):
            if epoch > 0:
                scheduler.step()
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
    "a schedule in batches, stepped per batch": (
        LOOP,
        """
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2000, gamma=0.5)
        cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10 * len(loader))
        for epoch in range(10):
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                cosine.step()
        """,
    ),
    "clipped at the right moment": (
        LOOP,
        """
        scaler = torch.amp.GradScaler("cuda")
        for x, y in loader:
            optimizer.zero_grad()
            scaler.scale(criterion(model(x), y)).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        """,
    ),
    "two networks clipped in turn": (
        TORCH,
        """
        one, two = nn.Linear(4, 1), nn.Linear(4, 1)
        opt_one, opt_two = torch.optim.Adam(one.parameters()), torch.optim.Adam(two.parameters())
        for x in torch.randn(10, 8, 4):
            opt_one.zero_grad()
            opt_two.zero_grad()
            (one(x) + two(x)).mean().backward()
            nn.utils.clip_grad_norm_(one.parameters(), 1.0)
            opt_one.step()
            nn.utils.clip_grad_norm_(two.parameters(), 1.0)
            opt_two.step()
        """,
    ),
    "losses added up and differentiated together": (
        LOOP,
        """
        for episode in range(10):
            total = 0
            for x, y in loader:
                total = total + criterion(model(x), y)
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
        """,
    ),
    "numbers added up": (
        LOOP,
        """
        total, history = 0.0, []
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            history.append(loss.detach())
            history.append(float(loss))
        """,
    ),
    "a hidden state that is detached": (
        TORCH,
        """
        def cut(state):
            return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()
        rnn, head = nn.LSTM(3, 8), nn.Linear(8, 1)
        optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
        state = (torch.zeros(1, 4, 8), torch.zeros(1, 4, 8))
        for x in torch.randn(100, 20, 4, 3):
            state = cut(state)
            output, state = rnn(x, state)
            loss = head(output).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "a hidden state that is reset": (
        TORCH,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn, self.head = nn.GRU(3, 8), nn.Linear(8, 1)
                self.state = None
            def reset(self):
                self.state = None
            def forward(self, x):
                output, self.state = self.rnn(x, self.state)
                return self.head(output)
        model = Model()
        optimizer = torch.optim.Adam(model.parameters())
        for x in torch.randn(100, 20, 4, 3):
            model.reset()
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "steps of one sequence": (
        TORCH,
        """
        cell, head = nn.GRUCell(3, 8), nn.Linear(8, 1)
        optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()])
        for sequence in torch.randn(100, 20, 4, 3):
            state = torch.zeros(4, 8)
            for x in sequence:
                state = cell(x, state)
            loss = head(state).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "a sampler that is told": (
        LOOP,
        """
        from torch.utils.data.distributed import DistributedSampler
        batches = DataLoader(TensorDataset(table, table), 8, sampler=DistributedSampler(table))
        for epoch in range(3):
            batches.sampler.set_epoch(epoch)
            for x, y in batches:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
    "an optimiser with a rate of its own each epoch": (
        LOOP,
        """
        for epoch in range(10):
            adam = torch.optim.Adam(model.parameters(), lr=1e-3 * 0.9**epoch)
            for x, y in loader:
                loss = criterion(model(x), y)
                adam.zero_grad()
                loss.backward()
                adam.step()
        """,
    ),
    "a seed for each epoch": (
        LOOP,
        """
        for epoch in range(10):
            torch.manual_seed(epoch)
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
    "a first batch to look at": (
        LOOP,
        """
        held = DataLoader(TensorDataset(table, table), batch_size=8)
        for epoch in range(10):
            for x, y in loader:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            sample, _ = next(iter(held))
            print(sample.shape)
        """,
    ),
    "pairs kept in a list": (
        LOOP,
        """
        pairs = list(zip(table[:, :4], table[:, 4].long()))
        for epoch in range(3):
            for i, (x, y) in enumerate(pairs):
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
    "one of two optimisers": (
        TORCH,
        """
        def make(network, name):
            trained = filter(lambda p: p.requires_grad, network.parameters())
            if name == "adam":
                return torch.optim.Adam(trained)
            else:
                return torch.optim.SGD(trained, lr=0.1)
        """,
    ),
    "an image that is optimised": (
        TORCH,
        """
        image = torch.rand(1, 3, 64, 64, requires_grad=True)
        optimizer = torch.optim.Adam([image], lr=0.5)
        """,
    ),
    "a rate that a schedule of its own sets": (
        TORCH,
        """
        class NoamSchedule:
            def __init__(self, optimizer):
                self.optimizer = optimizer
        model = nn.Linear(4, 4)
        optimizer = NoamSchedule(torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9))
        """,
    ),
    "Adadelta, LBFGS and a usual decay": (
        TORCH,
        """
        model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
        one = torch.optim.Adadelta(model.parameters(), lr=1.0)
        two = torch.optim.LBFGS(model.parameters(), lr=1.0)
        three = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.3)
        four = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
        """,
    ),
    "a sampler or shuffling": (
        TORCH,
        """
        def make(data, sampler=None):
            return DataLoader(data, batch_size=4, shuffle=sampler is None, sampler=sampler)
        def simple(data):
            return DataLoader(data, batch_size=4, shuffle=True, sampler=None)
        """,
    ),
    "dropout that knows its mode": (
        TORCH,
        """
        class Net(nn.Module):
            def forward(self, x):
                x = F.dropout(x, 0.5, self.training)
                x = F.dropout(x, p=0.1, training=True)
                if self.training:
                    x = F.dropout(x, 0.2)
                return F.dropout(x, p=0.3 if self.training else 0.0)
        def noisy(x):
            return F.dropout(x, 0.5)
        """,
    ),
    "functions that are passed on": (
        TORCH,
        """
        import pytest
        has_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
        asked = torch.cuda.is_available
        @torch.no_grad
        def f(x):
            return asked()
        hooks = [nn.Linear(2, 2).eval]
        """,
    ),
    "a generator made in the worker": (
        TORCH,
        """
        import numpy as np
        class Noisy(Dataset):
            def __init__(self, rows):
                self.rows, self.rng = rows, np.random.default_rng(0)
            def __len__(self):
                return len(self.rows)
            def __getitem__(self, i):
                return self.rows[i] + self.rng.normal()
        def seed(worker):
            torch.utils.data.get_worker_info().dataset.rng = np.random.default_rng(torch.initial_seed())
        many = DataLoader(Noisy(torch.zeros(10)), 4, num_workers=2, worker_init_fn=seed)
        none = DataLoader(Noisy(torch.zeros(10)), 4)
        """,
    ),
    "transforms that share their numbers": (
        VISION,
        """
        normalize = transforms.Normalize([0.5, 0.5, 0.5], [0.2, 0.2, 0.2])
        augment = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor(), normalize])
        plain = transforms.Compose([transforms.CenterCrop(32), transforms.ToTensor(), normalize])
        train = datasets.CIFAR10("d", train=True, transform=augment)
        test = datasets.CIFAR10("d", train=False, transform=plain)
        """,
    ),
    "fitted on the training data": (
        SKLEARN,
        """
        X_train, X_test, y_train, y_test = train_test_split(X, y)
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
        labels = LabelEncoder().fit_transform(y)
        A, B, a, b = train_test_split(X, labels)
        pca = PCA(2).fit_transform(A)
        """,
    ),
    "data that were held back": (
        KERAS,
        """
        def read(path):
            return keras.utils.image_dataset_from_directory(path)
        train_ds, val_ds = read("train"), read("val")
        model.fit(train_ds, validation_data=val_ds)
        """,
    ),
    "a part of the training data for validation": (
        VISION + LOOP,
        """
        from torch.utils.data import SubsetRandomSampler
        train_data = datasets.MNIST("d", train=True)
        valid_data = datasets.MNIST("d", train=True)
        train_batches = DataLoader(train_data, 64, sampler=SubsetRandomSampler(range(50000)))
        valid_batches = DataLoader(valid_data, 64, sampler=SubsetRandomSampler(range(50000, 60000)))
        for epoch in range(3):
            model.train()
            for x, y in train_batches:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                print(sum(criterion(model(x), y).item() for x, y in valid_batches))
        """,
    ),
    "the accuracy on the training data": (
        VISION + LOOP,
        """
        train_data = datasets.MNIST("d", train=True)
        train_batches = DataLoader(train_data, 64, shuffle=True)
        for epoch in range(3):
            model.train()
            for x, y in train_batches:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                for x, y in train_batches:
                    print((model(x).argmax(1) == y).sum().item())
        """,
    ),
    "single samples in evaluation": (
        LOOP,
        """
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
        net.load_state_dict(torch.load("net.pt", weights_only=True))
        net.eval()
        with torch.no_grad():
            for x, y in DataLoader(TensorDataset(table[:, :4], table[:, 4]), batch_size=1):
                print(net(x))
        """,
    ),
    "two losses of one graph": (
        LOOP,
        """
        for x, y in loader:
            output = model(x)
            optimizer.zero_grad()
            criterion(output, y).backward(retain_graph=True)
            output.square().mean().backward()
            optimizer.step()
        """,
    ),
    "loaders with arguments we cannot see": (
        LOOP,
        """
        options = {"batch_size": 8, "shuffle": True}
        batches = DataLoader(TensorDataset(table[:, :4], table[:, 4].long()), **options)
        for epoch in range(3):
            for x, y in batches:
                loss = criterion(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    ),
}


def marked(code: str) -> int:
    lines = dedent(code).lstrip("\n").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith("# here"))


def assembled(preamble: str, code: str) -> str:
    return preamble.lstrip("\n") + dedent(code)


@pytest.mark.parametrize(("diagnosis", "preamble", "code"), BUGS.values(), ids=BUGS)
def test_a_bug_is_found_at_its_line(diagnosis: str, preamble: str, code: str) -> None:
    program = assembled(preamble, code)
    assert findings(program) == [(diagnosis, marked(program))]


@pytest.mark.parametrize(("diagnosis", "preamble", "code"), HINTS.values(), ids=HINTS)
def test_a_hint_is_only_a_hint(diagnosis: str, preamble: str, code: str) -> None:
    program = assembled(preamble, code)
    assert (diagnosis, marked(program)) in findings(program, hints=True)
    assert findings(program) == []


@pytest.mark.parametrize(("preamble", "code"), HEALTHY.values(), ids=HEALTHY)
def test_healthy_code_gets_no_warning(preamble: str, code: str) -> None:
    assert findings(assembled(preamble, code)) == []


def mended(program: str, diagnosis: str) -> str:
    fixes = [fix for finding in examined(program) if finding.diagnosis == diagnosis for fix in finding.fixes]
    assert fixes
    assert fixes[0].edits
    after = editing.apply(dedent(program).lstrip("\n"), fixes[0].edits)
    assert after is not None
    return after


@pytest.mark.parametrize(
    ("diagnosis", "program", "expected"),
    [
        (
            "missing-zero-grad",
            LOOP
            + "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n",
            "    optimizer.zero_grad()\n    loss.backward()\n",
        ),
        (
            "loss-keeps-graph",
            LOOP
            + "total = 0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    optimizer.zero_grad()\n"
            + "    loss.backward()\n    optimizer.step()\n    total += loss * len(x)\n",
            "    total += (loss * len(x)).detach()\n",
        ),
        (
            "clip-before-unscale",
            LOOP
            + "scaler = torch.amp.GradScaler('cuda')\nfor x, y in loader:\n    optimizer.zero_grad()\n"
            + "    scaler.scale(criterion(model(x), y)).backward()\n"
            + "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
            + "    scaler.step(optimizer)\n    scaler.update()\n",
            "    scaler.unscale_(optimizer)\n    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
        ),
        (
            "dropout-always-on",
            TORCH + "class Net(nn.Module):\n    def forward(self, x):\n        return F.dropout(x, p=0.5)\n",
            "        return F.dropout(x, p=0.5, training=self.training)\n",
        ),
        (
            "missing-call-parentheses",
            TORCH + "device = 'cuda' if torch.cuda.is_available else 'cpu'\n",
            "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
        ),
        (
            "forward-called-directly",
            TORCH + "net = nn.Linear(2, 2)\nprint(net.forward(torch.zeros(1, 2)))\n",
            "print(net(torch.zeros(1, 2)))\n",
        ),
        (
            "fit-on-test-data",
            SKLEARN + "def f(s, x_test):\n    scaler = StandardScaler()\n    return scaler.fit_transform(x_test)\n",
            "    return scaler.transform(x_test)\n",
        ),
        (
            "learning-rate-zero",
            LOOP + "torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, step // 100))\n",
            "lambda step: min(1, step / 100))\n",
        ),
    ],
)
def test_a_fix_mends_it(diagnosis: str, program: str, expected: str) -> None:
    after = mended(program, diagnosis)
    assert expected in after
    assert diagnosis not in {name for name, _ in findings(after, hints=True)}


def test_a_bare_method_at_the_end_of_a_cell_is_shown_not_forgotten() -> None:
    from sleuth.source.engine import Unit, examine
    from sleuth.source.project import Project

    text = LOOP.lstrip("\n") + "optimizer.step\n"
    last = text.count("\n")
    result = examine(Unit("/nowhere/a.py", text, "a.py", frozenset({last})), Project(Path("/nowhere")))
    assert "missing-call-parentheses" not in {finding.diagnosis for finding in result.findings}


def test_a_loop_and_its_helpers_in_two_files_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text("def learn(loss, optimizer):\n    loss.backward()\n    optimizer.step()\n")
    code = LOOP + "from steps import learn\nfor x, y in loader:\n    learn(criterion(model(x), y), optimizer)\n"
    found = examined(code, tmp_path)
    assert [finding.diagnosis for finding in found] == ["missing-zero-grad"]
    assert found[0].place is not None
    assert found[0].place.path.endswith("steps.py")
