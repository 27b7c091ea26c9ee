"""What ended the program lies outside of it: data that are not here, the network, a library, its own command line."""

from __future__ import annotations

import os
import re
import sys

# Names instead of classes: most of them belong to libraries that may not be installed.
_ABSENT = {
    "ConnectionError",
    "ConnectTimeout",
    "DatasetNotFoundError",
    "GatedRepoError",
    "HTTPError",
    "HfHubHTTPError",
    "LocalEntryNotFoundError",
    "MaxRetryError",
    "NameResolutionError",
    "OfflineModeIsEnabled",
    "ProxyError",
    "ReadTimeout",
    "RemoteDisconnected",
    "RepositoryNotFoundError",
    "SSLError",
    "URLError",
    "UsageError",
}
_ABSENT_WORDS = re.compile(
    r"couldn't connect to|can't load (?:the )?(?:model|tokenizer|config|image processor|feature extractor)|"
    r"dataset not found|not found or corrupted|use download=true|couldn't find (?:a |any )|couldn't find file|"
    r"no such file or directory|offline mode|api[_ ]key|is not a local folder|temporary failure in name resolution|"
    r"getaddrinfo failed|found 0 files in subfolders|please install|pip install|no module named|"
    r"no display|cannot connect to x server",
    re.IGNORECASE,
)


def is_outside(error: BaseException) -> bool:
    """Would the program go on where its data, the network and its libraries are at hand?"""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        if _is_absent(one):
            return True
        one = one.__cause__
    return False


def _is_absent(error: BaseException) -> bool:
    if isinstance(error, SystemExit):
        return error.code not in (None, 0)
    if isinstance(error, ModuleNotFoundError):
        return (error.name or "").split(".")[0] not in sys.modules
    if isinstance(error, EOFError | KeyError):
        return "EOF when reading a line" in str(error) or _asked_the_environment(error)
    if isinstance(error, FileNotFoundError | NotADirectoryError | ConnectionError | TimeoutError | PermissionError):
        return True
    if any(kind.__name__ in _ABSENT for kind in type(error).__mro__):
        return True
    return isinstance(error, OSError | RuntimeError | ValueError | ImportError) and bool(
        _ABSENT_WORDS.search(str(error))
    )


def _asked_the_environment(error: BaseException) -> bool:
    """`os.environ["LOCAL_RANK"]`, which whoever starts the program would have set."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_code is os.environ.__class__.__getitem__.__code__
