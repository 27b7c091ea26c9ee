"""The reading of a program: names, flow, functions, classes and files, seen through what checks are shown."""

from __future__ import annotations

import ast
import textwrap
import types
from pathlib import Path

import pytest

from sleuth.source.engine import Unit, examine
from sleuth.source.interpreter import Interpreter
from sleuth.source.listeners import Listeners
from sleuth.source.project import Project
from sleuth.source.sites import Site, Trace
from sleuth.source.values import Value, made_by


def heard(code: str, folder: Path = Path("/nowhere"), **wanted: tuple[str, ...]) -> list[Site]:
    """The sites of the operations and calls asked for."""
    sites: list[Site] = []
    check = types.ModuleType("sleuth_test_check")
    for name, values in wanted.items():
        setattr(check, name, values)
    for listener in ("operation", "call"):
        setattr(check, listener, lambda site: sites.append(site))
    text = textwrap.dedent(code)
    project = Project(folder)
    file = project.file(str(folder / "program.py"), "program.py", text, ast.parse(text))
    Interpreter(file, project, Listeners([("test", check)])).read_all()
    return sites


def logged(code: str, folder: Path = Path("/nowhere")) -> list[Value]:
    """What the logarithms of a program are taken of."""
    return [site.operands[0] for site in heard(code, folder, OPERATIONS=("log",))]


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ntorch.log(x)",
        "import torch as t\nt.log(x)",
        "from torch import log\nlog(x)",
        "from torch import log as ln\nln(x)",
        "import torch\ny = torch.zeros(3)\ny.log()",
        "import tensorflow as tf\ntf.math.log(x)",
        "import tensorflow as tf\ntf.log(x)",
        "import jax.numpy as jnp\njnp.log(x)",
        "from jax import numpy as jnp\njnp.log(x)",
        "import numpy as np\nnp.log(x)",
        "from keras import backend as K\nK.log(x)",
        "import tensorflow.keras.backend as K\nK.log(x)",
        "from tensorflow.keras import backend as K\nK.log(x)",
        "import keras\nkeras.ops.log(x)",
        "def f(x):\n    import torch\n    return torch.log(x)",
        "import torch\nlog = torch.log\nlog(x)",
        "import math\nmath.log(x)",
    ],
)
def test_an_operation_has_one_name_in_every_spelling(code: str) -> None:
    assert [site.op for site in heard(code, OPERATIONS=("log",))] == ["log"]


@pytest.mark.parametrize("code", ["log(x)", "import logging\nlogging.log(1, x)", "logger.log(1, 'x')"])
def test_a_name_that_only_looks_like_it_is_no_operation(code: str) -> None:
    assert heard(code, OPERATIONS=("log",)) == []


FLOWS = {
    "a name": "p = F.softmax(x, dim=1)\ntorch.log(p)",
    "a shape in between": "p = F.softmax(x, dim=1).view(-1).float()\ntorch.log(p)",
    "both branches": "if a:\n    p = F.softmax(x, 1)\nelse:\n    p = F.softmax(x, 0)\ntorch.log(p)",
    "a branch that leaves": "def f(x):\n    p = F.softmax(x, 1)\n    if a:\n        p = 1\n        return p\n"
    "    torch.log(p)",
    "a function's result": "def f(x):\n    return F.softmax(x, 1)\ntorch.log(f(x))",
    "a function's argument": "def f(p):\n    return torch.log(p)\nf(F.softmax(x, 1))",
    "a lambda": "f = lambda p: torch.log(p)\nf(F.softmax(x, 1))",
    "a tuple": "a, p = x, F.softmax(x, 1)\ntorch.log(p)",
    "a dict": "d = {'p': F.softmax(x, 1)}\ntorch.log(d['p'])",
    "a layer": "layer = nn.Softmax(dim=1)\ntorch.log(layer(x))",
    "a sequential": "model = nn.Sequential(nn.Linear(3, 3), nn.Softmax(dim=1))\ntorch.log(model(x))",
    "a sequential of a list": "layers = []\nlayers.append(nn.Linear(2, 2))\nlayers += [nn.Softmax(1)]\n"
    "model = nn.Sequential(*layers)\ntorch.log(model(x))",
    "a sequential whose end is known": "layers = []\nfor i in range(3):\n    layers.append(nn.Linear(2, 2))\n"
    "layers.append(nn.Softmax(1))\ntorch.log(nn.Sequential(*layers)(x))",
    "a module of one's own": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Softmax(dim=1)
    def forward(self, x):
        return self.act(x)
net = Net().cuda()
torch.log(net(x))
""",
    "an inherited forward": """
class Base(nn.Module):
    def forward(self, x):
        return self.last(x)
class Net(Base):
    def __init__(self):
        super().__init__()
        self.last = nn.Softmax(1)
torch.log(Net()(x))
""",
    "a wrapper": "model = nn.DataParallel(nn.Sequential(nn.Softmax(1)))\ntorch.log(model(x))",
    "an attribute of an attribute": """
class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Softmax(1))
    def step(self, x):
        p = self.model(x)
        return torch.log(p)
