"""Numerical bugs in source: what each check finds, in every framework's spelling, and what silences it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sleuth.editing import apply
from sleuth.findings import Finding
from sleuth.source.engine import Unit, examine
from sleuth.source.project import Project

GIVEN = "x, z, labels = load()\n"
TORCH = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n" + GIVEN
TENSORFLOW = "import tensorflow as tf\n" + GIVEN
KERAS = "from keras import backend as K\nfrom keras import ops\n" + GIVEN
JAX = "import jax\nimport jax.numpy as jnp\n" + GIVEN
NUMERICS = frozenset(
    "log-of-softmax log-of-sigmoid log-of-zero absorbed-epsilon hand-written-softmax hand-written-softplus "
    "hand-written-logsumexp hand-written-binary-cross-entropy exp-overflow clamp-after-exp power-masked-too-late "
    "nan-compared-with-equals sqrt-gradient-at-zero norm-gradient-at-zero std-gradient-at-zero pow-gradient-at-zero "
    "where-hides-bad-gradient arc-gradient-at-edge half-precision-overflow softmax-of-fully-masked-row "
    "division-by-zero std-of-one-element gamma-at-pole log1p-out-of-range rsqrt-of-zero "
    "probabilities-into-kl-div".split()
)


def examined(code: str) -> tuple[Finding, ...]:
    """What the checks of this family find, hints included; others may dislike the same old API."""
    result = examine(Unit("/nowhere/snippet.py", code, "snippet.py"), Project(Path("/nowhere")), select=NUMERICS)
    assert result.problem is None
    assert not result.broken
    return result.findings


def findings(code: str) -> list[tuple[str, int]]:
    return [(f.diagnosis, f.place.line) for f in examined(code) if f.place is not None and f.severity != "note"]


FOUND = {
    # log-of-softmax
    "log-of-softmax: a function": (TORCH, "y = torch.log(F.softmax(x, dim=1))"),
    "log-of-softmax: methods": (TORCH, "y = x.softmax(-1).log()"),
    "log-of-softmax: of one row": (TORCH, "p = torch.softmax(x, 1)\ny = p[:, 0].log()"),
    "log-of-softmax: gathered": (TORCH, "p = torch.softmax(x, 1)\ny = torch.log(p.gather(1, i).squeeze(1))"),
    "log-of-softmax: picked by one-hot rows": (TORCH, "p = torch.softmax(x, 1)\ny = torch.log((p * hot).sum(1))"),
    "log-of-softmax: one minus": (TORCH, "p = torch.softmax(x, 1)\ny = torch.log(1 - p)"),
    "log-of-softmax: log2": (TORCH, "y = torch.log2(torch.softmax(x, 1))"),
    "log-of-softmax: tf": (TENSORFLOW, "y = tf.math.log(tf.nn.softmax(x))"),
    "log-of-softmax: keras backend": (KERAS, "y = K.log(K.softmax(x))"),
    "log-of-softmax: keras ops": (KERAS, "y = ops.log(ops.softmax(x))"),
    "log-of-softmax: jax": (JAX, "y = jnp.log(jax.nn.softmax(x))"),
    "log-of-softmax: with a bound of 0": (TORCH, "y = torch.log(torch.softmax(x, 1).clamp(min=0))"),
    # log-of-sigmoid
    "log-of-sigmoid: torch": (TORCH, "y = torch.log(torch.sigmoid(x))"),
    "log-of-sigmoid: one minus": (TORCH, "y = torch.log(1 - torch.sigmoid(x))"),
    "log-of-sigmoid: minus plus one": (TORCH, "y = torch.log(-torch.sigmoid(x) + 1)"),
    "log-of-sigmoid: tf": (TENSORFLOW, "y = tf.math.log(1.0 - tf.sigmoid(x))"),
    "log-of-sigmoid: jax": (JAX, "y = jnp.log(jax.nn.sigmoid(x))"),
    # hand-written forms
    "hand-written-softmax: one line": (TORCH, "y = torch.exp(x) / torch.exp(x).sum(1, keepdim=True)"),
    "hand-written-softmax: two lines": (TORCH, "e = torch.exp(x)\ny = e / e.sum()"),
    "hand-written-softmax: an epsilon does not help": (TORCH, "e = torch.exp(x)\ny = e / (e.sum() + 1e-8)"),
    "hand-written-softmax: tf": (TENSORFLOW, "e = tf.exp(x)\ny = e / tf.reduce_sum(e, axis=1, keepdims=True)"),
    "hand-written-softmax: jax": (JAX, "e = jnp.exp(x)\ny = e / jnp.sum(e, axis=-1, keepdims=True)"),
    "hand-written-softplus: torch": (TORCH, "y = torch.log(1 + torch.exp(x))"),
    "hand-written-softplus: the other way round": (TORCH, "y = torch.log(torch.exp(-x) + 1.0)"),
    "hand-written-softplus: log1p": (JAX, "y = jnp.log1p(jnp.exp(x))"),
    "hand-written-softplus: keras": (KERAS, "y = K.log(1.0 + K.exp(x))"),
    "hand-written-logsumexp: no maximum": (TORCH, "y = torch.log(torch.exp(x).sum(1))"),
    "hand-written-logsumexp: mean": (TENSORFLOW, "y = tf.math.log(tf.reduce_mean(tf.exp(x), axis=0))"),
    "hand-written-logsumexp: one maximum": (TORCH, "m = x.data.max()\ny = torch.log(torch.exp(x - m).sum(1)) + m"),
    "exp-overflow: root": (TORCH, "y = torch.sqrt(torch.exp(x))"),
    "exp-overflow: half power": (TORCH, "y = torch.exp(x) ** 0.5"),
    "exp-overflow: tf": (TENSORFLOW, "y = tf.sqrt(tf.exp(x))"),
    "exp-overflow: tanh": (TORCH, "y = (torch.exp(x) - torch.exp(-x)) / (torch.exp(x) + torch.exp(-x))"),
    "exp-overflow: sigmoid": (TORCH, "w = nn.Parameter(x)\ny = 1 / (1 + torch.exp(-w))"),
    "hand-written-binary-cross-entropy: one line": (
        TORCH,
        "def f(p, t):\n    return -(t * torch.log(p) + (1 - t) * torch.log(1 - p)).mean()",
    ),
    "hand-written-binary-cross-entropy: negated": (
        TENSORFLOW,
        "def f(t, p):\n    return -t * tf.math.log(p) - (1 - t) * tf.math.log(1 - p)",
    ),
    # an epsilon that is lost
    "absorbed-epsilon: beside one": (TORCH, "y = torch.log(1e-10 + 1 - torch.sigmoid(x))"),
    "absorbed-epsilon: named": (TORCH, "EPS = 1e-12\ny = torch.log(1 + EPS - torch.sigmoid(x))"),
    "absorbed-epsilon: clamp": (TORCH, "p = torch.sigmoid(x).clamp(1e-8, 1 - 1e-8)\ny = torch.log(1 - p)"),
    "absorbed-epsilon: float16": (TORCH, "p = torch.softmax(x, 1).half() + 1e-8\ny = p.log()"),
    # domains
    "log-of-zero: relu": (TORCH, "y = torch.log(torch.relu(x))"),
    "log-of-zero: clamp at 0": (TORCH, "y = torch.log(torch.clamp(x, min=0))"),
    "log-of-zero: tanh": (TORCH, "y = torch.log(1 - torch.tanh(x).pow(2))"),
    "log1p-out-of-range: sigmoid": (TORCH, "y = torch.log1p(-torch.sigmoid(x))"),
    "log1p-out-of-range: tanh": (TORCH, "y = torch.log1p(-torch.tanh(x) ** 2)"),
    "gamma-at-pole: relu": (TORCH, "y = torch.lgamma(torch.relu(x))"),
    "rsqrt-of-zero: variance": (TORCH, "x = F.relu(x)\ny = x * torch.rsqrt(x.var(-1, keepdim=True))"),
    "rsqrt-of-zero: mean square": (JAX, "y = x * jax.lax.rsqrt(jnp.mean(x ** 2, -1, keepdims=True))"),
    "division-by-zero: relu": (TORCH, "g = torch.relu(x)\ny = g / g.sum()"),
    "division-by-zero: positives": (TORCH, "num_pos = (labels > 0).sum()\ny = torch.relu(x).sum() / num_pos"),
    # gradients
    "sqrt-gradient-at-zero: slopes": (
        TORCH,
        "i = nn.Parameter(x)\ndx = i[1:] - i[:-1]\ndy = i[:, 1:] - i[:, :-1]\ny = torch.sqrt(dx ** 2 + dy ** 2)",
    ),
    "std-gradient-at-zero: root": (TORCH, "e = nn.Linear(3, 2)(x)\ny = e.var(0).sqrt()"),
    "pow-gradient-at-zero: relu": (TORCH, "h = torch.relu(nn.Linear(3, 2)(x))\nz = h * h\ny = z.abs() ** 0.3"),
    "arc-gradient-at-edge: clamp": (TORCH, "w = nn.Parameter(x)\ny = torch.acos(w.clamp(-1, 1))"),
    "arc-gradient-at-edge: a margin that is lost": (
        TORCH,
        "w = nn.Parameter(x)\ny = torch.asin(w.clamp(-1 + 1e-8, 1 - 1e-8))",
    ),
    "where-hides-bad-gradient: log": (TORCH, "w = nn.Parameter(x)\ny = torch.where(w > 0, torch.log(w), 0.0)"),
    "clamp-after-exp: torch": (TORCH, "h = nn.Linear(3, 2)(x)\ny = torch.exp(h).clamp(max=1e4)"),
    "power-masked-too-late: assignment": (TORCH, "d = nn.Parameter(x).pow(-0.5)\nd[d == float('inf')] = 0"),
    # types and comparisons
    "half-precision-overflow: half": (TORCH, "y = x.half().masked_fill(m, -1e9)"),
    "half-precision-overflow: two masks": (
        TORCH,
        "low = torch.finfo(torch.float16).min\na = x.masked_fill(m, low)\nb = z.masked_fill(n, low)\ny = a + b",
    ),
    "probabilities-into-kl-div: softmax": (TORCH, "y = F.kl_div(F.softmax(x, 1), t)"),
    "probabilities-into-kl-div: module": (TORCH, "k = nn.KLDivLoss()\ny = k(x.softmax(1), t)"),
    "probabilities-into-kl-div: target in logs": (TORCH, "y = F.kl_div(F.log_softmax(x, 1), F.log_softmax(z, 1))"),
    "nan-compared-with-equals: float": (TORCH, "if loss == float('nan'):\n    pass"),
    "nan-compared-with-equals: numpy": ("import numpy as np\n", "y = x != np.nan"),
    "nan-compared-with-equals: imported": (TORCH, "from math import nan\ny = nan == x"),
    "nan-compared-with-equals: identity": ("import numpy as np\n", "y = f(x) is np.nan"),
}


@pytest.mark.parametrize("case", FOUND)
def test_the_bug_is_found_and_nothing_else(case: str) -> None:
    imports, code = FOUND[case]
    assert {diagnosis for diagnosis, _ in findings(imports + code)} == {case.partition(":")[0]}


HINTED = {
    "norm-gradient-at-zero: by hand": (TORCH, "w = nn.Linear(3, 2)\nd = w(a) - w(b)\ny = torch.sqrt((d ** 2).sum(1))"),
    "norm-gradient-at-zero: tf": (TENSORFLOW, "v = tf.Variable([1.0])\ny = tf.norm(v - u)"),
}


@pytest.mark.parametrize("case", HINTED)
def test_what_the_code_alone_cannot_tell_is_a_hint(case: str) -> None:
    imports, code = HINTED[case]
    assert findings(imports + code) == []
    assert case.partition(":")[0] in {finding.diagnosis for finding in examined(imports + code)}


SILENT = {
    "log softmax": (TORCH, "y = F.log_softmax(x, dim=1)"),
    "an epsilon": (TORCH, "y = torch.log(F.softmax(x, dim=1) + 1e-8)"),
    "an epsilon of unknown size": (TORCH, "def f(x, eps):\n    return torch.log(F.softmax(x, 1) + eps)"),
    "an epsilon kept in self": (
        TORCH,
        "class A(nn.Module):\n    def __init__(self, eps=1e-6):\n        super().__init__()\n        self.eps = eps\n"
        "    def forward(self, x):\n        return torch.log(x.softmax(1) + self.eps)",
    ),
    "a clamp": (TORCH, "y = torch.log(F.softmax(x, dim=1).clamp(min=1e-8))"),
    "a clamp by keyword and name": (
        TORCH,
        "E = 1e-6\np = torch.clamp(torch.sigmoid(x), min=E, max=1 - E)\ny = (1 - p).log()",
    ),
    "a maximum": (TENSORFLOW, "y = tf.math.log(tf.maximum(tf.nn.softmax(x), 1e-8))"),
    "clip by value": (TENSORFLOW, "y = tf.math.log(tf.clip_by_value(tf.nn.softmax(x), 1e-8, 1.0))"),
    "the epsilon of Keras": (KERAS, "p = K.clip(K.sigmoid(x), K.epsilon(), 1 - K.epsilon())\ny = K.log(1 - p)"),
    "the type's own epsilon": (
        TORCH,
        "e = torch.finfo(x.dtype).eps\np = torch.sigmoid(x).clamp(e, 1 - e)\ny = (1 - p).log()",
    ),
    "an epsilon in the right place": (TORCH, "y = torch.log(1 - torch.sigmoid(x) + 1e-10)"),
    "float64 holds it": (TORCH, "y = torch.log(1 + 1e-10 - torch.sigmoid(x.double()))"),
    "chosen by comparison": (TORCH, "p = torch.softmax(x, 1)\ny = p[p > 0].log()"),
    "replaced before": (TORCH, "p = torch.softmax(x, 1)\np[p == 0] = 1e-8\ny = p.log()"),
    "where before": (TORCH, "p = torch.softmax(x, 1)\ny = torch.log(torch.where(p > 0, p, 1e-8))"),
    "the largest probability": (TORCH, "y = torch.log(torch.softmax(x, 1).max(1).values)"),
    "another value under the name": (TORCH, "p = torch.softmax(x, 1)\np = other(x)\ny = torch.log(p)"),
    "softmax by hand with its maximum": (TORCH, "e = torch.exp(x - x.max(1, keepdim=True)[0])\ny = e / e.sum(1)"),
    "softmax by hand, unpacked maximum": (TORCH, "m, _ = torch.max(x, 1)\ne = torch.exp(x - m)\ny = e / e.sum()"),
    "a Gaussian kernel": (TORCH, "g = torch.exp(-(x ** 2) / (2 * s ** 2))\ny = g / g.sum()"),
    "another exp": (TORCH, "y = torch.exp(x) / torch.exp(z).sum()"),
    "bounded scores": (TORCH, "e = torch.exp(torch.tanh(x))\ny = e / e.sum()"),
    "cosines": (TORCH, "s = F.normalize(x) @ F.normalize(z).t()\ne = torch.exp(s / 0.1)\ny = e / e.sum()"),
    "stable softplus": (TORCH, "y = x.clamp(min=0) + torch.log1p(torch.exp(-x.abs()))"),
    "log-sum-exp with each row's maximum": (
        TORCH,
        "m = x.max(1, keepdim=True)[0]\ny = torch.log(torch.exp(x - m).sum(1))",
    ),
    "one maximum, one sum": (TORCH, "m = x.max()\ny = torch.log(torch.exp(x - m).sum()) + m"),
    "half the exponent": (TORCH, "y = torch.exp(0.5 * x)"),
    "the ratio of PPO": (TORCH, "r = torch.exp(new - old)\ny = torch.clamp(r, 0.8, 1.2)"),
    "a clamp before exp": (TORCH, "y = torch.exp(x.clamp(max=10)).clamp(max=1e4)"),
    "cross-entropy by hand, clamped": (
        TORCH,
        "def f(p, t):\n    p = p.clamp(1e-6, 1 - 1e-6)\n    return t * p.log() + (1 - t) * (1 - p).log()",
    ),
    "cross-entropy by hand, clamped by its caller": (
        TORCH,
        "def f(p, t):\n    return t * p.log() + (1 - t) * (1 - p).log()\ny = f(torch.sigmoid(x).clamp(1e-6, 1 - "
        "1e-6), t)",
    ),
    "a distance with its epsilon": (
        TORCH,
        "w = nn.Linear(3, 2)\nd = w(a) - w(b)\ny = torch.sqrt((d ** 2).sum(1) + 1e-12)",
    ),
    "a distance without a gradient": (
        TORCH,
        "w = nn.Linear(3, 2)\nwith torch.no_grad():\n    d = w(a) - w(b)\n    y = torch.sqrt((d ** 2).sum(1))",
    ),
    "torch's own norm": (TORCH, "w = nn.Linear(3, 2)\ny = (w(a) - w(b)).norm(dim=1)"),
    "a double where": (
        TORCH,
        "w = nn.Parameter(x)\ns = torch.where(w > 0, w, 1.0)\ny = torch.where(w > 0, torch.log(s), 0.0)",
    ),
    "a where on something else": (TORCH, "w = nn.Parameter(x)\ny = torch.where(mask > 0, torch.log(w), 0.0)"),
    "a margin": (TORCH, "w = nn.Parameter(x)\ny = torch.acos(w.clamp(-1 + 1e-6, 1 - 1e-6))"),
    "a mask that fits": (TORCH, "y = x.half().masked_fill(m, -1e4)"),
    "a mask in float32": (TORCH, "y = x.float().masked_fill(m, -1e9)"),
    "a mask under bfloat16": (
        TORCH,
        "q = nn.Linear(4, 4)\nwith torch.autocast('cuda', dtype=torch.bfloat16):\n    y = (q(x) @ "
        "z).masked_fill(m, -1e9)",
    ),
    "a log target": (TORCH, "y = F.kl_div(F.log_softmax(x, 1), F.log_softmax(z, 1), log_target=True)"),
    "a right kl_div": (TORCH, "y = F.kl_div(F.log_softmax(x, 1), F.softmax(z, 1))"),
    "isnan": (TORCH, "if torch.isnan(loss):\n    pass"),
    "not equal to itself": (TORCH, "if loss != loss:\n    pass"),
    "a default of NaN": ("import numpy as np\n", "def f(fill=np.nan):\n    return fill is np.nan"),
    "RMS norm": (TORCH, "y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)"),
    "a count that is kept off 0": (
        TORCH,
        "num_pos = (labels > 0).sum().clamp(min=1)\ny = torch.relu(x).sum() / num_pos",
    ),
    "a count behind an if": (
        TORCH,
        "def f(x, labels):\n    num_pos = (labels > 0).sum()\n    if num_pos == 0:\n        return 0.0\n    return "
        "x.relu().sum() / num_pos",
    ),
    "numpy": ("import numpy as np\n", "e = np.exp(x)\ny = e / e.sum()\nz = np.log(1 + np.exp(x))"),
    "a Python number": ("import math\n", "y = math.log(1 + math.exp(x))"),
    "a logger": (TORCH, "logger.log(logging.INFO, torch.softmax(x, 1))"),
}


@pytest.mark.parametrize("case", SILENT)
def test_a_guard_silences(case: str) -> None:
    imports, code = SILENT[case]
    assert findings(imports + code) == []


CROSSING = {
    "a function's result": (
        TORCH
        + """
