"""One name for the same operation in every framework and spelling: torch.log, x.log(), tf.math.log are all "log"."""

from __future__ import annotations

from functools import cache
from typing import Final

# Where functions on tensors live. A method of a tensor is written "tensor.log".
_NAMESPACES: Final = frozenset(
    "torch tensor torch.nn.functional torch.special torch.linalg torch.Tensor torch.fft tensorflow tensorflow.math "
    "tensorflow.nn tensorflow.linalg tensorflow.compat.v1 tensorflow.compat.v1.nn tensorflow.compat.v1.math "
    "jax.numpy jax.nn "
    "jax.lax jax.scipy.special jax.numpy.linalg numpy numpy.linalg scipy.special keras.ops keras.backend "
    "keras.activations "
    "keras.ops.nn keras.ops.numpy math torch.nn.init torch.nn.utils optax optax.losses keras.losses keras.metrics "
    "tensorflow.losses tensorflow.compat.v1.losses array".split()
)
_SPELLINGS: Final[dict[str, str]] = {
    "sum": "sum reduce_sum",
    "mean": "mean reduce_mean",
    "max": "max amax reduce_max",
    "min": "min amin reduce_min",
    "prod": "prod reduce_prod",
    "std": "std reduce_std",
    "var": "var reduce_variance",
    "maximum": "maximum clamp_min clip_min",
    "minimum": "minimum clamp_max clip_max",
    "clamp": "clamp clip clip_by_value clamp_ clip_",
    "log": "log log_",
    "log1p": "log1p log1p_",
    "log2": "log2",
    "log10": "log10",
    "exp": "exp exp_",
    "expm1": "expm1",
    "sqrt": "sqrt sqrt_",
    "rsqrt": "rsqrt",
    "square": "square",
    "abs": "abs absolute",
    "pow": "pow power pow_ float_power",
    "div": "div true_divide divide div_ div_no_nan_unsafe",
    "safe_div": "div_no_nan divide_no_nan",
    "reciprocal": "reciprocal",
    "add": "add add_",
    "sub": "sub subtract sub_",
    "mul": "mul multiply mul_",
    "neg": "neg negative",
    "matmul": "matmul mm bmm dot einsum tensordot addmm baddbmm",
    "softmax": "softmax",
    "log_softmax": "log_softmax",
    "sigmoid": "sigmoid expit hard_sigmoid sigmoid_",
    "log_sigmoid": "logsigmoid log_sigmoid",
    "softplus": "softplus",
    "logsumexp": "logsumexp reduce_logsumexp logaddexp",
    "relu": "relu relu6 relu_ threshold",
    "leaky_relu": "leaky_relu elu gelu silu swish mish selu celu prelu hardswish rrelu glu",
    "tanh": "tanh",
    "acos": "acos arccos",
    "asin": "asin arcsin",
    "atanh": "atanh arctanh",
    "acosh": "acosh arccosh",
    "atan2": "atan2 arctan2",
    "hypot": "hypot",
    "sin": "sin cos",
    "lgamma": "lgamma gammaln digamma",
    "erfinv": "erfinv",
    "norm": "norm vector_norm matrix_norm l2_norm",
    "normalize": "normalize l2_normalize",
    "cdist": "cdist pairwise_distance pdist",
    "cosine_similarity": "cosine_similarity",
    "where": "where select_where",
    "masked_fill": "masked_fill masked_fill_",
    "argmax": "argmax argmin argsort",
    "topk": "topk sort",
    "one_hot": "one_hot to_categorical",
    "dropout": "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout",
    "batch_norm": "batch_norm layer_norm instance_norm group_norm rms_norm",
    "linear": "linear",
    "conv": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
    "embedding": "embedding embedding_bag",
    "pool": "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d",
    "adaptive_pool": "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
    "adaptive_max_pool2d",
    "upsample": "interpolate upsample resize",
    "pad": "pad",
    "view": "view",
    "reshape": "reshape view_as reshape_as",
    "flatten": "flatten ravel",
    "unflatten": "unflatten",
    "squeeze": "squeeze squeeze_",
    "unsqueeze": "unsqueeze unsqueeze_ expand_dims",
    "transpose": "transpose swapaxes swapdims t transpose_",
    "permute": "permute movedim moveaxis",
    "contiguous": "contiguous",
    "expand": "expand expand_as broadcast_to repeat tile repeat_interleave",
    "cat": "cat concat concatenate hstack vstack dstack column_stack row_stack",
    "stack": "stack",
    "clone": "clone",
    "copy": "copy deepcopy",
    "detach": "detach detach_",
    "stop_gradient": "stop_gradient",
    "to": "to",
    "cpu": "cpu",
    "cuda": "cuda",
    "numpy": "numpy",
    "item": "item tolist",
    "float": "float to_float",
    "double": "double",
    "half": "half",
    "bfloat16": "bfloat16",
    "long": "long int",
    "type": "type type_as astype",
    "cast": "cast",
    "gather": "gather take take_along_dim take_along_axis index_select",
    "diag": "diag diagonal diag_part",
    "scatter": "scatter scatter_ scatter_add scatter_add_ index_add index_add_ index_put index_put_ scatter_nd",
    "nan_to_num": "nan_to_num nan_to_num_",
    "count": "count_nonzero numel",
    "one_minus": "",
    "isnan": "isnan isinf isfinite is_nan is_finite",
    "cumsum": "cumsum",
    "cumprod": "cumprod",
    "triu": "triu tril",
    "zeros": "zeros zeros_like new_zeros",
    "ones": "ones ones_like new_ones",
    "full": "full full_like new_full fill_",
    "empty": "empty empty_like new_empty",
    "rand": "rand rand_like uniform random_sample",
    "randn": "randn randn_like normal random_normal",
    "randint": "randint randint_like randperm",
    "arange": "arange range linspace",
    "eye": "eye",
    "tensor": "tensor constant convert_to_tensor asarray array",
    "as_tensor": "as_tensor",
    "from_numpy": "from_numpy",
    "cross_entropy": "cross_entropy",
    "nll_loss": "nll_loss",
    "bce": "binary_cross_entropy",
    "bce_with_logits": "binary_cross_entropy_with_logits sigmoid_cross_entropy_with_logits "
    "sigmoid_binary_cross_entropy sigmoid_cross_entropy weighted_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits": "softmax_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2 "
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy_with_logits": "sparse_softmax_cross_entropy_with_logits "
    "softmax_cross_entropy_with_integer_labels sparse_softmax_cross_entropy",
    "mse": "mse_loss mean_squared_error",
    "l1": "l1_loss mean_absolute_error",
    "smooth_l1": "smooth_l1_loss huber_loss",
    "kl_div": "kl_div",
    "det": "det logdet slogdet",
    "inverse": "inverse inv pinv cholesky solve",
}
OF_SPELLING: Final[dict[str, str]] = {
    spelling: operation for operation, words in _SPELLINGS.items() for spelling in words.split()
}