""",
}
HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


@pytest.mark.parametrize("code", FLOWS.values(), ids=FLOWS.keys())
def test_a_softmax_is_followed_through(code: str) -> None:
    assert any(made_by(value, "softmax") for value in logged(HEAD + code))


LOST = {
    "assigned anew": "p = F.softmax(x, 1)\np = x\ntorch.log(p)",
    "on one branch only": "p = x\nif a:\n    p = F.softmax(x, 1)\ntorch.log(p)",
    "another operation": "torch.log(F.softmax(x, 1) + 1e-8)",
    "a list changed in a loop": "layers = [nn.Softmax(1)]\nfor i in range(3):\n    layers.append(make())\n"
    "torch.log(nn.Sequential(*layers)(x))",
    "an attribute set in a branch": """
class Net(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.act = nn.Identity()
        if a:
            self.act = nn.Softmax(dim=1)
    def forward(self, x):
        return torch.log(self.act(x))
""",
}


@pytest.mark.parametrize("code", LOST.values(), ids=LOST.keys())
def test_what_may_be_something_else_is_not_taken_for_certain(code: str) -> None:
    assert not any(made_by(value, "softmax") for value in logged(HEAD + code))


RANGES = {
    "torch.sigmoid(x)": (0.0, 1.0),
    "torch.sigmoid(x) + 1e-3": (1e-3, 1.001),
    "1 - torch.sigmoid(x)": (0.0, 1.0),
    "torch.clamp(x, min=1e-6)": (1e-6, None),
    "x.clamp(0.1, 0.9)": (0.1, 0.9),
    "torch.clamp(torch.sigmoid(x), 1e-4, 1 - 1e-4)": (1e-4, 1 - 1e-4),
    "F.relu(x)": (0.0, None),
    "x ** 2": (0.0, None),
    "x * x": (0.0, None),
    "torch.exp(x)": (0.0, None),
    "torch.maximum(x, torch.ones(3))": (1.0, None),
    "max(x, 1)": (1.0, None),
    "2 * 3 + 4": (10.0, 10.0),
    "-torch.sigmoid(x)": (-1.0, 0.0),
    "unknown(x)": (None, None),
}


@pytest.mark.parametrize(("expression", "expected"), RANGES.items())
def test_a_range_is_known_from_the_operations(expression: str, expected: tuple[float, float]) -> None:
    (value,) = logged(f"{HEAD}def f(x):\n    torch.log({expression})\n")
    for found, wanted in zip((value.lo, value.hi), expected, strict=True):
        assert found == (wanted if wanted is None else pytest.approx(wanted, rel=1e-6))


def test_a_value_of_another_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("from .net import Net\n")
    (tmp_path / "models" / "net.py").write_text(
        "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.softmax(1)\n"
    )
    (value,) = logged("import torch\nfrom models import Net\ntorch.log(Net()(x))", tmp_path)
    assert made_by(value, "softmax")
    code = "import torch, models.net as m\ntorch.log(m.Net()(x))"
    examined = examine(Unit(str(tmp_path / "program.py"), code, "program.py"), Project(tmp_path))
    assert [Path(path).name for path in examined.dependencies] == ["net.py"]


def test_files_that_import_each_other_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nfrom b import g\ndef f(x):\n    return g(x)\n")
    (tmp_path / "b.py").write_text("import torch\nfrom a import f\ndef g(x):\n    return f(x)\n")
    examined = examine(Unit(str(tmp_path / "a.py"), (tmp_path / "a.py").read_text(), "a.py"), Project(tmp_path))
    assert examined.problem is None


def test_a_syntax_error_is_told_with_its_place() -> None:
    examined = examine(Unit("/nowhere/a.py", "import torch\nx = = 1\n", "a.py"), Project(Path("/nowhere")))
    assert examined.problem == "a.py:2:5: syntax error: invalid syntax"


@pytest.mark.parametrize(
    "code",
    [
        "import torch\nx = " + "+".join(["1"] * 20_000),
        "import torch\nx = " + "(" * 150 + "1" + ")" * 150,
        "import torch\n" + "".join(f"{'el' * bool(i)}if x == {i}:\n    pass\n" for i in range(900)),
        "import torch\ny = x" + ".f()" * 900,
        "import torch\n" + "def f():\n    return f()\n" + "f()\n" * 50,
        "import torch\nclass A(A):\n    pass\nA()",
        "import torch\nclass A:\n    def __init__(self):\n        self.a = A()\nA().a.a.a",
        "import torch\n" + "\n".join(f"def f{i}(x):\n    return f{i + 1}(f{i + 1}(x))" for i in range(30)) + "\nf0(1)",
    ],
    ids=["sum", "parentheses", "elif", "chain", "recursion", "own base", "own instance", "doubling"],
)
def test_nothing_written_strangely_makes_the_reading_fail_or_hang(code: str) -> None:
    examined = examine(Unit("/nowhere/a.py", code, "a.py"), Project(Path("/nowhere")))
    assert examined.findings == ()
    assert not examined.broken


def test_steps_are_told_in_order_with_the_loops_around_them() -> None:
    traces: list[Trace] = []
    check = types.ModuleType("sleuth_test_check")

    def trace(one: Trace) -> None:
        traces.append(one)

    trace.__module__ = check.__name__
    check.trace = trace  # type: ignore[attr-defined]
    text = textwrap.dedent(
        """
        import torch
        def clear(optimizer):
            optimizer.zero_grad()
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            model.train()
            for x in data:
                clear(optimizer)
                loss = model(x).sum()
                loss.backward()
                optimizer.step()
        """
    )
    project = Project(Path("/nowhere"))
    file = project.file("/nowhere/a.py", "a.py", text, ast.parse(text))
    Interpreter(file, project, Listeners([("test", check)])).read_all()
    steps = traces[0].of("train", "zero_grad", "backward", "step")
    assert [(step.act, len(step.loops)) for step in steps] == [
        ("train", 1),
        ("zero_grad", 2),
        ("backward", 2),
        ("step", 2),
    ]
    assert steps[1].receiver is steps[3].receiver


def test_a_check_that_throws_is_switched_off_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLEUTH_DEBUG", raising=False)
    broken, sound = types.ModuleType("broken"), types.ModuleType("sound")
    calls: list[Site] = []

    def throws(site: Site) -> None:
        raise ValueError("no")

    broken.OPERATIONS, broken.operation = ("log",), throws  # type: ignore[attr-defined]
    sound.OPERATIONS, sound.operation = ("log",), calls.append  # type: ignore[attr-defined]
    listeners = Listeners([("broken", broken), ("sound", sound)])
    text = "import torch\ntorch.log(x)\ntorch.log(y)\n"
    project = Project(Path("/nowhere"))
    file = project.file("/nowhere/a.py", "a.py", text, ast.parse(text))
    Interpreter(file, project, listeners).read_all()
    assert len(calls) == 2
    assert list(listeners.broken.values()) == [f"{throws.__module__}: ValueError: no"]


WRONG = "import torch\nimport torch.nn.functional as F\ndef f(x, y):\n    return F.cross_entropy(F.softmax(x, 1), y)\n"


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("/p/train.py", "error"),
        ("/p/test_train.py", "note"),
        ("/p/train_test.py", "note"),
        ("/p/tests/train.py", "note"),
        ("/p/testing_ground/train.py", "error"),
        ("/tests/p/train.py", "error"),
    ],
)
def test_what_is_odd_in_test_code_is_a_hint(path: str, severity: str) -> None:
    examined = examine(Unit(path, WRONG, path), Project(Path("/p")))
    assert [finding.severity for finding in examined.findings] == [severity]


@pytest.mark.parametrize("around", ["pytest.raises(RuntimeError)", "self.assertRaises(RuntimeError)"])
def test_what_is_expected_to_fail_is_no_finding(around: str) -> None:
    code = f"import pytest\nimport torch\nx = torch.zeros(3)\nwith {around}:\n    torch.log(x.softmax(0))\n"
    assert examine(Unit("/p/a.py", code, "a.py"), Project(Path("/p"))).findings == ()
