"""Programs made from programs: thousands that Python still parses, and hundreds that it does not.

Each is made from its number alone, so `python tests/source/mutations.py valid 1234` shows the one a test speaks of."""

from __future__ import annotations

import ast
import random
import re
import sys
import tokenize
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import mutated_texts
import mutated_trees
from mutated_texts import parses

from sleuth import handbook

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python (?:before|after)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOKS = 0.06


@dataclass(frozen=True)
class Program:
    """A seed or a mutant: what was done to what, and the bytes of the file."""

    story: str
    data: bytes
    suffix: str = ".py"


Seeds = tuple[tuple[str, str], ...]


@lru_cache(maxsize=1)
def seeds() -> Seeds:
    """Every program of the zoo and every block of the handbook."""
    return (*seeds_for_the_source(), *_programs(source=False), *_blocks(source=False))


@lru_cache(maxsize=1)
def seeds_for_the_source() -> Seeds:
    """Those that are there because reading them shows something."""
    return (*_programs(source=True), *_blocks(source=True))


def _programs(source: bool) -> Seeds:
    zoo = ROOT / "zoo"
    found = [path for path in sorted(zoo.rglob("*.py")) if (path.relative_to(zoo).parts[0] == "source") is source]
    return tuple((str(path.relative_to(ROOT)), text) for path in found if (text := path.read_text("utf-8")).strip())


def _blocks(source: bool) -> Seeds:
    names = [name for name in handbook.names() if ("source" in handbook.page(name).engines) is source]
    pages = [(name, (handbook.PAGES / f"{name}.md").read_text("utf-8")) for name in names]
    return tuple(
        (f"{name}.md, block {n}", block) for name, text in pages for n, block in enumerate(BLOCK.findall(text), 1)
    )


def _tree_mutated(text: str, rng: random.Random, times: int) -> tuple[str, list[str]]:
    tree, donor = ast.parse(text), ast.parse(rng.choice(rng.choice([seeds, seeds_for_the_source])())[1])
    done = []
    for mutation in rng.choices(mutated_trees.MUTATIONS, k=times):
        mutation(tree, rng, donor)
        done.append(mutation.__name__)
    return ast.unparse(ast.fix_missing_locations(tree)), done


def _attempt(text: str, rng: random.Random) -> tuple[str, list[str]] | None:
    """Some mutations together, or None where they make no program."""
    story: list[str] = []
    if times := rng.choice([0, 0, 1, 1, 2, 3, 6]):
        text, story = _tree_mutated(text, rng, times)
        if not parses(text):
            return None
    for mutation in rng.choices(mutated_texts.LAYOUTS, k=rng.choice([0, 1, 1, 2, 4]) or (not story)):
        changed = mutation(text, rng)
        if parses(changed):
            text = changed
            story.append(mutation.__name__)
    return text, story


def valid(number: int) -> Program:
    """A program that Python parses."""
    pool = seeds_for_the_source() if number % 2 else seeds()
    name, seed = pool[number // 2 % len(pool)]
    rng = random.Random(f"valid {number}")
    while True:
        try:
            made = _attempt(seed, rng)
        except (SyntaxError, ValueError, IndentationError, tokenize.TokenError, UnicodeError):
            # What was put together cannot be written down.
            continue
        if made is None or not made[1]:
            continue
        text, steps = made
        story = f"valid {number}, {name}: {', '.join(steps)}"
        if rng.random() < NOTEBOOKS:
            return Program(f"{story}, notebook", mutated_texts.as_notebook(text, rng), ".ipynb")
        way, data = mutated_texts.encoded(text, rng)
        if parses(data):
            return Program(f"{story}, {way}", data)


def broken(number: int) -> Program:
    """Bytes that Python does not parse."""
    name, seed = seeds()[number * 7 % len(seeds())]
    rng = random.Random(f"broken {number}")
    while True:
        mutation = mutated_texts.BREAKAGES[number % len(mutated_texts.BREAKAGES)]
        suffix = ".ipynb" if rng.random() < NOTEBOOKS else ".py"
        start = mutated_texts.as_notebook(seed, rng) if suffix == ".ipynb" else seed.encode()
        data = mutation(start, rng)
        if suffix == ".ipynb" or not parses(data):
            return Program(f"broken {number}, {name}: {mutation.__name__}", data, suffix)


def main(kind: str, *numbers: str) -> None:
    """Show some of them."""
    for number in numbers:
        program = {"valid": valid, "broken": broken}[kind](int(number))
        print(program.story, file=sys.stderr)
        sys.stdout.buffer.write(program.data)


if __name__ == "__main__":
    main(*sys.argv[1:])
