"""A Keras network that ends in a Dense layer on the image of a convolution, with no Flatten or pooling between."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import heads, keras, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = ("module.compile",)
_KEEP_IMAGE = frozenset(
    "linear relu leaky_relu tanh sigmoid softmax softplus dropout batch_norm identity network pad".split()
)
_OF_IMAGES = ("2D", "3D", "2DTranspose", "3DTranspose")


def call(site: Site) -> Finding | None:
    compiled = keras.compiled(site)
    if compiled is None or compiled.loss not in keras.CROSS_ENTROPIES | keras.DISTANCES:
        return None
    last = heads.layer_of(compiled.output)
    image = _image_behind(compiled.output)
    if last is None or last.api != "keras.layers.Dense" or image is None:
        return None
    return tell.found(
        "dense-on-image",
        site,
        node=last.node,
        file=last.unit,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(image, "this gives an image: (batch, height, width, channels)"),
            tell.because(last, "Dense works on the channels alone: it gives an answer for every pixel"),
            tell.because(site.node, "the loss compares that with one answer a sample", site.spot.file),
        ],
        fixes=[Fix("put Flatten() or GlobalAveragePooling2D() before the first Dense layer")],
    )


def _image_behind(value: Value) -> Value | None:
    """The convolution or pooling whose image reaches this value with its height and width."""
    for _ in range(40):
        if value.op in ("conv", "pool"):
            layer = value.inputs[-1] if value.inputs else None
            return layer if layer is not None and layer.api.endswith(_OF_IMAGES) else None
        if value.op not in _KEEP_IMAGE or not value.inputs:
            return None
        value = value.inputs[0]
    return None