def probabilities(net, x):
    return torch.softmax(net(x), dim=1)

def loss(p, y):
    return -p[range(len(y)), y].log().mean()  # here

total = loss(probabilities(net, x), y)
"""
    ),
    "an attribute": (
        TENSORFLOW
        + """
class Net:
    def __init__(self, x):
        self.scores = tf.keras.layers.Dense(3)(x)
        self.p = tf.nn.softmax(self.scores)

    def loss(self, y):
        return -tf.reduce_sum(y * tf.math.log(self.p))  # here
"""
    ),
    "a Sequential in a module": (
        TORCH
        + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))

    def forward(self, x):
        return self.body(x)

net = Net()
y = torch.log(net(x))  # here
"""
    ),
    "a lambda": (
        TORCH
        + """
cross_entropy = lambda p, y: -(y * torch.log(p)).sum()  # here
loss = cross_entropy(torch.softmax(x, dim=1), y)
"""
    ),
    "an activation that is passed": (
        TENSORFLOW
        + """
def layer(x, w, activation=None):
    z = tf.matmul(x, w)
    if activation is None:
        return z
    return activation(z)

p = layer(x, w, activation=tf.nn.softmax)
loss = -tf.reduce_sum(y * tf.math.log(p))  # here
"""
    ),
    "the loss of a compiled Keras model": (
        """
from keras import backend as K
from keras.layers import Dense
from keras.models import Sequential

def make_loss(weights):
    def loss(y_true, y_pred):
        return -K.sum(weights * y_true * K.log(y_pred))  # here
    return loss

model = Sequential([Dense(8, activation="relu"), Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss=make_loss([1.0, 2.0, 3.0]))
"""
    ),
    "TensorFlow 1 layers": (
        """
import tensorflow.compat.v1 as tf

h = tf.layers.dense(x, 10, tf.nn.relu)
p = tf.layers.dense(h, 3, activation=tf.nn.softmax)
loss = -tf.reduce_sum(y * tf.log(p))  # here
"""
    ),
}


