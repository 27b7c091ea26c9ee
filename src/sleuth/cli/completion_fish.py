"""The completion script for fish."""

from __future__ import annotations

from argparse import ArgumentParser

from sleuth.cli.completion_offers import Offer, offers

_HEAD = """\
# What comes before the cursor begins with these commands; with --only, it is nothing but them.
function __sleuth_in
    set -l words (commandline -opc)
    set -e words[1]
    if test "$argv[1]" = --only
        set -e argv[1]
        test (count $words) -eq (count $argv); or return 1
    end
    test (count $argv) -eq 0; and return 0
    test (count $words) -ge (count $argv); and test "$words[1..$(count $argv)]" = "$argv"
end

complete -c sleuth -f
"""
_VALUE = {"nothing": (), "word": ("-x",), "file": ("-r", "-F"), "folder": ("-x", "-a '(__fish_complete_directories)'")}


def script(parser: ArgumentParser) -> str:
    return _HEAD + "".join(f"{line}\n" for line in map(_line, offers(parser)) if line)


def _line(offer: Offer) -> str:
    here_only = offer.takes == "command" or not offer.command
    where = " ".join(("__sleuth_in", *(["--only"] if here_only else []), *offer.command))
    words = ["complete -c sleuth", f"-n {_quoted(where)}"]
    words += [_named(name) for name in offer.names]
    if offer.values:
        words += [*(["-x"] if offer.names else []), f"-a {_quoted(' '.join(offer.values))}"]
    elif offer.names or offer.takes in ("file", "folder"):
        words += _VALUE[offer.takes] if offer.names else [_VALUE[offer.takes][-1]]
    else:
        return ""
    return " ".join([*words, f"-d {_quoted(offer.help)}"])


def _named(name: str) -> str:
    if name.startswith("--"):
        return f"-l {name[2:]}"
    return f"-s {name[1:]}" if len(name) == 2 else f"-o {name[1:]}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
