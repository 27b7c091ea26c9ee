"""Names, arguments and methods that libraries changed: sound tables, uses judged and rewritten rightly."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import textwrap
from importlib import metadata
from pathlib import Path

import pytest

from sleuth.findings import Edit, Finding
from sleuth.source import changes
from sleuth.source.changes.standing import Standing, standing
from sleuth.source.engine import Unit, examine
from sleuth.source.project import Project
from sleuth.source.versions import Allowed, release, specifier

MINE = frozenset(
    "removed-api deprecated-api renamed-argument argument-now-required concat-axis-first index-of-scalar-tensor "
    "volatile-variable unsafe-load whole-model-load keras-file-ending renamed-history-key".split()
)
LIBRARIES = ("flax", "jax", "keras", "lightning", "numpy", "tensorflow", "torch", "torchvision", "transformers")


def entries():
    found = {id(change): change for change in changes.names().values()}
    found |= {id(one): one for by_name in changes.arguments().values() for many in by_name.values() for one in many}
    found |= {id(change): change for change in changes.all_methods().values()}
    found |= {id(change): change for change in (*changes.hooks(), *changes.needed().values())}
    return list(found.values())


def examined(code: str, folder: Path = Path("/nowhere"), **targets: str) -> list[Finding]:
    project = Project(folder)
    project.targets = targets
    unit = Unit(str(folder / "snippet.py"), textwrap.dedent(code).lstrip("\n"), "snippet.py")
    result = examine(unit, project, select=MINE)
    assert result.problem is None
    assert not result.broken, result.broken
    return list(result.findings)


def said(code: str, folder: Path = Path("/nowhere")) -> list[tuple[str, str]]:
    return [(finding.diagnosis, finding.severity) for finding in examined(code, folder)]


def mended(code: str, *, unsafe: bool = False) -> str:
    """The code after the fixes of one round."""
    text = textwrap.dedent(code).lstrip("\n")
    edits: list[Edit] = []
    for finding in examined(text):
        for fix in finding.fixes[:1]:
            if fix.safe or unsafe:
                edits += fix.edits
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda one: (one.line, one.column), reverse=True):
        first, last = starts[edit.line - 1] + edit.column - 1, starts[edit.end_line - 1] + edit.end_column - 1
        text = text[:first] + edit.replacement + text[last:]
    ast.parse(text)
    return text


def test_there_are_hundreds_of_changes_of_nine_libraries():
    assert {change.library for change in entries()} == set(LIBRARIES)
    assert len(entries()) > 1000


def test_every_change_names_its_source_and_a_version():
    for change in entries():
        assert change.source.strip(), change.old
        assert change.since or change.removed, change.old
        assert change.new or change.advice or getattr(change, "drop", False), change.old


def test_what_is_removed_was_not_deprecated_later():
    for change in entries():
        if change.since and change.removed:
            assert change.since <= change.removed, change.old
        if change.back:
            assert change.back > (change.removed or change.since), change.old


def test_an_old_name_is_never_the_new_one_of_another():
    gone = {
        change.old for change in changes.names().values() if change.removed and not change.back and not change.called
    }
    assert [change.old for change in changes.names().values() if change.new in gone and change.rewrite] == []


ASK = """
import importlib, json, os, sys, warnings
warnings.simplefilter("ignore")
os.environ["KERAS_BACKEND"] = "jax"
def there(name):
    parts = name.split(".")
    thing = importlib.import_module(parts[0])
    for count, part in enumerate(parts[1:], 2):
        try:
            thing = getattr(thing, part)
        except AttributeError:
            try:
                thing = importlib.import_module(".".join(parts[:count]))
            except Exception:
                return False
    return True
