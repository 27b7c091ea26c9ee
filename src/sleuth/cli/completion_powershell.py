"""The completion script for PowerShell."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Iterator

from sleuth.cli.completion_offers import Offer, offers

# A word and what it means, a tab between them. Where nothing is offered, PowerShell itself offers files.
_SCRIPT = """\
Register-ArgumentCompleter -Native -CommandName sleuth -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $offers = @{
%s
    }
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Skip 1 |
        ForEach-Object { $_.ToString() })
    $command = ''
    foreach ($word in $words) {
        $deeper = "$command $word".Trim()
        if ($word.StartsWith('-') -or -not $offers.ContainsKey($deeper)) { break }
        $command = $deeper
    }
    if ($words.Count -and $words[-1].StartsWith('-')) {
        $option = "$command $($words[-1])".Trim()
        if ($offers.ContainsKey($option)) { $command = $option }
    }
    foreach ($offer in $offers[$command]) {
        $word, $meaning = $offer.Split("`t", 2)
        if ($word -like "$wordToComplete*") {
            [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $meaning)
        }
    }
}
"""


def script(parser: ArgumentParser) -> str:
    table: dict[str, list[str]] = {}
    for offer in offers(parser):
        table.setdefault(" ".join(offer.command), []).extend(_words(offer))
        for name in offer.names if offer.takes != "nothing" else ():
            table[" ".join((*offer.command, name))] = list(offer.values)
    return _SCRIPT % "\n".join(_entry(where, words) for where, words in table.items())


def _words(offer: Offer) -> Iterator[str]:
    """An empty meaning would be refused."""
    for word in offer.names or offer.values:
        yield f"{word}\t{offer.help or word}"


def _entry(where: str, words: list[str]) -> str:
    shown = ", ".join(_quoted(word if "\t" in word else f"{word}\t{word}") for word in words)
    return f"        {_quoted(where)} = @({shown})"


def _quoted(text: str) -> str:
    """To PowerShell a typographic quotation mark is a quotation mark, too."""
    return "'" + re.sub("(['‘’‚‛])", r"\1\1", text) + "'"