@pytest.mark.parametrize("case", CROSSING)
def test_a_value_is_followed_through(case: str) -> None:
    code = CROSSING[case].lstrip("\n")
    line = next(number for number, text in enumerate(code.splitlines(), 1) if text.endswith("# here"))
    assert findings(code) == [("log-of-softmax", line)]


FIXES = {
    "torch.log(F.softmax(x, dim=1))": "F.log_softmax(x, dim=1)",
    "F.softmax(x, dim=1).log()": "F.log_softmax(x, dim=1)",
    "x.softmax(-1).log()": "x.log_softmax(-1)",
    "torch.log(torch.sigmoid(x - y))": "torch.nn.functional.logsigmoid((x - y))",
    "torch.log(F.sigmoid(x))": "F.logsigmoid(x)",
    "tf.math.log(tf.nn.softmax(x, axis=1))": "tf.nn.log_softmax(x, axis=1)",
    "tf.math.log(tf.sigmoid(x))": "tf.math.log_sigmoid(x)",
    "jnp.log(jax.nn.softmax(x))": "jax.nn.log_softmax(x)",
    "jnp.log(jax.nn.sigmoid(x))": "jax.nn.log_sigmoid(x)",
    "torch.log(1 + torch.exp(-x))": "torch.nn.functional.softplus((-x))",
    "tf.math.log(1.0 + tf.exp(x))": "tf.nn.softplus(x)",
    "K.log(K.exp(x) + 1)": "K.softplus(x)",
    "torch.sqrt(torch.exp(x))": "torch.exp(0.5 * x)",
    "F.kl_div(F.softmax(x, 1), t)": "F.kl_div(F.log_softmax(x, 1), t)",
    "F.relu(x) == torch.nan": "torch.isnan(F.relu(x))",
    "torch.log(1 + torch.exp(\n    x  # the margin\n))": None,
    "torch.log(1 - torch.sigmoid(x))": None,
}


