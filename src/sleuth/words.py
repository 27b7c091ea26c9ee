"""How a text becomes terms: words, pairs of words, letters within words, and signs such as "has a traceback".

One list for two readers: `sleuth ask` (plain Python, must start fast) and scikit-learn's vectorisers (as `analyzer`).
A term's first character tells its block: `~` letters within a word, `=` a sign, anything else a word or a pair."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from itertools import pairwise

# A post says what it is about at its start, a traceback at its end; what lies between is code and repetition.
HEAD, TAIL = 6000, 2000
LONGEST_WORD = 40
# All numbers are one word: 0.001 and 32 differ from post to post, that there is a number does not.
NUMBER = "0"

_TAG = re.compile(
    r"</?(?:p|pre|code|a|img|br|hr|li|ul|ol|em|strong|b|i|u|s|del|sub|sup|kbd|div|span|blockquote|table|thead|tbody|tr|td"
    r"|th|h[1-6]|details|summary)(?:\s[^<>]{0,400})?/?>",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\bhttps?://([\w.-]{1,80})[^\s<>\"')\]]{0,400}")
# A number with its unit is two words; the digits within a name (conv2d) stay.
_TOKEN = re.compile(r"0x[0-9a-fA-F]+|\d+(?:[.,:]\d+)*(?:[eE][-+]?\d+)?|[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:'[a-z]{1,2}\b)?")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z][a-z]+\d*|[^\W\dA-Z]+\d*|\d+")
# Names that are one word although they are written as two.
_ONE_WORD = frozenset(
    "pytorch tensorflow tensorboard numpy github gitlab opencv cudnn colab youtube javascript typescript macos ios"
    " mxnet coreml tensorrt resnet densenet imagenet mobilenet efficientnet deeplab alexnet squeezenet wavenet"
    " lightgbm xgboost scipy fastai openai deepspeed stackoverflow iphone ipython jupyterlab pycharm vscode".split()
)

_ASKS_HOW = re.compile(
    r"\bhow (?:to|do|does one|can|could|should|would|might)\b|\b(?:is there|any|best|right|correct|proper|good) (?:a )?"
    r"(?:\w+ )?way\b|\bis it possible\b|\bcan (?:i|we|one|you)\b"
)
_SIGNS_OF_FIRST_LINE = (
    ("=asks-how", _ASKS_HOW),
    ("=starts-with-how-to", re.compile(r"(?:\W*\w+\W+){0,2}how to\b")),
    ("=asks-what", re.compile(r"(?:\W*\w+\W+){0,2}(?:what|which|when|where)\b")),
    ("=asks-why", re.compile(r"\bwhy\b")),
    ("=asks-yes-or-no", re.compile(r"\W*(?:is|are|does|do|did|can|could|should|will|would|has|have|any)\b")),
    ("=asks-to-understand", re.compile(r"\b(?:differen(?:ce|t)|vs|versus|mean(?:s|ing)?|understand\w*|explain\w*)\b")),
    ("=ends-with-question", re.compile(r".*\?\W*\Z", re.DOTALL)),
    ("=names-an-error", re.compile(r"\w(?:error|exception)\b|\b(?:error|exception|traceback|crash\w*|fail\w*)\b")),
    ("=denies", re.compile(r"\b(?:not|no|n't|cannot|cant|unable|never|without)\b|n't\b")),
)
_SIGNS = (
    ("=traceback", re.compile(r"traceback \(most recent call|^[ \t]*file \"[^\"\n]{1,300}\", line \d", re.MULTILINE)),
    ("=raises", re.compile(r"\b\w*(?:error|exception): ")),
    ("=warns", re.compile(r"\b\w*warning: ")),
    (
        "=shell",
        re.compile(r"\b(?:pip3?|conda|apt|apt-get|brew|yum) install\b|\bbazel build|\bconda create\b"),
    ),
    ("=native-crash", re.compile(r"segmentation fault|core dumped|sigsegv|illegal instruction|bus error|\baborted\b")),
    ("=out-of-memory", re.compile(r"out of memory|\boom\b|resourceexhausted|bad_alloc|failed to allocate")),
    ("=version", re.compile(r"\b\d{1,3}\.\d{1,3}\.\d{1,4}\b|==\d|\bversions?:? \d")),
    (
        "=code",
        re.compile(r"^[ \t]*(?:(?:import|def|class|for|with) .|from \S+ import|\w+ = \w+[.(])", re.MULTILINE),
    ),
    ("=training-log", re.compile(r"\bepoch:? *\[?\d+|\b(?:loss|acc|accuracy)\w*\W{1,3}\d*\.\d|\bstep:? \d")),
    ("=duration", re.compile(r"\d ?(?:ms|s|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|fps|it/s)\b")),
    ("=amount-of-memory", re.compile(r"\d ?(?:[kmg]i?b|bytes)\b")),
    ("=percent", re.compile(r"\d ?%")),
    ("=shape", re.compile(r"[(\[](?:\d+|none|\?), ?(?:\d+|none|\?)?(?:, ?(?:\d+|none|\?))*[)\]]")),
    ("=not-a-number", re.compile(r"\bnans?\b|\binf(?:inity)?\b")),
    (
        "=model-file",
        re.compile(r"\.(?:pb|pbtxt|h5|hdf5|onnx|tflite|ckpt|pth|pt|mlmodel|caffemodel|keras)\b"),
    ),
)


def terms(text: str) -> list[str]:
    """Every term of a text, as often as it occurs."""
    text = plain(text)
    whole, parts = _words(text)
    found = parts + [f"{first} {second}" for first, second in pairwise(parts)]
    for word in whole:
        found += _letters(word)
    return found + signs(text)


def words(text: str) -> list[str]:
    """The words of a text alone, in order: identifiers in parts, each followed by its whole."""
    return _words(plain(text))[1]


def plain(text: str) -> str:
    """The text without mark-up, addresses cut to their host, and not longer than is worth reading."""
    if len(text) > 4 * (HEAD + TAIL):
        text = f"{text[: 3 * HEAD]}\n{text[-3 * TAIL :]}"
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = unescape(text)
    text = _ADDRESS.sub(r" \1 ", text).replace("\u2019", "'").strip()
    return f"{text[:HEAD]}\n{text[-TAIL:]}" if len(text) > HEAD + TAIL else text


def signs(text: str) -> list[str]:
    """What its form says of a plain text, each sign once."""
    lower = text.lower()
    first = lower.partition("\n")[0][:300]
    found = [name for name, sign in _SIGNS_OF_FIRST_LINE if (sign.match if name in _AT_START else sign.search)(first)]
    return found + [name for name, sign in _SIGNS if sign.search(lower)]


_AT_START = frozenset(("=starts-with-how-to", "=asks-what", "=asks-yes-or-no", "=ends-with-question"))


def _words(text: str) -> tuple[list[str], list[str]]:
    """The words as written (lower-cased), and the same with identifiers in parts."""
    whole: list[str] = []
    parts: list[str] = []
    for token in _TOKEN.findall(text):
        word, pieces = _pieces(token)
        whole.append(word)
        parts += pieces
    return whole, parts


@lru_cache(maxsize=20_000)
def _pieces(token: str) -> tuple[str, tuple[str, ...]]:
    """A token in lower case, and the words it is made of: `tf.nn.relu_layer` gives tf, nn, relu, layer, relu_layer."""
    if token[0].isdigit():
        return NUMBER, (NUMBER,)
    found: list[str] = []
    for name in token[: 4 * LONGEST_WORD].split("."):
        word = name.lower()[:LONGEST_WORD]
        split = () if word in _ONE_WORD else _split(name)
        found += split
        if len(split) != 1 or split[0] != word:
            found.append(word)
    return token.lower()[:LONGEST_WORD], tuple(found)


def _split(name: str) -> tuple[str, ...]:
    """The parts of a snake_case or CamelCase name; nothing where splitting would leave single letters (NaN)."""
    if name.islower() and "_" not in name:
        return ()
    parts = [part.lower()[:LONGEST_WORD] for piece in name.split("_") for part in _CAMEL.findall(piece)]
    return tuple(parts) if all(len(part) > 1 for part in parts) else ()


@lru_cache(maxsize=20_000)
def _letters(word: str) -> tuple[str, ...]:
    """Runs of 3 to 5 letters within a word and its borders, as scikit-learn's `char_wb` does."""
    padded = f" {word} "
    found = []
    for length in (3, 4, 5):
        if len(padded) <= length:
            found.append("~" + padded)
            break
        found += ["~" + padded[start : start + length] for start in range(len(padded) - length + 1)]
    return tuple(found)
