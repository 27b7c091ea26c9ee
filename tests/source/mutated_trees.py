"""Changes to a program's tree: another program, often a senseless one, that can be written down again."""

from __future__ import annotations

import ast
import copy
import random
import re
import sys
from collections.abc import Callable

Mutation = Callable[[ast.Module, random.Random, ast.Module], None]

# Names that mean something to some check, or to Python; some change their length when Python normalises them.
NAMES = (
    "model loss optimizer x y self cls torch nn F np tf keras jax jnp optax key criterion scheduler scaler device data "
    "train forward __init__ _ __ print len super größe 損失 λ ﬁlter ℌ e\u0301 ᵢ match case type async_ T"
).split()
ATTRIBUTES = (
    "zero_grad backward step item view reshape softmax log exp sqrt sum mean cuda to cpu data grad requires_grad eval "
    "train detach clamp norm fit compile numpy float half long unsqueeze transpose append parameters forward apply "
    "state_dict functional Linear CrossEntropyLoss Sequential Dropout optim Adam SGD lr_scheduler load amp random "
    "split at set"
).split()
NUMBERS: list[object] = [0, 1, -1, 2, 10**30, 0.0, 0.1, -0.5, 1e-8, 1e400, 1e-400, 3j, True, None, ...]
STRINGS: list[object] = [
    "",
    "mean",
    "none",
    "softmax",
    "cuda",
    "sparse_categorical_crossentropy",
    "%s {} {0}",
    "a" * 300,
]
ODD_STRINGS: list[object] = ["é漢字", "\n", "\ud83d\ude00", "\\", b"", b"\xff"]
LITERALS = [*NUMBERS, *STRINGS, *ODD_STRINGS]
CALLS = (
    "torch.log torch.nn.Linear nn.CrossEntropyLoss F.softmax F.cross_entropy torch.optim.Adam torch.load nn.Sequential "
    "tf.keras.layers.Dense jax.random.split jnp.log np.exp torch.utils.data.DataLoader optax.adam super range list zip"
).split()
DECORATORS = (
    "staticmethod classmethod property torch.no_grad() torch.jit.script jax.jit tf.function functools.wraps(x) "
    "functools.partial(jax.jit,static_argnums=0) lambda*f:f x[0] x.setter dataclass"
).split()
# Where statements can stand; § stands for them.
WRAPPINGS = """
def inner(x, *args, y=1, **rest):
    §

async def inner(x, /, y, *, z):
    §
    await x

async def inner():
    async with x as y:
        §
    async for z in y:
        pass

for epoch in range(3):
    §
else:
    pass

for i, (x, *rest) in enumerate(loader):
    §
    continue

while True:
    §
    break

while (n := n - 1):
    §

try:
    §
except (ValueError, ImportError) as error:
    raise RuntimeError from error
else:
    pass
finally:
    §

try:
    pass
except:
    §

with open(x) as file, torch.no_grad():
    §

with (torch.autocast('cuda'), torch.enable_grad() as (a, [b, *c])):
    §

match command:
    case [x, *rest] if x > 1:
        §
    case {'loss': loss, **more}:
        pass
    case nn.Linear(a, b=1) | None:
        §
    case _:
        pass

if training:
    §
elif x is None:
    pass
else:
    §

if __name__ == '__main__':
    §

class Inner(nn.Module, metaclass=Meta):
    §

def outer():
    def middle():
        outside = 1
        def inner():
            nonlocal outside
            global model
            §
        return inner
    return middle

def generator():
    §
    x = yield
    yield from x
    return x
""".strip().split("\n\n")
# Statements that are odd but legal; § is a name of the program.
STATEMENTS = """
global §
nonlocal §
del §, §[0], §.data
§ = § = §
§, *§ = §
[§, (§, §)] = §
§: int
§: 'torch.Tensor' = §
§[0]: float = 1.0
§ += §
§ @= §
§[...] = §[1:, ::2, None]
§.§ = lambda *a, b=§, **c: (yield)
import §
from . import §
from ... import § as §
from § import *
import torch.nn as nn, torch as §
from torch.nn import functional as §, Module
import program as §
class §(§): pass
class §(§, §=§, *§, **§): § = §
class A(B): pass
class B(A): pass
def §(§=§): return §(§)
def §(): return §()
§ = [§ for § in § if § for § in §]
§ = {**§, '§': §}
§ = {§: § async for § in §}
§ = (§ := §)
print(*§, **§, sep=§)
assert §, §
raise § from §
return
break
yield §
await §
§ = f'{§!r:>{§}} {{}} {§=}'
§ = '§' f'{§}' r'§'
§ = § if § else § if § else §
§ = not § < § <= § is not § in §
§ = § @ §
§ = -+~§ ** -§
""".strip().splitlines()
if sys.version_info >= (3, 11):
    STATEMENTS.append("try: pass\nexcept* ValueError: pass")