print(json.dumps({name: there(name) for name in json.load(sys.stdin)}))
"""


def present(names: list[str]) -> dict[str, bool]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    asked = subprocess.run(
        [sys.executable, "-c", ASK], input=json.dumps(names), capture_output=True, text=True, env=environment
    )
    assert asked.returncode == 0, asked.stderr[-2000:]
    return json.loads(asked.stdout.strip().splitlines()[-1])


# Kept by their libraries as functions that only raise an error.
RAISE = frozenset(
    "torch.symeig torch.eig torch.lstsq torch.solve torch.matrix_rank torch.cholesky torch.qr".split()
) | {
    f"keras.optimizers.legacy.{name}"
    for name in "Adam SGD RMSprop Adagrad Adadelta Adamax Ftrl Nadam Optimizer".split()
}


@pytest.mark.parametrize("library", ["torch", "numpy", "jax", "keras", "lightning"])
def test_the_installed_library_agrees_with_the_table(library):
    try:
        installed = release(metadata.version(library))
    except metadata.PackageNotFoundError:
        pytest.skip(f"{library} is not installed")
    table = [change for name, change in changes.names().items() if change.library == library and name == change.old]
    table = [change for change in table if not change.old.startswith(("functorch", "tensorflow"))]
    prefix = "pytorch_" if library == "lightning" else ""
    now = Allowed(installed, installed)
    wanted = {
        change.old: f"{prefix}{change.new}"
        for change in table
        if change.new.startswith(f"{library}.") and now.always_has(change.arrived or ()) and "fabric" not in change.new
    }
    there = present([*(f"{prefix}{change.old}" for change in table), *wanted.values()])
    gone = [change.old for change in table if standing(change, now) is Standing.GONE and not change.called]
    assert [old for old in gone if there[f"{prefix}{old}"] and old not in RAISE] == []
    assert [f"{old} -> {new}" for old, new in wanted.items() if not there[new]] == []


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ("==1.13", Standing.DEPRECATED),
        ("==2.0", Standing.GONE),
        (">=2.1", Standing.GONE),
        (">=1.9", Standing.PARTLY_GONE),
        (">=1.8,<2.0", Standing.DEPRECATED),
        ("==1.8", Standing.FINE),
        (">=1.5,<1.12", Standing.FINE),
    ],
)
def test_a_name_deprecated_in_1_9_and_removed_in_2_0(allowed, expected):
    change = changes.Rename("torch", "torch.symeig", "x", new="y", since=(1, 9), removed=(2,), arrived=(1, 8))
    assert standing(change, specifier(allowed)) is expected


def test_a_name_that_came_back_is_fine_again():
    change = changes.names()["numpy.bool"]
    assert standing(change, specifier("==1.26")) is Standing.GONE
    assert standing(change, specifier(">=2.0")) is Standing.FINE
    assert standing(change, specifier(">=1.24")) is Standing.PARTLY_GONE
    assert standing(change, Allowed()) is Standing.FINE


REWRITES = [
    (
        "import torch\nwith torch.cuda.amp.autocast():\n    pass\n",
        'import torch\nwith torch.amp.autocast("cuda"):\n    pass\n',
    ),
    (
        "import torch as th\nwith th.cuda.amp.autocast(use, dtype=th.float16):\n    pass\n",
        'import torch as th\nwith th.amp.autocast("cuda", enabled=use, dtype=th.float16):\n    pass\n',
    ),
    (
        "from torch.cuda.amp import GradScaler, autocast\nscaler = GradScaler()\nwith autocast(enabled=False):\n   "
        " f()\n",
        "from torch.amp import GradScaler, autocast\n"
        'scaler = GradScaler("cuda")\nwith autocast("cuda", enabled=False):\n    f()\n',
    ),
    (
        "from torch.cuda.amp import custom_fwd\n@custom_fwd\ndef forward(ctx, x):\n    return x\n",
        'from torch.amp import custom_fwd\n@custom_fwd(device_type="cuda")\ndef forward(ctx, x):\n    return x\n',
    ),
    ("from torch import nn\nnn.init.kaiming_normal(w)\n", "from torch import nn\nnn.init.kaiming_normal_(w)\n"),
    (
        "from torch.nn.init import xavier_normal as init\ninit(w)\n",
        "from torch.nn.init import xavier_normal_ as init\ninit(w)\n",
    ),
    ("import torch\nq, r = torch.qr(a)\n", "import torch\nq, r = torch.linalg.qr(a)\n"),
    ("import torch\nq, r = torch.qr(a, some=False)\n", "import torch\nq, r = torch.qr(a, some=False)\n"),
    ("import torch\nx = torch.chain_matmul(a, b, c)\n", "import torch\nx = torch.linalg.multi_dot([a, b, c])\n"),
    ("import torch\nif torch.has_cuda:\n    pass\n", "import torch\nif torch.backends.cuda.is_built():\n    pass\n"),
    (
        "from torch._six import container_abcs, inf\n",
        "from collections import abc as container_abcs\nfrom torch import inf\n",
    ),
    (
        "from torch import nn\nloss = nn.MSELoss(size_average=False)\n",
        'from torch import nn\nloss = nn.MSELoss(reduction="sum")\n',
    ),
    (
        "from torch import nn\nloss = nn.MSELoss(size_average=flag)\n",
        "from torch import nn\nloss = nn.MSELoss(size_average=flag)\n",
    ),
    (
        "from torch import nn\nloss = nn.MSELoss(size_average=False, reduce=False)\n",
        "from torch import nn\nloss = nn.MSELoss(size_average=False, reduce=False)\n",
    ),
    (
        "import torch\ns = torch.optim.lr_scheduler.StepLR(o, 3, verbose=True, gamma=0.5)\n",
        "import torch\ns = torch.optim.lr_scheduler.StepLR(o, 3, gamma=0.5)\n",
    ),
    (
        "import torch\ns = torch.stft(x, 400, window=w)\n",
        "import torch\ns = torch.view_as_real(torch.stft(x, 400, window=w, return_complex=True))\n",
    ),
    ("import torch\na, b = torch.meshgrid(x, y)\n", 'import torch\na, b = torch.meshgrid(x, y, indexing="ij")\n'),
    (
        "from torchvision import models\nm = models.resnet50(pretrained=True, progress=False)\n",
        'from torchvision import models\nm = models.resnet50(weights="IMAGENET1K_V1", progress=False)\n',
    ),
    (
        "from torchvision import models\nm = models.vgg16(False)\n",
        "from torchvision import models\nm = models.vgg16(weights=None)\n",
    ),
    (
        "import torchvision\nt = torchvision.transforms.RandomSizedCrop(32)\n",
        "import torchvision\nt = torchvision.transforms.RandomResizedCrop(32)\n",
    ),
    (
        "import numpy as np\nx = np.zeros(3, np.float) - np.Inf\n",
        "import numpy as np\nx = np.zeros(3, float) - np.inf\n",
    ),
    ("import numpy\nx = numpy.asscalar(a + b)\n", "import numpy\nx = (a + b).item()\n"),
    ("from numpy import float\n", "from numpy import float\n"),
    ("from numpy import product, zeros\n", "from numpy import zeros\nfrom numpy import prod as product\n"),
    ("import tensorflow as tf\nx = tf.to_float(y)\n", "import tensorflow as tf\nx = tf.cast(y, tf.float32)\n"),
    ("import tensorflow as tf\nx = tf.concat(1, [a, b])\n", "import tensorflow as tf\nx = tf.concat([a, b], 1)\n"),
    (
        "import tensorflow as tf\nx = tf.reduce_sum(y, keep_dims=True)\n",
        "import tensorflow as tf\nx = tf.reduce_sum(y, keepdims=True)\n",
    ),
    ("import jax\nx = jax.tree_map(f, t)\n", "import jax\nx = jax.tree.map(f, t)\n"),
    ("from jax import tree_map\nx = tree_map(f, t)\n", "from jax.tree import map as tree_map\nx = tree_map(f, t)\n"),
    ("from jax.config import config\n", "from jax import config\n"),
    ("import jax.experimental.stax as stax\n", "import jax.example_libraries.stax as stax\n"),
    (
        "import jax.numpy as jnp\ndef f(x: int) -> None:\n    y = jnp.product(x)\n",
        "import jax.numpy as jnp\ndef f(x: int) -> None:\n    y = jnp.prod(x)\n",
    ),
    ("from keras.layers.core import Dense, Dropout\n", "from keras.layers import Dense, Dropout\n"),
    ("from keras.utils import np_utils\n", "from keras import utils as np_utils\n"),
    (
        "from tensorflow.keras.optimizers import Adam\no = Adam(lr=0.1)\n",
        "from tensorflow.keras.optimizers import Adam\no = Adam(learning_rate=0.1)\n",
    ),
    (
        "from keras.layers import Convolution2D\nc = Convolution2D(8, 3, border_mode='same', dim_ordering='th')\n",
        "from keras.layers import Convolution2D\n"
        "c = Convolution2D(8, 3, padding='same', data_format=\"channels_first\")\n",
    ),
    (
        "import transformers\na = transformers.TrainingArguments('out', evaluation_strategy='epoch')\n",
        "import transformers\na = transformers.TrainingArguments('out', eval_strategy='epoch')\n",
    ),
    (
        "from transformers import AutoModel\nm = AutoModel.from_pretrained('x', torch_dtype='auto')\n",
        "from transformers import AutoModel\nm = AutoModel.from_pretrained('x', dtype='auto')\n",
    ),
    (
        "import pytorch_lightning as pl\nfrom pytorch_lightning.profiler import SimpleProfiler\n",
        "import pytorch_lightning as pl\nfrom pytorch_lightning.profilers import SimpleProfiler\n",
    ),
    (
        "from torch.utils.data import DataLoader\nit = iter(DataLoader(data))\nx = it.next()\n",
        "from torch.utils.data import DataLoader\nit = iter(DataLoader(data))\nx = next(it)\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), REWRITES, ids=[after.splitlines()[-1][:50] for _, after in REWRITES])
def test_a_safe_fix_writes_the_new_way(before, after):
    assert mended(before) == after


@pytest.mark.parametrize(("before", "after"), REWRITES, ids=[after.splitlines()[-1][:50] for _, after in REWRITES])
def test_a_rewritten_program_is_left_alone(before, after):
    if before != after:
        assert said(after) == []


def test_unsafe_fixes_are_kept_apart():
    code = "import torch\nw, v = torch.symeig(a, eigenvectors=True)\n"
    assert mended(code) == code
    assert mended(code, unsafe=True) == 'import torch\nw, v = torch.linalg.eigh(a, UPLO="U")\n'


def test_names_of_one_import_are_told_of_together():
    found = examined("from torch.cuda.amp import autocast, GradScaler\n")
    assert [finding.title for finding in found] == [
        "torch.cuda.amp.autocast and torch.cuda.amp.GradScaler are deprecated since torch 2.4"
    ]


def test_a_finding_says_what_the_project_allows(tmp_path):
    (tmp_path / "requirements.txt").write_text("numpy>=1.24\n")
    (found,) = examined("import numpy as np\nx = np.float(1)\n", tmp_path)
    assert found.evidence[0].value == ">=1.24 (requirements.txt)"
    assert found.severity == "error"


GUARDED = [
    "try:\n    from torch._six import inf\nexcept ImportError:\n    from math import inf\n",
    "try:\n    from torch.amp import autocast\nexcept ImportError:\n    from torch.cuda.amp import autocast\n",
    "import torch\nif hasattr(torch, 'symeig'):\n    torch.symeig(a)\nelse:\n    torch.linalg.eigh(a)\n",
    "import torch\nfrom packaging import version\nif version.parse(torch.__version__) < old:\n    torch.qr(a)\n",
    "import torch\nOLD = torch.__version__ < '2'\nif OLD:\n    torch.symeig(a)\n",
    "import torch\nx = torch.amp.autocast if hasattr(torch, 'amp') else torch.cuda.amp.autocast\n",
    "import torch\ndef f(a):\n    if is_torch_at_least_version('1.9'):\n        return new(a)\n    return "
    "torch.qr(a)\n",
    "from torch import nn\nnorm = nn.utils.weight_norm\nif hasattr(nn, 'x'):\n    norm = nn.utils.parametrizations.x\n",
    "import torch\ndef load_legacy(a):\n    return torch.symeig(a)\n",
    "from torch.optim.lr_scheduler import StepLR\n"
    "try:\n    s = StepLR(o, 3, verbose=True)\nexcept TypeError:\n    s = StepLR(o, 3)\n",
    "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\nx = tf.placeholder(tf.float32)\n",
    "import tensorflow as tf\ns = tf.compat.v1.Session()\n",
    "import tensorflow as tf\ntf.disable_v2_behavior()\nx = tf.placeholder(tf.float32)\n",
    "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nfrom tensorflow.keras.optimizers import SGD\no = SGD(lr=1)\n",
    "import tf_keras as keras\no = keras.optimizers.Adam(lr=1)\n",
    "class np:\n    float = float\nx = np.float\n",
    "def fit(model, **kw):\n    model.fit(1, nb_epoch=3)\n",
    "from sklearn.linear_model import LogisticRegression\nm = LogisticRegression()\nm.predict_proba(x)\n",
    "import numpy as np\nx = np.bool\n",
    "from torch.fft import fft, ifft\ny = ifft(fft(x))\n",
    "from torch import nn\nTABLE = {'uniform': nn.init.uniform}\n",
    "import keras\nd = keras.layers.Dense(3, input_dim=4)\n",
]


@pytest.mark.parametrize("code", GUARDED)
def test_code_with_a_way_out_is_left_alone(code):
    assert said(code) == []


def test_a_module_that_was_a_function_is_not_called():
    assert said("import torch\ny = torch.fft(x, 1)\n") == [("removed-api", "error")]


def test_a_whole_program_in_a_try_is_still_read():
    body = "    a = 1\n    b = 2\n    c = 3\n    d = 4\n    x = np.float(a)\n"
    code = f"import numpy as np\ntry:\n{body}except Exception:\n    raise\n"
    assert said(code) == [("removed-api", "error")]


@pytest.mark.parametrize(
    ("pins", "expected"),
    [
        ("torch==1.12", []),
        ("torch>=2.4", [("deprecated-api", "warning")]),
        ("torch>=2.0", []),
        ("torch<2.4", []),
        ("torch", [("deprecated-api", "warning")]),
    ],
)
def test_a_deprecation_is_told_where_every_allowed_version_has_the_new_way(tmp_path, pins, expected):
    (tmp_path / "requirements.txt").write_text(pins + "\n")
    assert said("import torch\ns = torch.cuda.amp.GradScaler()\n", tmp_path) == expected


@pytest.mark.parametrize(
    ("pins", "expected"),
    [
        ("tensorflow==1.15", []),
        ("tensorflow<2", []),
        ("tensorflow>=1.4", [("removed-api", "warning")]),
        ("tensorflow>=2.4", [("removed-api", "error")]),
    ],
)
def test_a_removal_is_told_by_the_newest_allowed_version(tmp_path, pins, expected):
    (tmp_path / "requirements.txt").write_text(pins + "\n")
    assert said("import tensorflow as tf\ns = tf.Session()\n", tmp_path) == expected


def test_no_edit_is_offered_that_an_allowed_version_cannot_run(tmp_path):
    (tmp_path / "requirements.txt").write_text("jax>=0.3\n")
    (found,) = examined("import jax\nx = jax.tree_map(f, t)\n", tmp_path)
    assert (found.severity, found.fixes[0].edits, found.fixes[0].safe) == ("warning", (), False)


def test_a_hook_that_lightning_no_longer_calls():
    code = """
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def training_epoch_end(self, outputs):
                pass
        """
    (found,) = examined(code)
    assert (found.diagnosis, found.place and found.place.line) == ("removed-api", 4)


def test_a_trainer_that_is_given_a_strategy_as_accelerator():
    code = "import pytorch_lightning as pl\nt = pl.Trainer(accelerator='ddp')\n"
    assert said(code) == [("renamed-argument", "error")]
    assert said("import pytorch_lightning as pl\nt = pl.Trainer(accelerator='gpu')\n") == []


@pytest.mark.parametrize(
    "code",
    [
        "loss = criterion(out, y)\nloss.backward()\nprint(loss.data[0])\n",
        "from torch import nn\ncriterion = nn.NLLLoss()\nloss = criterion(out, y)\nprint(loss[0])\n",
        "import torch.nn.functional as F\nx = F.mse_loss(a, b).data[0]\n",
    ],
)
def test_an_index_into_a_loss(code):
    assert said(code) == [("index-of-scalar-tensor", "error")]


@pytest.mark.parametrize(
    "code",
    [
        "x = weights.data[0]\n",
        "from torch import nn\ncriterion = nn.NLLLoss(reduction='none')\nloss = criterion(out, y)\nprint(loss[0])\n",
        "loss = f(x)\nloss.backward(g)\nprint(loss.data[0])\n",
        "from torch import nn\ncriterion = nn.NLLLoss()\nloss = criterion(out, y)\nlosses = [loss]\nprint(losses[0])\n",
    ],
)
def test_an_index_into_other_things(code):
    assert said(code) == []


@pytest.mark.parametrize(
    ("pins", "code", "expected"),
    [
        ("torch>=2.0", "x = torch.load(p)\n", [("unsafe-load", "warning")]),
        ("torch>=2.0", "x = torch.load(p, weights_only=False)\n", []),
        ("torch>=2.0", "x = torch.load(p, **kw)\n", []),
        ("torch>=2.0", "torch.save(y, q)\nx = torch.load(p)\n", [("unsafe-load", "note")]),
        ("torch>=2.6", "x = torch.load(p)\n", []),
        ("torch>=1.8", "x = torch.load(p)\n", []),
        ("torch", "x = torch.load(p)\n", []),
        (
            "torch>=2.0",
            "try:\n    x = torch.load(p, weights_only=True)\nexcept TypeError:\n    x = torch.load(p)\n",
            [],
        ),
    ],
)
def test_a_load_is_unsafe_where_the_default_was(tmp_path, pins, code, expected):
    (tmp_path / "requirements.txt").write_text(pins + "\n")
    assert said("import torch\n" + code, tmp_path) == expected


@pytest.mark.parametrize(
    ("line", "fine"),
    [
        ("model.save_weights('w.h5')", False),
        ("model.save_weights('w.weights.h5')", True),
        ("model.save('folder')", False),
        ("model.save('m.keras')", True),
        ("model.save('m.h5')", True),
        ("model.save(path)", True),
        ("keras.callbacks.ModelCheckpoint('best.ckpt')", False),
        ("keras.callbacks.ModelCheckpoint('best.keras')", True),
        ("keras.callbacks.ModelCheckpoint('w.h5', save_weights_only=flag)", True),
        ("image.save('folder')", True),
    ],
)
def test_the_endings_that_keras_3_takes(line, fine):
    code = f"import keras\nmodel = keras.Sequential([keras.layers.Dense(1)])\n{line}\n"
    assert said(code) == ([] if fine else [("keras-file-ending", "error")])
