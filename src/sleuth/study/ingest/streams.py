"""The bytes of a source in order, from any position on: a plain file, gzip, or one member of a 7z archive."""

from __future__ import annotations

import codecs
import gzip
import lzma
import queue
import re
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

_PIECE = 1 << 20
# How many pieces the unpacking thread may be ahead: bounds memory, whatever the archive holds.
_AHEAD = 16
# An XML declaration is within these.
_LOOKED_AT = 256
_DECLARED = re.compile(rb"\s*<\?xml[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+)[\"']")
# Whoever wrote them in a declaration that can be read as it stands has written something else.
_NOT_DECLARED_SO = ("utf-8", "ascii", "utf-16", "utf-16-le", "utf-16-be", "utf-32")


class Damaged(Exception):
    """The bytes end before they should; `str()` of it says how."""


class Stream(Protocol):
    """Bytes, and how far through the source they are, in the same measure as the source's size."""

    @property
    def done(self) -> int: ...

    def read(self, count: int) -> bytes: ...

    def close(self) -> None: ...


def open_at(path: Path, packing: str, member: str | None, position: int, encoding: str = "") -> Stream:
    """The unpacked bytes from this position on, as UTF-8. Without an encoding, the one the file itself names."""
    if packing == "7z":
        stream: Stream = _Member(path, member or "")
    elif packing == "gz":
        stream = _Gzip(path)
    else:
        stream = _Plain(path)
    start = head(stream, _LOOKED_AT)
    encoding = encoding or _encoding_of(start)
    if isinstance(stream, _Plain) and not encoding:
        stream.go_to(position)
        return stream
    stream = _Recoded(stream, start, encoding) if encoding else _PutBack(stream, start)
    _skip(stream, position)
    return stream


def is_encoding(name: str) -> bool:
    """Whether text can be read by it."""
    try:
        "a".encode(name)
    except (LookupError, ValueError):
        return False
    return True


def _encoding_of(start: bytes) -> str:
    """By the first bytes, or as an XML declaration has it; nothing for UTF-8. Raises Damaged."""
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-32" if start[:4] == codecs.BOM_UTF32_LE else "utf-16"
    # An export begins with a letter or a mark of ASCII.
    if start[:1] != b"\0" and start[1:2] == b"\0":
        return "utf-16-le"
    if start[:1] == b"\0" and start[1:2] != b"\0":
        return "utf-16-be"
    declared = _DECLARED.match(start)
    if declared is None:
        return ""
    name = declared.group(1).decode()
    if not is_encoding(name):
        raise Damaged(f"it is in an unknown encoding, {name}")
    return "" if codecs.lookup(name).name in _NOT_DECLARED_SO else name


def head(stream: Stream, count: int) -> bytes:
    """The first bytes, as far as they can be read. Raises Damaged if none can."""
    found, damage = filled(stream, count)
    if damage and not found:
        raise damage
    return found


def filled(stream: Stream, count: int) -> tuple[bytes, Damaged | None]:
    """So many bytes, however small the pieces are that they come in; fewer at the end, or before damage."""
    pieces, found = [], 0
    try:
        while found < count and (piece := stream.read(count - found)):
            pieces.append(piece)
            found += len(piece)
    except Damaged as damage:
        return b"".join(pieces), damage
    return b"".join(pieces), None


def member_size(path: Path, name: str) -> int:
    import py7zr

    with py7zr.SevenZipFile(path) as archive:
        return int(next(entry.uncompressed for entry in archive.list() if entry.filename == name))


def members(path: Path) -> list[str]:
    """The names of the files in a 7z archive. Raises Damaged."""
    import py7zr

    try:
        with py7zr.SevenZipFile(path) as archive:
            return [entry.filename for entry in archive.list() if not entry.is_directory]
    except py7zr.exceptions.PasswordRequired:
        raise Damaged("it is locked with a password") from None
    except (py7zr.exceptions.ArchiveError, lzma.LZMAError, EOFError, OSError, ValueError, TypeError) as error:
        raise Damaged(f"not a 7z archive that can be read: {error}") from None


def _skip(stream: Stream, count: int) -> None:
    while count > 0:
        piece = stream.read(min(count, _PIECE))
        if not piece:
            raise Damaged("it is shorter than it was")
        count -= len(piece)


