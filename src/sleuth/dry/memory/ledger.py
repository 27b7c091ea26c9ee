"""The books of a rehearsal's memory: what is held where, since which line, as what, and what was held at the peak."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

# What CUDA's caching allocator rounds every request up to (kMinBlockSize of CUDACachingAllocator).
BLOCK = 512

WEIGHTS = "weights"
GRADIENTS = "gradients"
OPTIMISER = "optimiser state"
ACTIVATIONS = "activations"
DATA = "data"
TEMPORARY = "temporary"
KINDS = (WEIGHTS, GRADIENTS, OPTIMISER, ACTIVATIONS, DATA, TEMPORARY)


class Account:
    """The bytes that one line, in one layer, holds on one device as one kind."""

    __slots__ = ("code", "dtype", "held", "instruction", "kind", "layer", "left", "left_since", "memory")

    def __init__(
        self, memory: Memory, code: CodeType | None, instruction: int, layer: str, kind: str, dtype: str
    ) -> None:
        self.memory = memory
        self.code = code
        self.instruction = instruction
        self.layer = layer
        self.kind = kind
        self.dtype = dtype
        self.held: set[Block] = set()
        # Bytes given back since the peak numbered `left_since` that were held at that peak.
        self.left = 0
        self.left_since = -1

    def at_peak(self) -> int:
        """What was held when the device held the most."""
        peak = self.memory.peak_at
        alive = sum(block.size for block in tuple(self.held) if block.born <= peak)
        return alive + (self.left if self.left_since == peak else 0)


class Memory:
    """One device: how much it holds, and the most it held."""

    __slots__ = ("held", "limit", "name", "over_limit", "peak", "peak_at")

    def __init__(self, name: str, limit: int | None) -> None:
        self.name = name
        self.limit = limit
        self.held = 0
        self.peak = 0
        # The number of the block with which the peak was reached.
        self.peak_at = -1
        # The account that went over the limit first.
        self.over_limit: Account | None = None


class Block(weakref.ref[Any]):
    """A storage that is alive. It is a weak reference to it, which calls back when the storage is given up."""

    __slots__ = ("account", "born", "key", "size")

    account: Account
    born: int
    key: int
    size: int

    # A set of blocks asks for both with every block; those of a weak reference would ask the storage.
    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Ledger:
    """Every living storage, in its account.

    The peak is never copied. A block knows when it was born, and a peak when it was reached: what is alive now and was
    born before the peak was held at it, and what is given back afterwards says so as it goes (`Account.left`).
    """

    def __init__(self, limit_of: Callable[[str], int | None] = lambda device: None) -> None:
        self.memories: dict[str, Memory] = {}
        self._limit_of = limit_of
        self._accounts: dict[tuple[str, int, int, str, str, str], Account] = {}
        self._blocks: dict[int, Block] = {}
        self._born = 0
        # On all devices together.
        self.held = 0
        # Has any device gone over its limit?
        self.full = False

    def block(self, storage: Any) -> Block | None:
        return self._blocks.get(id(storage))

    def account(
        self, device: str, code: CodeType | None, instruction: int, layer: str, kind: str, dtype: str
    ) -> Account:
        # A code object's own hash reads all of it; as the account keeps it alive, its id is as good.
        key = (device, id(code), instruction, layer, kind, dtype)
        account = self._accounts.get(key)
        if account is None:
            account = Account(self.memory(device), code, instruction, layer, kind, dtype)
            self._accounts[key] = account
        return account

    def memory(self, device: str) -> Memory:
        memory = self.memories.get(device)
        if memory is None:
            memory = self.memories[device] = Memory(device, self._limit_of(device))
        return memory

    def born(self, storage: Any, size: int, account: Account) -> None:
        """A storage has come to be."""
        block = Block(storage, self._given_up)
        block.key = id(storage)
        block.size = -(-size // BLOCK) * BLOCK
        block.born = self._born = self._born + 1
        self._blocks[block.key] = block
        self._put(block, account)

    def _put(self, block: Block, account: Account) -> None:
        block.account = account
        account.held.add(block)
        memory = account.memory
        memory.held += block.size
        self.held += block.size
        if memory.held > memory.peak:
            memory.peak, memory.peak_at = memory.held, self._born
            if memory.limit is not None and memory.over_limit is None and memory.peak > memory.limit:
                memory.over_limit = account
                self.full = True

    def _given_up(self, block: Block) -> None:
        if self._blocks.get(block.key) is block:
            del self._blocks[block.key]
        self._take(block)

    def _take(self, block: Block) -> None:
        account = block.account
        account.held.discard(block)
        memory = account.memory
        memory.held -= block.size
        self.held -= block.size
        if block.born <= memory.peak_at:
            if account.left_since != memory.peak_at:
                account.left, account.left_since = 0, memory.peak_at
            account.left += block.size

    def becomes(self, block: Block, kind: str) -> None:
        """It has turned out what a storage is. That holds for the past too: it is the same storage as at the peak."""
        old = block.account
        if old.kind != kind:
            new = self.account(old.memory.name, old.code, old.instruction, old.layer, kind, old.dtype)
            old.held.discard(block)
            new.held.add(block)
            block.account = new

    def accounts(self, device: str) -> Iterator[Account]:
        return (account for account in self._accounts.values() if account.memory.name == device)
