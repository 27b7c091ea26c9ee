"""Which node of the reference an exporter's value comes from, told by what the exporter wrote down beside it.

The exporter takes operations apart and counts the pieces anew, so its `getitem_1` need not be the reference's. What
both have in common is the layer, the line of the source, the kind of operation and its arguments; where these do not
settle it, nothing is said."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass

from torch import fx

from sleuth.compare.origins import Origin, Told, of_node, of_origin, own_lines
from sleuth.compare.reference import Reference, op_of

_LIFTED = re.compile(r"^(?:p|b|c|obj)_")


def partners(reference: Reference, origins: Mapping[str, Origin]) -> dict[str, str]:
    """By the target's value, the node of the reference that has the same result."""
    if not origins:
        return {}
    known = _Known.of(reference, origins)
    best: dict[str, str] = {}
    for place in (_exactly, _by_own_lines, _by_layer, _by_lines_alone):
        found = _Matching(known, place).found
        best = found if len(found) > len(best) else best  # the strictest of those that find as many
        if len(best) == len(origins):
            break
    return best


@dataclass(frozen=True, slots=True)
class _Known:
    """Both graphs; of the reference, what its outputs depend on."""

    reference: Reference
    origins: Mapping[str, Origin]
    live: dict[str, None]
    told: Mapping[str, Told]
    exported: Mapping[str, Told]
    weights: set[str]

    @classmethod
    def of(cls, reference: Reference, origins: Mapping[str, Origin]) -> _Known:
        live = dict.fromkeys(_live(reference))
        return cls(
            reference,
            origins,
            live,
            {name: of_node(reference.nodes[name]) for name in live},
            {name: of_origin(origin) for name, origin in origins.items()},
            {str(node.target).replace(".", "_") for node in reference.graph.graph.nodes if node.op == "get_attr"},
        )


_SamePlace = Callable[[Told], Hashable]


def _exactly(told: Told) -> Hashable:
    return told.layer, told.frames


def _by_own_lines(told: Told) -> Hashable:
    """Exported by another version of PyTorch, whose own lines have moved."""
    return told.layer, own_lines(told.frames)


def _by_layer(told: Told) -> Hashable:
    """The source has been edited since, or was not written down."""
    return told.layer


def _by_lines_alone(told: Told) -> Hashable:
    """Exported as part of a larger model, or of a smaller one; None where there are no lines to go by."""
    return own_lines(told.frames) or None


