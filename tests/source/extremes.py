"""Programs that no person writes and some generator does: deep, long, wide, circular, or slow to follow."""

from __future__ import annotations

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nx = torch.randn(3)\n"


def _indented(lines: list[str]) -> str:
    return "\n".join("    " * depth + line for depth, line in enumerate(lines))


def deep() -> dict[str, str]:
    """Nested as deeply as Python's parser allows, or nearly so."""
    return {
        "a sum of 2,500 terms": HEAD + "y = " + " + ".join(["x"] * 2500),
        "a sum of 900 calls": HEAD + "y = " + " + ".join(["torch.log(x)"] * 900),
        "a sum to the right": HEAD + "y = " + "x + (" * 90 + "x" + ")" * 90,
        "a product of powers": HEAD + "y = " + " ** ".join(["x"] * 500),
        "an attribute of an attribute of ...": HEAD + "y = x" + ".data" * 900,
        "a method of the result of a method of ...": HEAD + "y = x" + ".relu().log()" * 400,
        "a call of a call of ...": HEAD + "y = x" + "(x)" * 900,
        "an item of an item of ...": HEAD + "y = x" + "[0]" * 900,
        "a call in a call in ...": HEAD + "y = " + "torch.log(" * 90 + "x" + ")" * 90,
        "softmax in softmax in ...": HEAD + "y = " + "F.softmax(" * 80 + "x" + ", dim=0)" * 80,
        "a list in a list in ...": HEAD + "y = " + "[" * 90 + "x" + "]" * 90,
        "a module in a module in ...": HEAD + "y = " + "nn.Sequential(" * 80 + "nn.ReLU()" + ")" * 80,
        "a lambda in a lambda in ...": HEAD + "y = " + "lambda: " * 90 + "x",
        "a condition in a condition in ...": HEAD + "y = " + "x if x else " * 400 + "x",
        "not not not ...": HEAD + "y = " + "not " * 400 + "x",
        "minus minus minus ...": HEAD + "y = " + "-" * 400 + "x",
        "a long chain of and": HEAD + "y = " + " and ".join(["x"] * 3000),
        "a long comparison": HEAD + "y = " + " < ".join(["x"] * 3000),
        "a comprehension of many loops": HEAD + "y = [x" + " for x in x" * 100 + "]",
        "an f-string in an f-string": HEAD + "y = f'{f\"{x}\"}' " * 1 + "\n",
        "a walrus in a walrus in ...": HEAD + "y = " + "(z := " * 90 + "x" + ")" * 90,
        "strings side by side": HEAD + "y = " + " ".join(["'a'"] * 3000),
        "elif, 1,000 times": HEAD + "if x: pass\n" + "elif x: y = torch.log(x)\n" * 1000,
        "loop in loop in ...": HEAD + _indented([*["for i in x:"] * 19, "y = torch.log(x)"]),
        "while in while in ...": HEAD + _indented([*["while x:"] * 18, "x = torch.log(x)"]),
        "if in if in ...": HEAD + _indented([*["if x:"] * 95, "x = torch.log(x)"]),
        "with in with in ...": HEAD + _indented([*["with torch.no_grad():"] * 19, "x = torch.log(x)"]),
        "function in function in ...": HEAD + _indented([*[f"def f{i}(x):" for i in range(95)], "return torch.log(x)"]),
        "class in class in ...": HEAD
        + _indented([*[f"class A{i}(nn.Module):" for i in range(95)], "x = torch.log(x)"]),
        "an assignment to 1,000 names": HEAD + " = ".join(f"y{i}" for i in range(1000)) + " = x",
        "a target in a target in ...": HEAD + "(" * 90 + "y" + ",)" * 90 + " = x",
    }


def long() -> dict[str, str]:
    """Much of the same: what takes the square of a file's length shows here."""
    step = "    optimizer.zero_grad()\n    loss = F.nll_loss(model(x), y)\n    loss.backward()\n    optimizer.step()\n"
    layers = "".join(f"        self.l{i} = nn.Linear(10, 10)\n" for i in range(800))
    calls = "".join(f"        x = torch.relu(self.l{i}(x))\n" for i in range(800))
    return {
        "3,000 assignments": HEAD + "".join(f"x{i + 1} = torch.log(x{i})\n" for i in range(3000)),
        "3,000 times the same name": HEAD + "x = x + torch.log(x)\n" * 3000,
        "1,000 steps without a loop": HEAD + "def train(model, optimizer, x, y):\n" + step * 1000,
        "1,000 loops": HEAD + ("for i in range(3):\n" + step) * 1000,
        "1,000 functions": HEAD + "".join(f"def f{i}(x):\n    return torch.log(x)\n" for i in range(1000)),
        "a model of 800 layers": HEAD
        + f"class Net(nn.Module):\n    def __init__(self):\n{layers}    def forward(self, x):\n{calls}",
        "a list of 30,000 numbers": HEAD + "y = [" + ", ".join(map(str, range(30_000))) + "]",
        "a dictionary of 10,000 entries": HEAD + "y = {" + ", ".join(f"'{i}': {i}" for i in range(10_000)) + "}",
        "a call with 3,000 arguments": HEAD + "y = f(" + ", ".join(["x"] * 3000) + ")",
        "a call with 3,000 keywords": HEAD + "y = f(" + ", ".join(f"a{i}=x" for i in range(3000)) + ")",
        "a line of a million letters": HEAD + "y = '" + "a" * 1_000_000 + "'",
        "10,000 blank lines": HEAD + "\n" * 10_000 + "y = torch.log(x)",
        "10,000 comments": HEAD + "# sleuth: ignore[\n" * 10_000 + "y = torch.log(x)",
        "5,000 imports": "".join(f"import torch.nn as n{i}\nfrom torch import nn as m{i}\n" for i in range(2500)),
        "nn.Sequential of 2,000": HEAD + "model = nn.Sequential(" + "nn.Linear(2, 2), nn.ReLU(), " * 1000 + ")",
    }