if sys.version_info >= (3, 12):
    STATEMENTS += ["type §[T] = list[T]", "def §[T: int, *Ts, **P](x: T) -> T: return x"]
# What can be made of an expression E; A is a name of the program.
FORMS = """
(A := E) | (lambda: E)() | (lambda A, *b, c=E: A)(E) | [A for A in E] | {A: E for A in E if A} | [*E, E] | {**E} | (E,)
E[E] | E[E:E, ...] | E.A | E(E) | E(*E, **E) | (E if E else E) | E or E | not E | -E | E + E | E @ E | E < E | f'{E}'
print(E) | (yield E) | torch.log(E) | torch.softmax(E, dim=0) | E.sum().item() | torch.no_grad()(lambda: E) | E.cuda()
[E][0] | {'a': E}['a'] | float(E) | np.asarray(E) | jnp.exp(E) | E.detach().numpy() | E / E | E.log() | (A := (A := E))
nn.Sequential(*[E])(E) | F.cross_entropy(E, E) | E.log_softmax(-1) | E.view(-1, 1) | tf.nn.softmax(E) | E.backward()
"""
FORMS_OF_AN_EXPRESSION = [form.strip() for line in FORMS.strip().splitlines() for form in line.split(" | ")]


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    fields = ("body", "orelse", "finalbody")
    found = [getattr(node, field, None) for node in ast.walk(tree) for field in fields]
    return [body for body in found if isinstance(body, list) and body]


def _some(tree: ast.AST, kind: type[ast.AST] | tuple[type[ast.AST], ...], rng: random.Random) -> ast.AST | None:
    found = [node for node in ast.walk(tree) if isinstance(node, kind)]
    return rng.choice(found) if found else None


def _spot(tree: ast.AST, rng: random.Random) -> tuple[list[ast.stmt], int]:
    body = rng.choice(_bodies(tree))
    return body, rng.randrange(len(body))


def _known_names(tree: ast.AST) -> list[str]:
    return sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}) or ["x"]


def _a_name(tree: ast.AST, rng: random.Random) -> str:
    return rng.choice(_known_names(tree) if rng.random() < 0.6 else NAMES)


def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _replace_expression(tree: ast.Module, rng: random.Random, change: Callable[[ast.expr], ast.expr]) -> None:
    """Put another expression in the place of one that is read."""
    places: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            values = enumerate(value) if isinstance(value, list) else [(None, value)]
            places += [(node, field, index) for index, one in values if _can_be_replaced(one, node, field)]
    if not places:
        return
    node, field, index = rng.choice(places)
    if index is None:
        setattr(node, field, change(getattr(node, field)))
    else:
        getattr(node, field)[index] = change(getattr(node, field)[index])


def _can_be_replaced(value: object, parent: ast.AST, field: str) -> bool:
    if not isinstance(value, ast.expr) or isinstance(value, ast.Slice | ast.Starred | ast.FormattedValue):
        return False
    if isinstance(parent, ast.JoinedStr | ast.FormattedValue | ast.pattern | ast.match_case):
        return False
    return isinstance(getattr(value, "ctx", ast.Load()), ast.Load) and field != "annotation"