class _Matching:
    """The pairs that one notion of the same place gives."""

    def __init__(self, known: _Known, place: _SamePlace) -> None:
        self._known = known
        self._place = place
        self.found: dict[str, str] = {}
        self._by_operation()
        self._by_what_leaves_a_line()
        self._without_contradictions()

    def _by_operation(self) -> None:
        """The same operations, as many times, in the same place: one by one in their order."""
        nodes, exported = self._grouped_nodes(), self._grouped_values()
        for key, values in exported.items():
            names = nodes.get(key, [])
            places = self._places(values, len(names))
            if places is None or key[0] is None:
                continue
            for place, parts in zip(places, values, strict=True):
                self._pair_parts(names[place], parts)

    def _places(self, values: list[list[str]], count: int) -> list[int] | None:
        """Which of so many each of these is. A gap in their numbers is one that the exporter fused with another."""
        if len(values) == count:
            return list(range(count))
        numbers = [_number(self._known.origins[one[0]].node) for one in values]
        if len(values) > 1 and self._share_a_name(values) and numbers[-1] - numbers[0] + 1 == count:
            return [number - numbers[0] for number in numbers]
        return None

    def _share_a_name(self, values: list[list[str]]) -> bool:
        return len({_base(self._known.origins[one[0]].node) for one in values}) == 1

    def _grouped_nodes(self) -> dict[tuple[Hashable, str], list[str]]:
        groups: dict[tuple[Hashable, str], list[str]] = defaultdict(list)
        for name in self._known.live:
            told = self._known.told[name]
            if told.kind != "getitem":
                groups[self._place(told), told.kind].append(name)
        return groups

    def _grouped_values(self) -> dict[tuple[Hashable, str], list[list[str]]]:
        """Each node of the exporter's with the values that it results in."""
        nodes: dict[str, list[str]] = defaultdict(list)
        for value, origin in self._known.origins.items():
            nodes[origin.node].append(value)
        groups: dict[tuple[Hashable, str], list[list[str]]] = defaultdict(list)
        for values in nodes.values():
            told = self._known.exported[values[0]]
            groups[self._place(told), told.kind].append(values)
        for members in groups.values():
            if self._share_a_name(members):  # numbered as they were traced, which no later reordering changes
                members.sort(key=lambda values: _number(self._known.origins[values[0]].node))
        return groups

    def _pair_parts(self, name: str, values: list[str]) -> None:
        """A node with one result, or as many results in use as the exporter's has."""
        results = _results(self._known.reference, name, self._known.live)
        if results is None:
            if len(values) == 1:
                self.found[values[0]] = name
        elif len(results) == len(values) and all(self._known.origins[value].part for value in values):
            ordered = sorted(values, key=lambda value: _number(self._known.origins[value].part))
            self.found.update(zip(ordered, results, strict=True))

    def _by_what_leaves_a_line(self) -> None:
        """One operation that the exporter has taken apart: its result is the one piece that is used elsewhere."""
        nodes: dict[Hashable, list[str]] = defaultdict(list)
        values: dict[Hashable, list[str]] = defaultdict(list)
        for name in self._known.live:
            nodes[self._place(self._known.told[name])].append(name)
        for value, told in self._known.exported.items():
            values[self._place(told)].append(value)
        taken = set(self.found.values())
        for place, members in values.items():
            names = nodes.get(place, [])
            if place is None or len(names) != 1 or names[0] in taken or any(value in self.found for value in members):
                continue
            leaving = [value for value in members if self._is_used_outside(value, members)]
            if len(leaving) == 1 and _results(self._known.reference, names[0], self._known.live) is None:
                self.found[leaving[0]] = names[0]

    def _is_used_outside(self, value: str, members: Iterable[str]) -> bool:
        """By the exporter's graph, not only by what became of it: a later fusion may have swallowed the true result."""
        inside, origin = set(members), self._known.origins[value]
        own = origin.part or origin.node
        return any(own in other.arguments for name, other in self._known.origins.items() if name not in inside)

    def _without_contradictions(self) -> None:
        """Two pairs of which one is computed from the other on one side only: neither is believed."""
        by_node = {
            (origin.part or origin.node): value for value, origin in self._known.origins.items() if value in self.found
        }
        paired = set(self.found.values())
        doubted: set[str] = set()
        for value, node in self.found.items():
            above, weights = self._above(node, paired)
            for argument in self._known.origins[value].arguments:
                giver = by_node.get(argument)
                if giver is not None and self.found[giver] not in above:
                    doubted |= {value, giver}
                weight = _LIFTED.sub("", argument)
                if giver is None and argument != weight and weight in self._known.weights and weight not in weights:
                    doubted.add(value)
        twice = {node for node, times in Counter(self.found.values()).items() if times > 1}
        self.found = {value: node for value, node in self.found.items() if value not in doubted and node not in twice}

    def _above(self, node: str, paired: set[str]) -> tuple[set[str], set[str]]:
        """The nodes and the weights that it is computed from, through those that have no partner."""
        nodes: set[str] = set()
        weights: set[str] = set()
        open_ends = list(self._known.reference.nodes[node].all_input_nodes)
        while open_ends:
            here = open_ends.pop()
            if here.op == "get_attr":
                weights.add(str(here.target).replace(".", "_"))
            elif here.name not in nodes:
                nodes.add(here.name)
                if here.name not in paired:
                    open_ends += here.all_input_nodes
        return nodes, weights


def _base(name: str) -> str:
    base, _, number = name.rpartition("_")
    return base if base and number.isdecimal() else name


def _number(name: str) -> int:
    """3 of `view_3`, 0 of `view`; the digits of `conv2d` are its own."""
    base, _, number = name.rpartition("_")
    return int(number) if base and number.isdecimal() else 0


def _live(reference: Reference) -> list[str]:
    """The operations that an output depends on: the exporter leaves out the others."""
    reached: set[str] = set()
    open_ends = [node.name for node in reference.outputs if isinstance(node, fx.Node)]
    while open_ends:
        name = open_ends.pop()
        if name not in reached:
            reached.add(name)
            open_ends += reference.parents(name)
    return [name for name in reference.names if name in reached and reference.nodes[name].op == "call_function"]


def _results(reference: Reference, name: str, live: Collection[str]) -> list[str] | None:
    """The parts in use of a node with several results, in their order; None of a node with one."""
    parts = [node for node in reference.nodes[name].users if op_of(node) == "getitem"]
    if not parts:
        return None
    return [node.name for node in sorted(parts, key=lambda node: int(node.args[1])) if node.name in live]
