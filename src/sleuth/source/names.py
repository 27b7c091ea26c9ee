"""Names of frameworks: one canonical dotted name for each thing, however it was imported."""

from __future__ import annotations

import math
from functools import cache
from typing import Final

# The packages whose names we follow; all others are unknown to us.
ROOTS: Final = frozenset(
    "torch torchvision torchaudio numpy jax jaxlib tensorflow keras flax optax haiku equinox lightning "
    "pytorch_lightning "
    "transformers accelerate sklearn pandas scipy math random os sys copy itertools functools tqdm PIL cv2 "
    "functorch apex "
    "tensorflow_addons tensorflow_probability timm onnx onnxruntime theano tf_keras packaging warnings time "
    "multiprocessing "
    "chex collections contextlib dataclasses builtins abc typing datasets wandb".split()
)
_UNIFIED: Final = (
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow.compat.v1.", "tensorflow."),
    ("tensorflow.python.keras.", "keras."),
    ("tensorflow.keras.", "keras."),
    ("tf_keras.", "keras."),
    ("keras.api.", "keras."),
    ("keras.src.", "keras."),
    ("pytorch_lightning.", "lightning."),
    ("lightning.pytorch.", "lightning."),
    ("torch.functional.", "torch."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.nn.parameter.", "torch.nn."),
    ("torch.cuda.amp.grad_scaler.", "torch.cuda.amp."),
    ("tqdm.auto.", "tqdm."),
    ("tqdm.notebook.", "tqdm."),
)
_WHOLE: Final = {
    "tensorflow.compat.v1": "tensorflow",
    "tensorflow.keras": "keras",
    "tf_keras": "keras",
    "tensorflow.python.keras": "keras",
    "pytorch_lightning": "lightning",
    "lightning.pytorch": "lightning",
    "torch.Tensor.log": "tensor.log",
    "keras.models.Sequential": "keras.Sequential",
    "keras.models.Model": "keras.Model",
    "keras.engine.training.Model": "keras.Model",
    "keras.layers.Input": "keras.Input",
    "keras.layers.core.Dense": "keras.layers.Dense",
    "keras.utils.np_utils.to_categorical": "keras.utils.to_categorical",
    "torch.optim.Optimizer": "torch.optim.Optimizer",
    "torch.nn.Parameter": "torch.nn.Parameter",
    "lightning.core.LightningModule": "lightning.LightningModule",
    "flax.linen.Module": "flax.linen.Module",
    "optax.losses": "optax",
}


@cache
def canonical(dotted: str) -> str:
    """The one name of a thing that can be imported from several places."""
    for prefix, unified in _UNIFIED:
        if dotted.startswith(prefix):
            dotted = unified + dotted[len(prefix) :]
    parts = dotted.split(".")
    if len(parts) > 3 and parts[:3] == ["torch", "nn", "modules"]:
        # torch.nn.modules.loss.MSELoss is torch.nn.MSELoss; torch.nn.modules.loss itself stays.
        if parts[-1][:1].isupper():
            dotted = f"torch.nn.{parts[-1]}"
    elif len(parts) == 4 and parts[:2] == ["torch", "optim"] and parts[2] != "lr_scheduler" and parts[-1][:1].isupper():
        dotted = f"torch.optim.{parts[-1]}"
    elif len(parts) == 4 and parts[:2] == ["keras", "layers"] and parts[-1][:1].isupper():
        dotted = f"keras.layers.{parts[-1]}"
    elif len(parts) == 4 and parts[:2] == ["keras", "optimizers"] and parts[-1][:1].isupper():
        dotted = f"keras.optimizers.{parts[-1]}"
    return _WHOLE.get(dotted, dotted)


# Numbers that frameworks have a name for.
CONSTANTS: Final = {
    f"{package}.{name}": value
    for package in ("math", "numpy", "torch", "jax.numpy")
    for name, value in (("inf", math.inf), ("nan", math.nan), ("pi", math.pi), ("e", math.e))
}
# Functions without arguments that give a number.
GIVE_NUMBERS: Final = {"keras.backend.epsilon": 1e-7, "keras.config.epsilon": 1e-7}

_KINDS_OF_CLASSES: Final = (
    ("torch.optim.lr_scheduler.", "scheduler"),
    ("torch.optim.", "optimizer"),
    ("torch.nn.utils.", "?"),
    ("torch.nn.init.", "?"),
    ("torch.nn.functional.", "?"),
    ("torch.nn.parallel.", "module"),
    ("torch.nn.", "module"),
    ("keras.layers.", "module"),
    ("keras.applications.", "module"),
    ("keras.optimizers.schedules.", "scheduler"),
    ("keras.optimizers.", "optimizer"),
    ("keras.losses.", "module"),
    ("keras.callbacks.", "?"),
    ("tensorflow.train.", "optimizer"),
    ("torchvision.models.", "module"),
    ("torchvision.datasets.", "dataset"),
    ("flax.linen.", "module"),
)
_KINDS_OF_NAMES: Final = {
    "torch.nn.Parameter": "tensor",
    "torch.nn.UninitializedParameter": "tensor",
    "torch.nn.Buffer": "tensor",
    "torch.Tensor": "tensor",
    "torch.autograd.Variable": "tensor",
    "torch.FloatTensor": "tensor",
    "torch.LongTensor": "tensor",
    "torch.cuda.FloatTensor": "tensor",
    "torch.utils.data.DataLoader": "loader",
    "torch_geometric.loader.DataLoader": "loader",
    "torch.utils.data.TensorDataset": "dataset",
    "torch.utils.data.Subset": "dataset",
    "torch.utils.data.ConcatDataset": "dataset",
    "torch.utils.data.Dataset": "dataset",
    "torch.amp.GradScaler": "scaler",
    "torch.cuda.amp.GradScaler": "scaler",
    "torch.device": "device",
    "torch.optim.SWALR": "scheduler",
    "torch.optim.AveragedModel": "module",
    "torch.Generator": "?",
    "keras.Sequential": "module",
    "keras.Model": "module",
    "keras.Input": "tensor",
    "keras.Variable": "tensor",
    "keras.backend.epsilon": "number",
    "keras.config.epsilon": "number",
    "tensorflow.Variable": "tensor",
    "tensorflow.get_variable": "tensor",
    "tensorflow.placeholder": "tensor",
    "tensorflow.compat.v1.placeholder": "tensor",
    "jax.random.PRNGKey": "key",
    "jax.random.key": "key",
    "jax.random.split": "key",
    "jax.random.fold_in": "key",
    "torch.compile": "module",
    "torch.jit.script": "module",
    "torch.load": "?",
    "torch.save": "none",
    "torch.manual_seed": "?",
    "torch.is_tensor": "number",
    "torch.numel": "number",
    "torch.no_grad": "?",
    "torch.enable_grad": "?",
    "torch.inference_mode": "?",
    "torch.set_grad_enabled": "?",
    "torch.autocast": "?",
    "torch.finfo": "?",
    "torch.iinfo": "?",
    "torch.Size": "sequence",
    "torch.get_default_dtype": "dtype",
}
DTYPES: Final = {
    "float16": "float16",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32",
    "float": "float32",
    "float64": "float64",
    "double": "float64",
    "int8": "int8",
    "uint8": "uint8",
    "int16": "int16",
    "short": "int16",
    "int32": "int32",
    "int": "int32",
    "int64": "int64",
    "long": "int64",
    "bool": "bool",
}
_HOLD_DTYPES: Final = frozenset({"torch", "numpy", "jax.numpy", "tensorflow"})
# Lower-case names below these are functions that give tensors, unless said otherwise.
_GIVE_TENSORS: Final = frozenset(
    "torch torch.nn.functional torch.special torch.linalg torch.fft torch.sparse jax.numpy jax.nn jax.lax jax.random "
    "jax.scipy.special tensorflow tensorflow.math tensorflow.nn tensorflow.random tensorflow.image tensorflow.linalg "
    "tensorflow.layers tensorflow.contrib.layers tensorflow.contrib.slim "
    "keras.ops keras.backend keras.random".split()
)
_GIVE_OTHER: Final = frozenset(
    "set_default_dtype get_rng_state set_rng_state seed initial_seed set_num_threads get_num_threads set_printoptions "
    "use_deterministic_algorithms set_float32_matmul_precision is_grad_enabled is_floating_point is_complex typename "
    "compile load save function device name_scope control_dependencies Graph Session get_default_graph "
    "executing_eagerly "
    "scan while_loop cond fori_loop map switch result_type promote_types can_cast broadcast_shapes set_default_device "
    "int_shape ndim image_data_format floatx epsilon learning_phase get_session get_value batch_get_value count_params "
    "clear_session shape size rank get_logger group py_function vmap grad variable_scope trainable_variables "
    "global_variables "
    "finfo iinfo".split()
)


@cache
def kind_of_result(name: str) -> str:
    """What calling a framework's function or class gives."""
    known = _KINDS_OF_NAMES.get(name)
    if known is not None:
        return known
    namespace, _, last = name.rpartition(".")
    if last[:1].isupper():
        return next((kind for prefix, kind in _KINDS_OF_CLASSES if name.startswith(prefix)), "?")
    if namespace == "torchvision.models":
        return "module"
    if namespace in ("transformers", "transformers.optimization") and last.startswith("get_") and "schedule" in last:
        return "scheduler"
    if namespace in ("numpy", "numpy.random", "numpy.linalg"):
        return "array"
    if namespace == "math":
        return "number"
    return "tensor" if namespace in _GIVE_TENSORS and last not in _GIVE_OTHER else "?"


@cache
def dtype_of(name: str) -> str | None:
    """The dtype a framework's name stands for: torch.long is int64."""
    namespace, _, last = name.rpartition(".")
    return DTYPES.get(last) if namespace in _HOLD_DTYPES else None