def rename_everywhere(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    old, new = rng.choice(_known_names(tree)), rng.choice(NAMES)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == old:
            node.id = new
        elif isinstance(node, ast.arg) and node.arg == old:
            node.arg = new
        elif isinstance(node, ast.alias) and (node.asname or node.name) == old:
            node.asname = new
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == old:
            node.name = new


def rename_once(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, ast.Name, rng)
    if isinstance(node, ast.Name):
        node.id = _a_name(tree, rng)


def rename_attribute(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, ast.Attribute, rng)
    if isinstance(node, ast.Attribute):
        other = _some(donor, ast.Attribute, rng)
        node.attr = other.attr if isinstance(other, ast.Attribute) and rng.random() < 0.5 else rng.choice(ATTRIBUTES)


def rename_function(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, (ast.FunctionDef, ast.ClassDef), rng)
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        node.name = rng.choice([*NAMES, *ATTRIBUTES])


def delete_statement(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    body, index = _spot(tree, rng)
    body[index : index + 1] = [] if len(body) > 1 else [ast.Pass()]


def duplicate_statement(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    body, index = _spot(tree, rng)
    body.insert(rng.randrange(len(body) + 1), copy.deepcopy(body[index]))


def swap_statements(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    body, index = _spot(tree, rng)
    other = rng.randrange(len(body))
    body[index], body[other] = body[other], body[index]


def move_statement(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    """Into any other body, perhaps one of its own."""
    body, index = _spot(tree, rng)
    statement = body[index]
    target, where = _spot(tree, rng)
    target.insert(where, copy.deepcopy(statement))


def graft(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    """A piece of another program."""
    source, start = _spot(donor, rng)
    target, where = _spot(tree, rng)
    target[where:where] = copy.deepcopy(source[start : start + rng.randint(1, 4)])


def graft_expression(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    found = [node for node in ast.walk(donor) if isinstance(node, ast.Call | ast.BinOp | ast.Attribute)]
    loaded = [node for node in found if isinstance(getattr(node, "ctx", ast.Load()), ast.Load)]
    if loaded:
        _replace_expression(tree, rng, lambda old: copy.deepcopy(rng.choice(loaded)))


def change_literal(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    _replace_expression(tree, rng, lambda old: ast.Constant(rng.choice(LITERALS)))


def change_a_constant(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, ast.Constant, rng)
    if isinstance(node, ast.Constant) and not isinstance(node.value, str):
        node.value = rng.choice(NUMBERS)


def change_arguments(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    """Swapped, dropped, doubled, starred, or made a keyword."""
    node = _some(tree, ast.Call, rng)
    if not isinstance(node, ast.Call):
        return
    way = rng.randrange(6)
    if way == 0:
        rng.shuffle(node.args)
    elif way == 1 and node.args:
        node.args.pop(rng.randrange(len(node.args)))
    elif way == 2 and node.keywords:
        node.keywords.append(copy.deepcopy(rng.choice(node.keywords)))
    elif way == 3:
        node.args.insert(0, ast.Starred(ast.Name(_a_name(tree, rng), ast.Load()), ast.Load()))
    elif way == 4:
        name = None if rng.random() < 0.3 else rng.choice(["dim", "lr", "weight_decay", "device", "axis", "x", "größe"])
        node.keywords.append(ast.keyword(name, ast.Constant(rng.choice(LITERALS))))
    elif node.args:
        node.keywords.insert(0, ast.keyword(rng.choice(["input", "target", "dim"]), node.args.pop()))


def change_the_call(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, ast.Call, rng)
    if isinstance(node, ast.Call):
        other = _some(donor, ast.Call, rng)
        known = isinstance(other, ast.Call) and rng.random() < 0.5
        node.func = copy.deepcopy(other.func) if known else ast.parse(rng.choice(CALLS), mode="eval").body


def change_operator(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, (ast.BinOp, ast.AugAssign), rng)
    if isinstance(node, ast.BinOp | ast.AugAssign):
        node.op = rng.choice([ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow, ast.FloorDiv, ast.LShift])()


def nest_statements(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    body, start = _spot(tree, rng)
    end = rng.randint(start + 1, min(start + 6, len(body)))
    for _ in range(rng.choice([1, 1, 2, 5])):
        inside = "\n".join(map(ast.unparse, map(ast.fix_missing_locations, body[start:end])))
        lines = []
        for line in rng.choice(WRAPPINGS).split("\n"):
            indent, here, _ = line.partition("§")
            lines += [indent + one for one in inside.split("\n")] if here and not indent.strip() else [line]
        body[start:end] = _parsed("\n".join(lines))
        end = start + 1


def add_statement(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    names = _known_names(tree)
    text = re.sub("§", lambda _: rng.choice(names), rng.choice(STATEMENTS))
    body, index = _spot(tree, rng)
    body[index:index] = _parsed(text)


def drop_import(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, (ast.Import, ast.ImportFrom), rng)
    for body in _bodies(tree):
        if node in body:
            body[body.index(node)] = ast.Pass()  # type: ignore[arg-type]


def alias_import(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, ast.alias, rng)
    if isinstance(node, ast.alias) and node.name != "*":
        node.asname = _a_name(tree, rng)


def decorate(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef), rng)
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        text = rng.choice(DECORATORS).replace("*", " ")
        node.decorator_list.insert(0, ast.parse(text, mode="eval").body)


def call_itself(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, ast.FunctionDef, rng)
    if isinstance(node, ast.FunctionDef):
        names = ", ".join(argument.arg for argument in node.args.args)
        call = f"self.{node.name}({names})" if "self" in names else f"{node.name}({names})"
        node.body.insert(rng.randrange(len(node.body) + 1), _parsed(f"{rng.choice(NAMES)} = {call}")[0])


def redefine(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    """A class once more, with other bases: perhaps itself, perhaps one that derives from it."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    if not classes:
        return
    again = copy.deepcopy(rng.choice(classes))
    again.bases = [ast.Name(rng.choice(classes).name, ast.Load()) for _ in range(rng.randint(0, 3))]
    tree.body.insert(rng.randrange(len(tree.body) + 1), again)


def wrap_expression(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    names = _known_names(tree)
    form = re.sub(r"\bA\b", lambda _: rng.choice(names), rng.choice(FORMS_OF_AN_EXPRESSION))

    def wrapped(old: ast.expr) -> ast.expr:
        class Put(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                return copy.deepcopy(old) if node.id == "E" else node

        return Put().visit(ast.parse(form, mode="eval").body)  # type: ignore[no-any-return]

    _replace_expression(tree, rng, wrapped)


def change_target(tree: ast.Module, rng: random.Random, donor: ast.Module) -> None:
    node = _some(tree, ast.Assign, rng)
    if not isinstance(node, ast.Assign):
        return
    name = _a_name(tree, rng)
    forms = [
        f"{name}, *rest = 0",
        f"[{name}, b] = 0",
        f"{name}.x = 0",
        f"{name}[0] = 0",
        f"{name} = again = 0",
        f"(({name})) = 0",
    ]
    (made,) = _parsed(rng.choice(forms))
    assert isinstance(made, ast.Assign)
    node.targets = made.targets


MUTATIONS: list[Mutation] = [
    *(rename_everywhere, rename_once, rename_attribute, rename_function, delete_statement, duplicate_statement),
    *(swap_statements, move_statement, graft, graft, graft_expression, change_literal, change_a_constant),
    *(
        change_arguments,
        change_the_call,
        change_operator,
        nest_statements,
        nest_statements,
        add_statement,
        add_statement,
    ),
    *(drop_import, alias_import, decorate, call_itself, redefine, wrap_expression, wrap_expression, change_target),
]