def circular() -> dict[str, str]:
    """What refers to itself, or takes ever more ways to the same place."""
    doubled = "".join(f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 1}(x.log())\n" for i in range(40))
    mutual = "def even(x):\n    return odd(x - 1)\ndef odd(x):\n    return even(x - 1)\neven(x)\n"
    branches = "".join(
        f"    if x.a{i}:\n        y = torch.log(y)\n    else:\n        y = torch.exp(y)\n" for i in range(60)
    )
    chain = "class A0(nn.Module): pass\n" + "".join(f"class A{i + 1}(A{i}): pass\n" for i in range(400))
    diamond = "class A0: pass\nclass B0: pass\n" + "".join(
        f"class A{i + 1}(A{i}, B{i}): pass\nclass B{i + 1}(A{i}, B{i}): pass\n" for i in range(30)
    )
    loops = _indented(
        [*[f"for i{n} in range(2):" for n in range(12)], "a, b, c, d = torch.log(b), torch.exp(c), F.relu(d), a"]
    )
    methods = "".join(
        f"    def m{i}(self, x):\n        self.m{(i + 1) % 30}(x)\n        return self.m{(i + 7) % 30}(x)\n"
        for i in range(30)
    )
    return {
        "each function calls the next one twice": HEAD + doubled + "f0(x)\n",
        "two functions call each other": HEAD + mutual,
        "a function calls itself": HEAD + "def f(x, n=[]):\n    return f(f(x), f)\nf(f)\n",
        "a function returns itself": HEAD + "def f(x):\n    return f\nf(x)(x)(x)(x)(x)\n",
        "a lambda calls itself": HEAD + "f = lambda x: f(f(x))\nf(x)\n",
        "the Y combinator": "Y = lambda f: (lambda x: f(lambda v: x(x)(v)))(lambda x: f(lambda v: x(x)(v)))\nY(Y)(Y)\n",
        "omega": "(lambda x: x(x))(lambda x: x(x))\n",
        "60 branches one after another": HEAD + "def f(x, y):\n" + branches + "    return y\n",
        "a chain of 400 classes": HEAD + chain + "A400()(x)\n",
        "diamonds of classes": HEAD + diamond + "A30().f(x)\n",
        "a class derives from itself": HEAD + "class A(A):\n    def f(self): return self.f()\nA().f()\n",
        "two classes derive from each other": HEAD + "class A(B): pass\nclass B(A): pass\nA().f().g()\nA()(x)\n",
        "three classes in a ring": HEAD
        + "class A(C): pass\nclass B(A): pass\nclass C(B):\n    def f(self, x): return super().f(x)\nC().f(x)\n",
        "a class that is its own attribute": HEAD
        + "class A(nn.Module):\n    def __init__(self):\n        self.a = A()\n        self.a.a = self\nA().a.a.a(x)\n",
        "an object in itself": HEAD + "a = []\na.append(a)\na[0] = a\na.a = a\na.a.a.a.a()\nd = {}\nd[d] = d\n",
        "a module in itself": HEAD
        + "m = nn.Sequential()\nm.add_module('m', m)\nm.m = m\nm(x)\nn = nn.Sequential(m, m)\nm.n = n\nn(n(x))\n",
        "names that go round in a loop": HEAD + "a = b = c = d = x\n" + loops + "\n",
        "methods that call each other": HEAD + f"class A(nn.Module):\n{methods}A().m0(x)\n",
        "a value that grows round by round": HEAD
        + "y = x\nwhile True:\n    y = [y, y]\n    y = torch.log(y[0])\n    x = (x, y, x)\n",
        "a decorator that decorates itself": HEAD
        + "def d(f):\n    @d\n    def g(x): return d(g)(x)\n    return g\n@d\n@d\ndef h(x): return h(x)\nh(x)\n",
        "a generator of itself": HEAD + "def g():\n    yield from g()\n    yield g\nfor a in g():\n    a = a()\n",
        "imports of itself": "import program\nfrom program import *\n"
        "from program import program as f\nfrom . import program as g\nf(g(program.f))\n",
        "a name made from itself": HEAD + "x = x\nx = x.x\nx.x = x\ny: y = y\nglobal_ = lambda: global_\n",
    }


def all_of_them() -> dict[str, str]:
    return {**deep(), **long(), **circular()}