@pytest.mark.parametrize("before", FIXES)
def test_a_fix_writes_the_fused_form(before: str) -> None:
    code = TORCH + TENSORFLOW + KERAS + JAX + f"y = {before}\n"
    edits = [edit for finding in examined(code) for fix in finding.fixes for edit in fix.edits]
    after = FIXES[before]
    if after is None:
        assert edits == []
        return
    mended = apply(code, edits)
    assert mended is not None
    assert mended.splitlines()[-1] == f"y = {after}"
    assert findings(mended) == []


def test_a_finding_tells_the_lines_that_lead_to_it() -> None:
    code = TORCH + "p = torch.softmax(x, 1)\nq = p[:, 0]\ny = torch.log(q)\n"
    (finding,) = examined(code)
    assert [link.place.line for link in finding.chain if link.place is not None] == [5, 7]


def test_an_unguarded_cross_entropy_is_told_once_where_the_sigmoid_is_seen() -> None:
    code = (
        TORCH
        + "def f(p, t):\n    return (t * p.log() + (1 - t) * (1 - p).log()).mean()\n"
        + "y = f(torch.sigmoid(nn.Linear(3, 1)(x)), t)\n"
    )
    assert findings(code) == [("log-of-sigmoid", 6), ("log-of-sigmoid", 6)]
