"""Modules and parameters, devices, shapes and types of numbers: what is found, and what is left alone.

A line that ends in `# here` is one where the named diagnosis must stand; there must be no other of this family.
"""

from __future__ import annotations

import textwrap

import pytest
from snippets import examined

FAMILY = frozenset(
    """
    channel-mismatch discarded-result embedding-too-small factory-then-to-device flatten-linear-mismatch
    float64-into-float32-model frombuffer-is-array graph-cut groups-not-dividing hard-coded-cuda image-cast-to-uint8
    inplace-on-leaf layer-made-in-forward layer-repeated-by-reference linear-size-mismatch load-mismatch-hidden
    mean-of-integers missing-super-init misspelled-requires-grad mixed-devices modules-in-plain-list no-nonlinearity
    numpy-of-cuda-tensor numpy-of-grad-tensor optimizer-of-frozen-parameters optimizer-state-left-on-cpu
    parameter-moved-after-wrapping
    parameters-not-in-optimizer pool-padding-too-large requires-grad-of-module same-padding-with-stride
    symmetric-initialisation tensor-attribute-not-buffer tensor-constructor tensor-on-cpu-in-forward
    two-optimizers-one-parameter view-after-transpose view-as-permute
    """.split()
)
HEAD = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
"""
GPU = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'


def network(init: str, forward: str, before: str = "") -> str:
    """A network with these lines in its __init__ and forward."""
    return (
        f"{before}class Net(nn.Module):\n    def __init__(self, n=8):\n        super().__init__()\n"
        + textwrap.indent(textwrap.dedent(init).strip("\n"), "        ")
        + "\n\n    def forward(self, x):\n"
        + textwrap.indent(textwrap.dedent(forward).strip("\n"), "        ")
        + "\n"
    )


FOUND: dict[str, tuple[str, str]] = {
    "layers appended in a loop": (
        "modules-in-plain-list",
        network(
            """
            self.blocks = []  # here
            for _ in range(3):
                self.blocks.append(nn.Linear(8, 8))
            """,
            """
            for block in self.blocks:
                x = block(x).relu()
            return x
            """,
        ),
    ),
    "networks of the project in a tuple": (
        "modules-in-plain-list",
        network("self.inner = nn.Linear(4, 4)", "return self.inner(x)")
        + network("self.pair = (Net(), Net())  # here", "return self.pair[0](x) + self.pair[1](x)").replace(
            "class Net", "class Two"
        ),
    ),
    "a table of positions as an attribute": (
        "tensor-attribute-not-buffer",
        network(
            """
            table = torch.zeros(100, n)
            table[:, 0] = torch.arange(100)
            self.table = table.unsqueeze(0)  # here
            """,
            "return x + self.table[:, : x.size(1)]",
            GPU,
        )
        + "\n\nnet = Net().to(device)",
    ),
    "a weight that is no parameter": (
        "tensor-attribute-not-buffer",
        network("self.w = torch.randn(n, n, requires_grad=True)  # here", "return x @ self.w"),
    ),
    "a layer before super": (
        "missing-super-init",
        """
        class Net(nn.Module):
            def __init__(self):
                self.fc = nn.Linear(2, 2)  # here
                super().__init__()

            def forward(self, x):
                return self.fc(x)
        """,
    ),
    "a Keras layer without super": (
        "missing-super-init",
        """
        from tensorflow import keras

        class Scale(keras.layers.Layer):
            def __init__(self, factor):  # here
                self.factor = factor

            def call(self, x):
                return self.factor * x
        """,
    ),
    "children frozen by attribute": (
        "requires-grad-of-module",
        """
        import torchvision

        net = torchvision.models.vgg16()
        for child in net.children():
            child.requires_grad = False  # here
        """,
    ),
    "the misspelled argument": ("misspelled-requires-grad", "w = torch.zeros(3, require_grad=True)  # here"),
    "the misspelled method": ("misspelled-requires-grad", "nn.Linear(2, 2).require_grad_(False)  # here"),
    "a cast that nobody takes": ("discarded-result", "x = torch.zeros(3)\nx.double()  # here"),
    "a function whose result nobody takes": ("discarded-result", "x = torch.zeros(3)\ntorch.clamp(x, 0, 1)  # here"),
    "an array that is not cast": ("discarded-result", 'a = np.zeros(3)\na.astype("float32")  # here'),
    "a layer multiplied inside a longer list": (
        "layer-repeated-by-reference",
        "net = nn.Sequential(*([nn.Linear(2, 8)] + [nn.Linear(8, 8)] * 3))  # here",
    ),
    "a parameter moved in __init__": (
        "parameter-moved-after-wrapping",
        network("self.w = nn.Parameter(torch.zeros(n)).to(device)  # here", "return x * self.w", GPU),
    ),
    "a moved leaf in an optimiser": (
        "parameter-moved-after-wrapping",
        "w = torch.zeros(3, requires_grad=True).cuda()  # here\noptimizer = torch.optim.SGD([w], lr=0.1)",
    ),
    "positions made in forward": (
        "tensor-on-cpu-in-forward",
        network(
            "self.embed = nn.Embedding(100, n)",
            """
            places = torch.arange(x.size(1)).float()  # here
            return self.embed(x) + places.unsqueeze(-1)
            """,
            GPU,
        ),
    ),
    "a mask joined to the input": (
        "tensor-on-cpu-in-forward",
        network(
            "self.fc = nn.Linear(n, n)",
            """
            mask = torch.ones(x.size(0), 1)  # here
            return self.fc(torch.cat([x, mask], dim=1))
            """,
            GPU,
        ),
    ),
    "a prediction on the GPU": (
        "numpy-of-cuda-tensor",
        GPU + 'net = nn.Linear(3, 2).to("cuda")\n'
        'with torch.no_grad():\n    y = net(torch.randn(2, 3, device="cuda"))\nprint(y.softmax(1).numpy())  # here',
    ),
    "np.array of a tensor on the GPU": (
        "numpy-of-cuda-tensor",
        GPU + "x = torch.tensor([1.0, 2.0]).to(device)\nprint(np.array(x))  # here",
    ),
    "numpy of a parameter": (
        "numpy-of-grad-tensor",
        "w = nn.Parameter(torch.zeros(3))\nprint((w * 2).numpy())  # here",
    ),
    "a flatten in a Sequential": (
        "flatten-linear-mismatch",
        """
        net = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(8 * 8 * 8, 10),  # here
        )
        net(torch.zeros(4, 3, 32, 32))
        """,
    ),
    "a view with the number of another network": (
        "flatten-linear-mismatch",
        network(
            "self.conv = nn.Conv2d(1, 4, 5)\nself.fc = nn.Linear(4 * 12 * 12, 10)",
            """
            x = F.max_pool2d(self.conv(x), 2)
            x = x.view(-1, 4 * 13 * 13)
            return self.fc(x)  # here
            """,
        ),
    ),
    "rows that hold parts of two samples": (
        "flatten-linear-mismatch",
        "x = torch.zeros(8, 16, 5, 5)\nrows = x.view(-1, 256)  # here",
    ),
    "a batch normalisation of another width": (
        "channel-mismatch",
        "net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(32), nn.ReLU())  # here",
    ),
    "channels through a pooling and an activation": (
        "channel-mismatch",
        network(
            "self.a = nn.Conv2d(1, 8, 3)\nself.b = nn.Conv2d(16, 16, 3)",
            "return self.b(F.relu(F.max_pool2d(self.a(x), 2)))  # here",
        ),
    ),
    "blocks made by a function with numbers": (
        "channel-mismatch",
        """
        def block(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3), nn.ReLU())

        net = nn.Sequential(block(3, 8), block(8, 16), nn.Conv2d(8, 2, 1))  # here
        net(torch.zeros(1, 3, 16, 16))
        """,
    ),
    "images with the channels last": (
        "channel-mismatch",
        "conv = nn.Conv2d(3, 8, 3)\nconv(torch.zeros(4, 32, 32, 3))  # here",
    ),
    "features between linear layers": (
        "linear-size-mismatch",
        "net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(30, 2))  # here",
    ),
    "an embedding too narrow for its LSTM": (
        "linear-size-mismatch",
        network(
            "self.embed = nn.Embedding(50, 32)\nself.lstm = nn.LSTM(64, 64)",
            "return self.lstm(self.embed(x))[0]  # here",
        ),
    ),
    "heads joined by view": (
        "view-after-transpose",
        """
        def attend(q, k, v, batch, length, heads, size):
            q = torch.matmul(q, k).view(batch, length, heads, size).transpose(1, 2)
            return torch.matmul(q, v).view(batch, heads, length, size).transpose(1, 2).view(batch, length, -1)  # here
        """,
    ),
    "a transposed matrix flattened": ("view-after-transpose", "x = torch.zeros(3, 4)\ny = x.t().view(-1)  # here"),
    "axes exchanged by reshape": (
        "view-as-permute",
        """
        def swap(x):
            b, c, h, w = x.shape
            return x.reshape(b, h, w, c)  # here
        """,
    ),
    "an image turned by its literal sizes": (
        "view-as-permute",
        "image = torch.rand(3, 32, 48)\npicture = image.view(32, 48, 3)  # here",
    ),
    "words counted from one": (
        "embedding-too-small",
        """
        def make(words):
            index = {word: place for place, word in enumerate(words, start=1)}
            return nn.Embedding(len(index), 8)  # here
        """,
    ),
    "padding behind the last row": ("embedding-too-small", "nn.Embedding(100, 8, padding_idx=100)  # here"),
    "indices drawn too high": (
        "embedding-too-small",
        "embed = nn.Embedding(100, 8)\nembed(torch.randint(0, 128, (4, 7)))  # here",
    ),
    "probabilities as bytes": ("image-cast-to-uint8", "x = torch.sigmoid(torch.randn(3, 8, 8)).byte()  # here"),
    "an image divided by 255 and cast back": (
        "image-cast-to-uint8",
        "def show(image):\n    scaled = image / 255.0\n    return np.uint8(scaled)  # here",
    ),
    "doubles through arithmetic and a loader": (
        "float64-into-float32-model",
        """
        x = np.linspace(0, 1, 100).reshape(-1, 1) * np.ones((100, 3))
        data = TensorDataset(torch.tensor(np.zeros((100, 3)) + 0.5), torch.zeros(100))  # here
        model = nn.Linear(3, 1)
        for features, target in DataLoader(data, batch_size=10):
            model(features)
        """,
    ),
    "a number given to torch.Tensor": ("tensor-constructor", "scale = torch.Tensor(0.5)  # here"),
    "a size taken for a value": ("tensor-constructor", "y = torch.ones(3) * torch.Tensor(2)  # here"),
    "the mean of a comparison": (
        "mean-of-integers",
        "net = nn.Linear(3, 2)\nhit = (net(torch.zeros(4, 3)).argmax(1) == torch.zeros(4)).mean()  # here",
    ),
    "the spread of whole numbers": ("mean-of-integers", "s = torch.randint(0, 9, (5,)).std()  # here"),
    "a count of images as a shape": (
        "frombuffer-is-array",
        """
        def read(stream):
            count = np.frombuffer(stream.read(4), dtype=np.uint32)
            return np.zeros((count, 28, 28))  # here
        """,
    ),
    "same padding of a functional convolution": (
        "same-padding-with-stride",
        'def down(x, w):\n    return F.conv2d(x, w, None, 2, "same")  # here',
    ),
    "an average with too wide a border": ("pool-padding-too-large", "nn.AvgPool2d(3, stride=1, padding=2)  # here"),
    "heads that do not divide": ("groups-not-dividing", "nn.MultiheadAttention(embed_dim=100, num_heads=8)  # here"),
    "a weight changed by index": (
        "inplace-on-leaf",
        "w = nn.Parameter(torch.zeros(3))\nw[0] = 1.0  # here",
    ),
    "a network's weights drawn anew": (
        "inplace-on-leaf",
        "net = nn.Linear(2, 2)\nfor p in net.parameters():\n    p.normal_(0, 0.1)  # here",
    ),
    "a detached loss": (
        "graph-cut",
        """
        net = nn.Linear(2, 1)
        loss = net(torch.zeros(4, 2)).mean().detach()  # here
        loss.requires_grad_().backward()
        """,
    ),
    "an encoder behind numpy": (
        "graph-cut",
        """
        encoder, head = nn.Linear(3, 8), nn.Linear(8, 1)
        optimizer = torch.optim.SGD(list(encoder.parameters()) + list(head.parameters()), lr=0.1)
        for _ in range(10):
            code = encoder(torch.randn(4, 3)).detach()  # here
            loss = head(code).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "dropout made in forward": (
        "layer-made-in-forward",
        network("self.fc = nn.Linear(n, n)", "return nn.Dropout(0.5)(self.fc(x))  # here"),
    ),
    "a Keras layer made in call": (
        "layer-made-in-forward",
        """
        from tensorflow import keras

        class Net(keras.Model):
            def call(self, x):
                return keras.layers.Dense(3)(x)  # here
        """,
    ),
    "a layer put in after the optimiser": (
        "parameters-not-in-optimizer",
        """
        net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net[2] = nn.Linear(8, 5)  # here
        for x, y in []:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        """,
    ),
    "a frozen network in the optimiser": (
        "optimizer-of-frozen-parameters",
        """
        body, head = nn.Linear(3, 8), nn.Linear(8, 2)
        body.requires_grad_(False)
        optimizer = torch.optim.SGD(body.parameters(), lr=0.1)  # here
        for x, y in []:
            optimizer.zero_grad()
            F.cross_entropy(head(body(x)), y).backward()
            optimizer.step()
        """,
    ),
    "a state loaded before the move": (
        "optimizer-state-left-on-cpu",
        """
        net = nn.Linear(3, 2)
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
        optimizer.load_state_dict(torch.load("o.pt", weights_only=True))  # here
        net.cuda()
        for x, y in []:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        """,
    ),
    "one network in two optimisers": (
        "two-optimizers-one-parameter",
        """
        net = nn.Linear(3, 1)
        first = torch.optim.SGD(net.parameters(), lr=0.1)
        second = torch.optim.Adam([{"params": net.parameters()}], lr=0.1)  # here
        for x in torch.randn(5, 4, 3):
            first.zero_grad()
            net(x).mean().backward()
            first.step()
            second.step()
        """,
    ),
    "a constant in all linear layers": (
        "symmetric-initialisation",
        """
        def init(m):
            if isinstance(m, (nn.Linear, nn.Conv2d)):
                nn.init.constant_(m.weight, 0.01)  # here
                nn.init.zeros_(m.bias)
        """,
    ),
    "two matrices of zeros in a row": (
        "symmetric-initialisation",
        """
        w1 = torch.zeros(10, 20, requires_grad=True)  # here
        w2 = torch.zeros(20, 2, requires_grad=True)
        scores = torch.tanh(torch.randn(4, 10) @ w1) @ w2
        """,
    ),
}

