"""Is a text about deep learning at all? The model of kinds has seen no other, and takes any other for one of its kinds.

Of 11,500 labelled posts about deep learning one in a thousand is held for something else by this."""

from __future__ import annotations

import re

from sleuth.triage import model
from sleuth.triage.words import content

# One of these, and the text may well be about it. (Parts of words: `conv2d`, `my_tensor`.)
_OURS = re.compile(
    r"torch|tensor|keras|neural|gradient|backprop|autograd|optimi[sz]er|epoch|logits|softmax|sigmoid|activation|"
    r"dropout|overfit|regulari[sz]|convolution|recurrent|encoder|attention|embedding|supervised|inference|predict|"
    r"accuracy|classif|regression|segmentation|detect|recogni[sz]|fine-?tun|state_dict|feed_dict|data ?loader|"
    r"distributed|(?:deep|machine|reinforcement) ?learning|learning ?rate|"
    r"(?<![a-z])(?:jax|flax|theano|caffe|mxnet|onnx|openvino|core ?ml|tf|tflite|tfjs|huggingface|transformers?|bert|"
    r"gpt|llms?|lora|yolo|resnet|vgg|mnist|cifar|imagenet|xla|cuda|cudnn|cublas|nccl|nvidia|gpus?|tpus?|cnns?|rnns?|"
    r"lstms?|grus?|gans?|nlp|sgd|adam|relu|nans?|conv|loss|batch(?:es)?|mini-?batch|train(?:s|ed|ing|er|able|set)?|"
    r"models?|layers?|weights?|labels?|datasets?|neurons?|checkpoints?|tokeni[sz]ers?|samples?|features?|quanti[sz]\w*|"
    r"dtypes?|numpy)(?![a-z])",
    re.IGNORECASE,
)
# Servers, databases, pages and windows: whose errors look like ours to a model that knows no others.
_THEIRS = re.compile(
    r"(?<![a-z])(?:nginx|uwsgi|gunicorn|django|wordpress|php|mysql|postgres\w*|psycopg2?|sqlite|sql|mongodb|redis|jquery|"
    r"typescript|css|flexbox|npm|angular|java\.lang|NullPointerException|servlet|spring (?:boot|data)|springframework|"
    r"kubelet|kubectl|asp\.net|wpf|datagrid|winforms|ggplot2?|dplyr|vba|smtp)(?![a-z])",
    re.IGNORECASE,
)
# Beyond this share of words that no post has, the text is of another world (or another language).
_MOST_UNKNOWN = 0.5
# A misspelt title of three words is not.
_LEAST_SPOKEN = 4


def is_foreign(text: str) -> bool:
    """Nothing of deep learning is named, and something else is; or it is no more than a word."""
    if len(text.split()) < 2 and text.isascii():
        return True
    if _OURS.search(text):
        return False
    return _THEIRS.search(text) is not None or _unknown(text) > _MOST_UNKNOWN


def _unknown(text: str) -> float:
    spoken = content(text)
    return sum(not model.knows(word) for word in spoken) / len(spoken) if len(spoken) >= _LEAST_SPOKEN else 0.0
