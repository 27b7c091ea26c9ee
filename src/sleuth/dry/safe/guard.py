"""Keeps a rehearsal from changing anything: files, network, other programs."""

from __future__ import annotations

import builtins
import os
import sys
from typing import TYPE_CHECKING, Any

from sleuth import program
from sleuth.dry.safe import (
    changing,
    landlock,
    looking,
    native,
    network,
    opening,
    processes,
    surroundings,
    veto,
    workers,
)
from sleuth.dry.safe.changes import Changes
from sleuth.dry.safe.everywhere import Stand, replace, replace_in_classes
from sleuth.dry.safe.layers import Layers, real
from sleuth.dry.safe.written_modules import WrittenModules
from sleuth.frameworks.after_import import AfterImport
from sleuth.frameworks.patches import Patches

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage, for_good: bool = False) -> None:
    """From now on nothing outside of `stage.scratch` changes. `for_good` also asks the kernel, which never lets go:
    for a process that ends with the rehearsal."""
    real_folder = real.getcwd()
    layers = Layers(stage.scratch)
    # What holds for good holds to the very last moment, whatever threads the program has left.
    patches = Patches() if for_good else stage.patches
    patches.later(lambda: real.chdir(real_folder))
    program.shown_path(layers.cwd)  # paths are shown from here, wherever the program goes later

    def tell(act: str, what: str) -> None:
        stage.journal.keep_off(act, what)

    def assume(what: str) -> None:
        stage.journal.assume(program.users_place(sys._getframe()), what)

    changes = Changes(layers, lambda act, place: tell(act, program.shown_path(place)))
    stage.at_end.append(changes.settle)
    stage.files = layers
    imports = AfterImport()
    _watch_imports(patches, imports, WrittenModules(layers))
    surroundings.install(patches, layers.scratch, tell, imports)
    network.install(patches, tell, layers.scratch)
    processes.install(patches, processes.Outside(layers, tell, assume))
    workers.install(patches, tell)
    workers.install_executor(patches)
    imports.of("multiprocess.pool", lambda: workers.install(patches, tell, "multiprocess"))
    _redirect_files(patches, changes)
    imports.of("numpy.lib._datasource", lambda: _tell_numpy(patches))
    native.install(patches, changes, imports)
    veto.install(patches, layers.scratch)
    if for_good:
        landlock.lock(layers.scratch)


def _watch_imports(patches: Patches, first: AfterImport, last: WrittenModules) -> None:
    sys.meta_path.insert(0, first)
    sys.meta_path.append(last)
    patches.later(lambda: sys.meta_path.__setitem__(slice(None), _without(sys.meta_path, first, last)))


def _without(finders: list[Any], *ours: object) -> list[Any]:
    return [finder for finder in finders if finder not in ours]


def _redirect_files(patches: Patches, changes: Changes) -> None:
    functions = {**looking.stands(changes.layers), **changing.stands(changes)}
    stands: dict[Any, Any] = {}
    for name, function in functions.items():
        original = getattr(real, name, None)
        if original is not None:
            stands[original] = Stand(function, original)
    stands[builtins.open] = Stand(opening.stand(changes), builtins.open)
    replace(patches, stands)
    replace_in_classes(patches, stands)
    for known in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        _extend(patches, known, {stand for original, stand in stands.items() if original in known})


def _tell_numpy(patches: Patches) -> None:
    """numpy keeps `open` in a table of its own."""
    table = sys.modules["numpy.lib._datasource"]._file_openers._file_openers
    before = table[None]
    table[None] = builtins.open
    patches.later(lambda: table.update({None: before}))


def _extend(patches: Patches, known: set[Any], more: set[Any]) -> None:
    known |= more
    patches.later(lambda: known.difference_update(more))