class _Plain:
    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115

    @property
    def done(self) -> int:
        return self._file.tell()

    def go_to(self, position: int) -> None:
        self._file.seek(position)

    def read(self, count: int) -> bytes:
        return self._file.read(count)

    def close(self) -> None:
        self._file.close()


class _Gzip:
    def __init__(self, path: Path) -> None:
        self._packed = open(path, "rb")  # noqa: SIM115
        self._file = gzip.GzipFile(fileobj=self._packed)

    @property
    def done(self) -> int:
        return self._packed.tell()

    def read(self, count: int) -> bytes:
        try:
            # What one step unpacks: reading on until the count is full would lose all of it at a damaged place.
            return self._file.read1(count)
        except (EOFError, OSError, zlib.error) as error:
            raise Damaged(f"the gzip data is damaged here: {error}") from None

    def close(self) -> None:
        self._file.close()
        self._packed.close()


class _Member:
    """py7zr pushes what it unpacks; a thread of its own and a short queue turn that into reading."""

    def __init__(self, path: Path, name: str) -> None:
        self.done = 0
        self._pieces: queue.Queue[bytes | BaseException | None] = queue.Queue(_AHEAD)
        self._left = False
        self._rest = b""
        self._ended = False
        self._thread = threading.Thread(target=self._unpack, args=(path, name), daemon=True)
        self._thread.start()

    def _unpack(self, path: Path, name: str) -> None:
        import py7zr

        try:
            with py7zr.SevenZipFile(path) as archive:
                archive.extract(targets=[name], factory=_factory(self._put))
            self._put(None)
        except _Left:
            return
        except py7zr.exceptions.PasswordRequired:
            with suppress(_Left):
                self._put(Damaged("it is locked with a password"))
        # Damage surfaces as almost anything: LZMAError, EOFError, ValueError, an archive error of py7zr's own.
        except Exception as error:
            with suppress(_Left):
                self._put(error)

    def _put(self, piece: Any) -> None:
        while not self._left:
            try:
                return self._pieces.put(piece, timeout=0.2)
            except queue.Full:
                continue
        raise _Left

    def read(self, count: int) -> bytes:
        if not self._rest and not self._ended:
            piece = self._pieces.get()
            self._ended = not isinstance(piece, bytes)
            if isinstance(piece, Damaged):
                raise piece
            if isinstance(piece, BaseException):
                raise Damaged(f"the 7z data is damaged here: {piece or type(piece).__name__}")
            self._rest = piece or b""
        given, self._rest = self._rest[:count], self._rest[count:]
        self.done += len(given)
        return given

    def close(self) -> None:
        self._left = True
        self._thread.join()


class _Left(Exception):
    """Nobody reads any more."""


def _factory(put: Callable[[bytes], None]) -> Any:
    from py7zr.io import Py7zIO, WriterFactory

    class Outlet(Py7zIO):  # type: ignore[misc]
        def __init__(self) -> None:
            self._written = 0

        def write(self, piece: bytes | bytearray) -> int:
            for start in range(0, len(piece), _PIECE):
                put(bytes(piece[start : start + _PIECE]))
            self._written += len(piece)
            return len(piece)

        def read(self, size: int | None = None) -> bytes:
            return b""

        def seek(self, offset: int, whence: int = 0) -> int:
            return 0

        def flush(self) -> None:
            return None

        def size(self) -> int:
            return self._written

    class Outlets(WriterFactory):  # type: ignore[misc]
        def create(self, filename: str) -> Outlet:
            return Outlet()

    return Outlets()


class _PutBack:
    """A stream whose first bytes have been looked at."""

    def __init__(self, stream: Stream, head: bytes) -> None:
        self._stream, self._head = stream, head

    @property
    def done(self) -> int:
        return self._stream.done

    def read(self, count: int) -> bytes:
        if self._head:
            given, self._head = self._head[:count], self._head[count:]
            return given + self._stream.read(count - len(given)) if count > len(given) else given
        return self._stream.read(count)

    def close(self) -> None:
        self._stream.close()


class _Recoded(_PutBack):
    """Another encoding becomes UTF-8."""

    def __init__(self, stream: Stream, head: bytes, encoding: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        super().__init__(stream, self._decoder.decode(head).encode("utf-8", "replace"))

    def read(self, count: int) -> bytes:
        while not self._head:
            raw = self._stream.read(_PIECE)
            self._head = self._decoder.decode(raw, final=not raw).encode("utf-8", "replace")
            if not raw:
                break
        given, self._head = self._head[:count], self._head[count:]
        return given