# Layers and losses that are objects: calling one performs the operation.
_LAYERS: Final[dict[str, str]] = {
    "softmax": "torch.nn.Softmax torch.nn.Softmax2d keras.layers.Softmax",
    "log_softmax": "torch.nn.LogSoftmax",
    "sigmoid": "torch.nn.Sigmoid torch.nn.Hardsigmoid",
    "log_sigmoid": "torch.nn.LogSigmoid",
    "softplus": "torch.nn.Softplus",
    "relu": "torch.nn.ReLU torch.nn.ReLU6 keras.layers.ReLU",
    "leaky_relu": "torch.nn.LeakyReLU torch.nn.ELU torch.nn.GELU torch.nn.SiLU torch.nn.Mish torch.nn.SELU "
    "torch.nn.PReLU "
    "torch.nn.CELU torch.nn.Hardswish torch.nn.RReLU keras.layers.LeakyReLU keras.layers.ELU keras.layers.PReLU",
    "tanh": "torch.nn.Tanh torch.nn.Hardtanh",
    "dropout": "torch.nn.Dropout torch.nn.Dropout1d torch.nn.Dropout2d torch.nn.Dropout3d torch.nn.AlphaDropout "
    "keras.layers.Dropout keras.layers.SpatialDropout1D keras.layers.SpatialDropout2D",
    "batch_norm": "torch.nn.BatchNorm1d torch.nn.BatchNorm2d torch.nn.BatchNorm3d torch.nn.LayerNorm "
    "torch.nn.GroupNorm "
    "torch.nn.InstanceNorm1d torch.nn.InstanceNorm2d torch.nn.InstanceNorm3d torch.nn.SyncBatchNorm torch.nn.RMSNorm "
    "keras.layers.BatchNormalization keras.layers.LayerNormalization keras.layers.GroupNormalization",
    "linear": "torch.nn.Linear torch.nn.LazyLinear torch.nn.Bilinear keras.layers.Dense",
    "conv": "torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d torch.nn.ConvTranspose1d torch.nn.ConvTranspose2d "
    "torch.nn.ConvTranspose3d keras.layers.Conv1D keras.layers.Conv2D keras.layers.Conv3D keras.layers.Conv2DTranspose "
    "keras.layers.SeparableConv2D keras.layers.DepthwiseConv2D",
    "pool": "torch.nn.MaxPool1d torch.nn.MaxPool2d torch.nn.MaxPool3d torch.nn.AvgPool1d torch.nn.AvgPool2d "
    "torch.nn.AvgPool3d keras.layers.MaxPooling1D keras.layers.MaxPooling2D keras.layers.AveragePooling2D "
    "keras.layers.MaxPool2D keras.layers.AvgPool2D",
    "adaptive_pool": "torch.nn.AdaptiveAvgPool1d torch.nn.AdaptiveAvgPool2d torch.nn.AdaptiveAvgPool3d "
    "torch.nn.AdaptiveMaxPool1d torch.nn.AdaptiveMaxPool2d keras.layers.GlobalAveragePooling2D "
    "keras.layers.GlobalMaxPooling2D keras.layers.GlobalAveragePooling1D keras.layers.GlobalMaxPooling1D",
    "upsample": "torch.nn.Upsample torch.nn.UpsamplingNearest2d torch.nn.UpsamplingBilinear2d "
    "keras.layers.UpSampling2D",
    "pad": "torch.nn.ZeroPad2d torch.nn.ReflectionPad2d torch.nn.ReplicationPad2d torch.nn.ConstantPad2d "
    "keras.layers.ZeroPadding2D",
    "flatten": "torch.nn.Flatten keras.layers.Flatten",
    "unflatten": "torch.nn.Unflatten",
    "reshape": "keras.layers.Reshape",
    "permute": "keras.layers.Permute",
    "cat": "keras.layers.Concatenate",
    "identity": "torch.nn.Identity keras.layers.Activation keras.layers.InputLayer keras.layers.ActivityRegularization",
    "embedding": "torch.nn.Embedding torch.nn.EmbeddingBag keras.layers.Embedding",
    "recurrent": "torch.nn.LSTM torch.nn.GRU torch.nn.RNN torch.nn.LSTMCell torch.nn.GRUCell torch.nn.RNNCell",
    "keras_recurrent": "keras.layers.LSTM keras.layers.GRU keras.layers.SimpleRNN keras.layers.Bidirectional",
    "cross_entropy": "torch.nn.CrossEntropyLoss",
    "nll_loss": "torch.nn.NLLLoss torch.nn.NLLLoss2d",
    "bce": "torch.nn.BCELoss",
    "bce_with_logits": "torch.nn.BCEWithLogitsLoss",
    "mse": "torch.nn.MSELoss",
    "l1": "torch.nn.L1Loss",
    "smooth_l1": "torch.nn.SmoothL1Loss torch.nn.HuberLoss",
    "kl_div": "torch.nn.KLDivLoss",
    "cosine_similarity": "torch.nn.CosineSimilarity",
    "cdist": "torch.nn.PairwiseDistance",
}
OF_LAYER: Final[dict[str, str]] = {name: operation for operation, words in _LAYERS.items() for name in words.split()}
# Functions that make a layer and apply it, as TensorFlow 1 had them.
FUNCTIONAL_LAYERS: Final = {
    f"{package}.{name}": operation
    for package in ("tensorflow.layers", "tensorflow.contrib.layers", "tensorflow.contrib.slim")
    for name, operation in (
        ("dense", "linear"),
        ("fully_connected", "linear"),
        ("linear", "linear"),
        ("conv1d", "conv"),
        ("conv2d", "conv"),
        ("conv3d", "conv"),
        ("conv2d_transpose", "conv"),
        ("separable_conv2d", "conv"),
        ("batch_normalization", "batch_norm"),
        ("batch_norm", "batch_norm"),
        ("dropout", "dropout"),
        ("flatten", "flatten"),
        ("max_pooling2d", "pool"),
        ("max_pool2d", "pool"),
        ("average_pooling2d", "pool"),
    )
}
# Operations that hold weights a gradient flows into.
WITH_WEIGHTS: Final = frozenset({"linear", "conv", "embedding", "recurrent", "keras_recurrent"})
LOSSES: Final = frozenset(
    "cross_entropy nll_loss bce bce_with_logits mse l1 smooth_l1 kl_div softmax_cross_entropy_with_logits "
    "sparse_softmax_cross_entropy_with_logits".split()
)


@cache
def operation_of(name: str) -> str:
    """The operation a function of a framework performs; "" where it is none of those we know."""
    namespace, _, last = name.rpartition(".")
    return OF_SPELLING.get(last, "") if namespace in _NAMESPACES else ""


# Methods that only a tensor has: the receiver is one, even where nothing else is known of it.
ONLY_TENSORS_HAVE: Final = frozenset(
    "softmax log_softmax sigmoid logsumexp clamp clamp_ clamp_min unsqueeze unsqueeze_ masked_fill masked_fill_ detach "
    "requires_grad_ contiguous permute log_ exp_ rsqrt log1p expm1 bfloat16 relu_ squeeze_ index_select data_ptr "
    "new_zeros new_ones new_full new_empty type_as view_as expand_as is_cuda scatter_ scatter_add_ addmm bmm".split()
)
# Methods other things have as well, where the call has no arguments (`logger.log(...)` has some).
TENSORS_HAVE_WITHOUT_ARGUMENTS: Final = frozenset(
    "log exp sqrt sigmoid tanh relu abs square softmax cuda cpu numpy".split()
)