HINTS: dict[str, tuple[str, str]] = {
    "a GPU by name": (
        "hard-coded-cuda",
        "net = nn.Linear(2, 1).cuda()  # here\nnet(torch.zeros(1, 2).cuda()).backward()",
    ),
    "zeros made and copied": ("factory-then-to-device", GPU + "x = torch.zeros(2, 3).to(device)  # here"),
    "an answer nobody reads": (
        "load-mismatch-hidden",
        "def load(net, state):\n    net.load_state_dict(state, strict=False)  # here",
    ),
    "two linear layers": ("no-nonlinearity", "nn.Sequential(nn.Linear(2, 64), nn.Linear(64, 3))  # here"),
    "whole numbers made float": ("tensor-constructor", "labels = torch.Tensor([0, 1, 2])  # here"),
}

LEFT_ALONE: dict[str, str] = {
    "layers registered by hand": network(
        """
        self.blocks = [nn.Linear(8, 8) for _ in range(3)]
        for i, block in enumerate(self.blocks):
            self.add_module(f"block{i}", block)
        """,
        "return self.blocks[0](x)",
    ),
    "a teacher hidden on purpose": network(
        "teacher = nn.Linear(8, 8)\nself.teacher = [teacher]", "return self.teacher[0](x)"
    ),
    "activations in a list": network("self.acts = [nn.ReLU(), nn.Tanh()]", "return self.acts[0](x)"),
    "layers also held as attributes": network("self.a = nn.Linear(8, 8)\nself.all = [self.a]", "return self.all[0](x)"),
    "a Keras model with a list": """
        from tensorflow import keras

        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.blocks = [keras.layers.Dense(3) for _ in range(2)]

            def call(self, x):
                for block in self.blocks:
                    x = block(x)
                return x
        """,
    "a buffer": network('self.register_buffer("scale", torch.ones(n))', "return x * self.scale", GPU),
    "an attribute that is moved": network("self.scale = torch.ones(n)", "return x * self.scale.to(x.device)", GPU),
    "a network without devices": network("self.scale = torch.ones(n)", "return x * self.scale"),
    "super called with its old words": """
        class Net(nn.Module):
            def __init__(self):
                super(Net, self).__init__()
                self.fc = nn.Linear(2, 2)

            def forward(self, x):
                return self.fc(x)
        """,
    "the base called by its name": """
        class Net(nn.Module):
            def __init__(self):
                nn.Module.__init__(self)
                self.fc = nn.Linear(2, 2)

            def forward(self, x):
                return self.fc(x)
        """,
    "a class that is never called": """
        class Sampler(nn.Module):
            def __init__(self, n):
                self.n = n

            def sample(self):
                return self.n
        """,
    "parameters frozen one by one": "for p in nn.Linear(2, 2).parameters():\n    p.requires_grad = False",
    "an attribute of the user's own": """
        class Options:
            pass

        options = Options()
        options.require_grad = True
        """,
    "a name of the user's own that is read": """
        def decide(layer, config):
            layer.require_grad = True
            return layer.require_grad
        """,
    "a network moved in place": "net = nn.Linear(2, 2)\nnet.to('cpu')\nnet.eval()\nnet.float()",
    "an unknown thing moved": "def run(model, x):\n    model.to('cpu')\n    model.cuda()\n    return model(x)",
    "a GPU woken up": "torch.zeros(1).cuda()",
    "methods with an underscore": "x = torch.zeros(3)\nx.unsqueeze_(0)\nx.clamp_(0, 1)\nx.requires_grad_()",
    "an error that is waited for": """
        import pytest

        def test_shapes():
            x = torch.zeros(3)
            with pytest.raises(RuntimeError):
                x.view(2, 2)
        """,
    "a new layer for each place": "net = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])",
    "activations repeated": "net = nn.Sequential(*[nn.ReLU()] * 3)",
    "copies of a layer": """
        import copy

        def clones(layer, n):
            return nn.ModuleList([copy.deepcopy(layer) for _ in range(n)])

        net = clones(nn.Linear(2, 2), 3)
        """,
    "a parameter made on the device": network(
        "self.w = nn.Parameter(torch.zeros(n, device=device)).to(device)", "return x * self.w", GPU
    ),
    "a tensor made like the input": network(
        "self.fc = nn.Linear(n, n)", "return self.fc(x) + torch.zeros_like(x) + x.new_ones(1)", GPU
    ),
    "a number mixed in": network("self.fc = nn.Linear(n, n)", "return self.fc(x) * torch.tensor(0.5)", GPU),
    "a tensor moved where the input is": network(
        "self.fc = nn.Linear(n, n)",
        """
        noise = torch.randn(x.shape)
        if x.is_cuda:
            noise = noise.cuda()
        return self.fc(x) + noise
        """,
        GPU,
    ),
    "numpy after cpu and detach": GPU
    + "net = nn.Linear(3, 2).to(device)\ny = net(torch.randn(2, 3, device=device))\nprint(y.detach().cpu().numpy())",
    "numpy of a TensorFlow tensor": """
        from tensorflow import keras

        model = keras.Sequential([keras.layers.Dense(3)])
        print(model(np.zeros((2, 4))).numpy())
        """,
    "numpy under no_grad": "net = nn.Linear(3, 2)\nwith torch.no_grad():\n    print(net(torch.randn(2, 3)).numpy())",
    "numpy in a function without gradients": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 2)

            @torch.no_grad()
            def predict(self, x):
                return self.fc(x).numpy()
        """,
    "the right number behind a flatten": """
        net = nn.Sequential(nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(6 * 12 * 12, 3))
        net(torch.zeros(2, 1, 28, 28))
        """,
    "a pooling that rounds up": """
        net = nn.Sequential(nn.MaxPool2d(2, ceil_mode=True), nn.Flatten(), nn.Linear(3 * 15 * 15, 3))
        net(torch.zeros(2, 3, 29, 29))
        """,
    "options that are not known": """
        def make(**options):
            net = nn.Sequential(nn.Conv2d(3, 8, 3, **options), nn.Flatten(), nn.Linear(8, 3))
            return net(torch.zeros(2, 3, 8, 8))
        """,
    "a layer chosen by a condition": network(
        "self.fc = nn.Linear(16, 2) if n > 4 else nn.Linear(8, 2)\nself.first = nn.Linear(3, 16)",
        "return self.fc(self.first(x))",
    ),
    "a shape that is asked for": network(
        "self.conv = nn.Conv2d(3, 8, 3)",
        """
        x = torch.zeros(2, 1, 8, 8)
        if x.shape[1] == 3:
            x = self.conv(x)
        return x
        """,
    ),
    "blocks of different width by one function": """
        def block(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3), nn.BatchNorm2d(outputs), nn.ReLU())

        net = nn.Sequential(block(3, 8), block(8, 16), block(16, 32))
        net(torch.zeros(1, 3, 16, 16))
        """,
    "time folded into the batch": "x = torch.zeros(8, 5, 3)\nrows = x.view(-1, 3)\nwide = x.view(-1, 15)",
    "a bidirectional LSTM counted right": network(
        "self.lstm = nn.LSTM(4, 8, bidirectional=True)\nself.fc = nn.Linear(16, 2)", "return self.fc(self.lstm(x)[0])"
    ),
    "a split behind a transpose": """
        def split(x, w, b, t, h, d):
            return torch.matmul(x, w).view(b, t, h * d).transpose(0, 1).view(t, b, h, d)
        """,
    "a view of what is contiguous": "x = torch.zeros(3, 4)\ny = x.t().contiguous().view(-1)",
    "a view behind two transposes": """
        def back(x, w):
            y = torch.matmul(x, w).transpose(1, 2)
            return F.relu(y).transpose(1, 2).view(-1)
        """,
    "a transpose of an axis of one": "x = torch.zeros(1, 5)\ny = x.t().view(-1)",
    "sizes in their own order": """
        def same(x):
            b, l, d = x.shape
            return x.view(b, l, d), x.view(b, l * d), x.transpose(1, 2).reshape(b, d, l)
        """,
    "one row more": """
        def make(words):
            index = {word: place + 1 for place, word in enumerate(words)}
            return nn.Embedding(len(index) + 1, 8)
        """,
    "a place for padding added later": """
        def make(words):
            index = {word: place + 1 for place, word in enumerate(words)}
            index["<pad>"] = 0
            return nn.Embedding(len(index), 8)
        """,
    "a mask as bytes": """
        x = torch.sigmoid(torch.randn(8))
        mask = (x > 0.5).byte()
        zeros = np.zeros(3).astype(np.uint8)
        """,
    "an image scaled and cast": "x = torch.sigmoid(torch.randn(8)).mul(255).byte()",
    "singles from NumPy": """
        x = torch.from_numpy(np.random.rand(4, 3).astype(np.float32))
        nn.Linear(3, 1)(x)
        nn.Linear(3, 1)(torch.from_numpy(np.random.rand(4, 3)).float())
        """,
    "a model of doubles": "net = nn.Linear(3, 1).double()\nnet(torch.from_numpy(np.random.rand(4, 3)))",
    "memory that is filled": network(
        "self.w = nn.Parameter(torch.Tensor(n, n))\nnn.init.normal_(self.w)", "return x @ self.w"
    ),
    "a mean of floats": "m = torch.tensor([1.0, 2.0]).mean()\nn = (torch.ones(3) > 0).float().mean()",
    "a mean with a type": "m = torch.tensor([1, 2]).mean(dtype=torch.float32)",
    "a mean in JAX": "import jax.numpy as jnp\n\nhits = (jnp.ones(3) == jnp.ones(3)).mean()",
    "an element of frombuffer": """
        def read(f):
            n = np.frombuffer(f.read(4), dtype=np.uint32)[0]
            return f.read(n)
        """,
    "same padding without stride": 'nn.Conv2d(3, 8, 3, padding="same")\nnn.Conv2d(3, 8, 3, stride=1, padding="same")',
    "half of the window": "nn.MaxPool2d(3, 2, 1)\nnn.MaxPool2d(3, padding=2, dilation=2)\nnn.MaxPool2d(4, 4, 2)",
    "groups that divide": "nn.Conv2d(8, 16, 3, groups=8)\nnn.GroupNorm(32, 64)\nnn.Conv2d(3, 6, 3)",
    "weights changed under no_grad": """
        net = nn.Linear(2, 2)
        with torch.no_grad():
            for p in net.parameters():
                p.add_(1.0)
        for p in net.parameters():
            p.data.add_(1.0)
        """,
    "a frozen weight filled": """
        layer = nn.Linear(2, 2)
        for p in layer.parameters():
            p.requires_grad = False
            p.copy_(torch.zeros(2))
        """,
    "a generator's images detached for the critic": """
        g, d = nn.Linear(2, 3), nn.Linear(3, 1)
        opt_g = torch.optim.Adam(g.parameters(), lr=1e-4)
        opt_d = torch.optim.Adam(d.parameters(), lr=1e-4)
        for z in torch.randn(10, 4, 2):
            fake = g(z)
            opt_d.zero_grad()
            d(fake.detach()).mean().backward()
            opt_d.step()
            opt_g.zero_grad()
            (-d(fake)).mean().backward()
            opt_g.step()
        """,
    "a layer made on first use": network(
        "self.fc = None",
        """
        if self.fc is None:
            self.fc = nn.Linear(x.size(1), 3)
        return self.fc(x)
        """,
    ),
    "a filter with weights set by hand": network(
        "self.kernel = None",
        """
        blur = nn.Conv2d(1, 1, 3, bias=False)
        blur.weight.data.fill_(1 / 9)
        return blur(x)
        """,
    ),
    "the optimiser made last": """
        net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        net[2] = nn.Linear(8, 5)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in []:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        """,
    "a layer added to the optimiser": """
        net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net[2] = nn.Linear(8, 5)
        optimizer.add_param_group({"params": net[2].parameters()})
        for x, y in []:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        """,
    "a frozen body with a new head": """
        import torchvision

        net = torchvision.models.resnet18()
        for p in net.parameters():
            p.requires_grad = False
        net.fc = nn.Linear(512, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in []:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        """,
    "a critic frozen and thawed in turn": """
        def set_grad(net, flag):
            for p in net.parameters():
                p.requires_grad = flag

        d = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(d.parameters(), lr=0.1)
        for x in torch.randn(5, 4, 3):
            set_grad(d, True)
            optimizer.zero_grad()
            d(x).mean().backward()
            optimizer.step()
            set_grad(d, False)
        """,
    "an optimiser made before the move": """
        net = nn.Linear(3, 2)
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
        net.cuda()
        optimizer.load_state_dict(torch.load("o.pt", weights_only=True))
        for x, y in []:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        """,
    "relative positions cut anew": """
        def relative_shift(scores):
            b, h, q, k = scores.shape
            return scores.reshape(b, h, k, q)[:, :, 1:]
        """,
    "one head shared on purpose": "shared_head = nn.Linear(2, 2)\nheads = nn.ModuleList([shared_head] * 3)",
    "two networks from one function": """
        def make():
            return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))

        actor, critic = make(), make()
        first = torch.optim.SGD(actor.parameters(), lr=0.1)
        second = torch.optim.SGD(critic.parameters(), lr=0.1)
        for x in torch.randn(5, 4, 3):
            first.zero_grad()
            second.zero_grad()
            (actor(x) + critic(x)).mean().backward()
            first.step()
            second.step()
        """,
    "biases and scales that are constant": """
        def init(m):
            if isinstance(m, nn.Linear):
                nn.init.xavier_uniform_(m.weight)
                nn.init.zeros_(m.bias)
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.ones_(m.weight)
        """,
    "one matrix of zeros": "w = torch.zeros(10, 2, requires_grad=True)\nscores = torch.randn(4, 10) @ w",
}


def named(code: str, hints: bool = False) -> list[tuple[str, int]]:
    return [
        (finding.diagnosis, finding.place.line)
        for finding in examined(code)
        if finding.place is not None and finding.diagnosis in FAMILY and (hints or finding.severity != "note")
    ]


def marked(code: str) -> tuple[str, list[int]]:
    text = HEAD.lstrip("\n") + textwrap.dedent(code).strip("\n") + "\n"
    return text, [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]


@pytest.mark.parametrize(("diagnosis", "code"), FOUND.values(), ids=FOUND.keys())
def test_it_is_found_at_its_line(diagnosis: str, code: str) -> None:
    text, lines = marked(code)
    assert named(text) == [(diagnosis, line) for line in lines]


@pytest.mark.parametrize(("diagnosis", "code"), HINTS.values(), ids=HINTS.keys())
def test_advice_is_a_hint(diagnosis: str, code: str) -> None:
    text, lines = marked(code)
    assert (diagnosis, lines[0]) in named(text, hints=True)
    assert named(text) == []


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_it_is_left_alone(code: str) -> None:
    text, _ = marked(code)
    assert named(text) == []


def test_a_safe_fix_of_each_kind_is_offered() -> None:
    for code, replacement in (
        ("x = torch.zeros(3, 4)\ny = x.t().view(-1)", "reshape"),
        ("p = torch.zeros(3)\np.require_grad = True", "requires_grad"),
        ("hits = (torch.ones(3) == torch.ones(3)).mean()", ".float()"),
    ):
        text, _ = marked(code)
        fixes = [fix for finding in examined(text) if finding.diagnosis in FAMILY for fix in finding.fixes]
        assert any(fix.safe and any(edit.replacement == replacement for edit in fix.edits) for fix in fixes), code


def test_the_right_number_is_named_and_offered() -> None:
    text, _ = marked(FOUND["a flatten in a Sequential"][1])
    (finding,) = [one for one in examined(text) if one.diagnosis == "flatten-linear-mismatch"]
    assert finding.title == "Linear expects 512 features, the flatten before it gives 8 × 16 × 16 = 2048"
    assert [edit.replacement for edit in finding.fixes[0].edits] == ["2048"]
    assert not finding.fixes[0].safe
