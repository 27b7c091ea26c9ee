"""What a text says is not so: `it does not look like overfitting`, `no NaN anywhere`, `resuming works fine`.

People name a problem in order to rule it out. What stands in such a clause speaks against a diagnosis, not for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sleuth.triage.prose import is_prose

# Where one thought ends and another begins. A comma alone does not end one that goes on with `and` or `or`.
_CLAUSE_END = re.compile(
    r"[.?!;:](?=\s|$)|\s[-\u2013\u2014]+\s|[()\n]|,(?!\s*(?:and|or|nor|fine|ok|okay|good|great)\b)|"
    r"\s(?=(?:but|yet|however|although|though|whereas|while|since|because|so (?!far)|still|instead|only|except)\b)",
    re.IGNORECASE,
)
_TROUBLE = (
    r"(?:nans?|infs?|infinit\w+|overfit\w*|underfit\w*|explod\w+|explosion|vanish\w*|diverg\w+|leak\w*|oom|"
    r"out[- ]of[- ]memory|"
    r"stuck|plateau\w*|imbalance\w*|unbalanced|mismatch\w*|errors?|crash\w*|slow\w*|bugs?|jumps?|spikes?|spiky|warnings?|"
    r"collaps\w*|dead|dying|saturat\w*|oscillat\w*|fluctuat\w*|drift\w*|hangs?|hanging|deadlocks?|race|noisy|overflow\w*|"
    r"underflow\w*|exceptions?|corrupt\w*|frozen|leakage|wrong|too (?:high|low|large|small|big))"
)
_NOT = r"(?:not|n't|dont|doesnt|isnt|didnt|wasnt|never|no|without|neither|nor|none|zero|hardly|free of|no signs? of)"
# `Nothing fixes the NaN`, `no idea why it is stuck`, `not only slow`: the trouble is there.
_STILL_THERE = (
    r"(?:only|just|fix\w*|solv\w*|help\w*|stop\w*|avoid\w*|prevent\w*|remov\w*|reduc\w*|cur\w+|rid|get|idea|clue|know|why|how|"
    r"understand|find|explain|longer|matter|surpris\w+|expect\w*|handle|catch|the first|sure|any (?:better|faster))"
)
_WORDS_BETWEEN = rf"(?:(?!{_STILL_THERE}\b)[\w'/-]+\s+){{0,3}}?"
_NO_TROUBLE = re.compile(
    rf"(?<!\w){_NOT}\s+{_WORDS_BETWEEN}{_TROUBLE}\b|\b\w+n't\s+{_WORDS_BETWEEN}{_TROUBLE}\b|"
    r"\b(?:memory|v?ram)\b[\w ]{0,20}?(?:(?:not|n't) (?:grow|increas|leak|go up)|constant|flat|stable)\w*",
    re.IGNORECASE,
)
# A verdict on a cause, whatever it is called: from here to the end of the clause.
_NOT_THE_CAUSE_AHEAD = re.compile(
    r"\b(?:(?:does|do|did)(?: not|n'?t) (?:look|seem|appear|sound|feel|smell)(?: to be)?(?: like| as| an?\b| the\b)|"
    r"(?:not|\w+n't) (?:due to|because of|caused by|related to|a (?:matter|case|question) of)|"
    r"can(?:not|'?t| not) be|could(?: not|n'?t) be|"
    r"nothing to do with(?! (?:those|what|the (?:original|outputs?|ones?|numbers)))|"
    r"rul(?:ed|ing) out|exclud(?:ed|ing)|"
    r"(?:do|did|would|can)(?: not|n'?t) (?:think|believe|suspect|see)|doubt|unlikely to be|not sure (?:if|whether)|"
    r"(?:first|initially|originally|at first,?) (?:i |we )?(?:thought|suspected|assumed|blamed|guessed)|"
    r"(?:i|we) (?:first |initially |originally )(?:thought|suspected|assumed|blamed|guessed)|"
    r"used to (?:think|believe)|rather than|unlike|far from)",
    re.IGNORECASE,
)
# The same with the cause in front of it: the whole clause.
_NOT_THE_CAUSE_BEHIND = re.compile(
    r"\b(?:is|are|was|were|it's|that's|be)(?: not|n'?t) (?:really |likely )?(?:(?:the|a|an|my|any|to) )?(?:\w+ ){0,2}?"
    r"(?:problems?|issues?|causes?|reasons?|culprits?|blame|fault|case|it)\b|\bruled out\b|\bhas nothing to do\b|"
    r"\b(?:is|are) (?:also |already |certainly |definitely )?(?:excluded|innocent|not involved|out of the question)\b",
    re.IGNORECASE,
)
# A remedy that was tried: its disease is another one.
_NO_REMEDY = re.compile(
    r"\b(?:(?:did|does|do|have|has|had)(?: not|n'?t) (?:really )?"
    r"(?:help|helped|fix|fixed|matter|solve|cure|changed? (?:anything|much|it|that|the (?:result|outcome|behaviou?r)))|"
    r"no (?:effect|difference|change|help|luck|avail|success)|without (?:effect|success|luck)|"
    r"only makes it|makes it (?:worse|die|crash)|(?:changes|helps|does|solves|fixes) nothing)\b",
    re.IGNORECASE,
)
_FINE = re.compile(
    r"\b(?:is|are|was|were|be|work(?:s|ed|ing)?|look(?:s|ed)?|seems?|go(?:es)?(?: down| up)?|falls?|runs?|"
    r"trains?|behaves?|converge[sd]?|all|learns?)"
    r"(?:,? (?:all|just|perfectly|really|totally|absolutely|quite|very|still|also|both|as))*,? "
    r"(?:fine|ok|okay|good|great|perfect|perfectly|correct|correctly|normal|normally|stable|healthy|nice|nicely|well|"
    r"expected|beautiful|beautifully|balanced|smooth|smoothly|flawless|flawlessly)\b|"
    r"[,(] ?(?:fine|ok|okay|good|great)\b",
    re.IGNORECASE,
)
# `Training is good but validation is not` is one thought: the good half of it belongs to the complaint.
_HALF_OF_A_CONTRAST = re.compile(r"\b(?:train\w*|val\w*|test\w*|eval\w*)\b", re.IGNORECASE)
# `It does not look like it learns`: what is denied is good, so this is a complaint.
_GOOD = re.compile(
    r"\b(?:learn(?:s|ed|ing)?(?!\s+rate)|improv\w+|converg\w+|decreas\w+|work(?:s|ed|ing)?|fall(?:s|ing)?|updat\w+|"
    r"chang(?:e|es|ed|ing)|train(?:s|ed|ing)?(?= at all| properly|$)|right|correct)\b",
    re.IGNORECASE,
)
_DONE_RIGHT = re.compile(
    r"\b(?:i|we) (?:do|did|already|also|always|of course|definitely|properly|correctly|made sure|"
    r"have (?:set|added|called|checked|put|turned)|(?:call|use|set|switch to) \S*eval)\b(?! not|n't)|"
    r"\b(?:is|are|was|were|gets?) (?:already |all |also |properly |correctly |always )?(?:masked|ignored|called|"
    r"divided|shuffled|normali[sz]ed|scaled|detached|cleared|zeroed|seeded)\b|"
    r"\bh(?:as|ave) (?:an? )?(?:\w+ )?of (?:its|their) own\b|"
    r"\b(?:do|did|already|always) (?:call|use|set|zero|clear|shuffle|normali[sz]e|scale|detach|have)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """`affirmed` is the text without what it denies, every other sign in its place. `denied` are the clauses that rule
    something out; `done` those in which somebody says to have done what is asked for."""

    affirmed: str
    denied: tuple[str, ...] = ()
    done: tuple[str, ...] = ()


def heard(text: str, untouched: tuple[tuple[int, int], ...] = ()) -> Heard:
    """`untouched` are spans in which an error speaks, and nobody denies."""
    affirmed = list(text)
    denied, done = [], []
    for start, end in _clauses(text):
        clause = text[start:end]
        if any(begin < end and start < stop for begin, stop in untouched):
            continue
        if _DONE_RIGHT.search(clause):
            done.append(clause)
        scope = _denied(clause)
        if scope is None:
            continue
        denied.append(clause[scope:])
        affirmed[start + scope : end] = " " * (end - start - scope)
    return Heard("".join(affirmed), tuple(denied), tuple(done))


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    place = 0
    one_line = "\n" not in text.strip()
    for line in text.splitlines(keepends=True):
        if one_line or is_prose(line):
            start = place
            for found in _CLAUSE_END.finditer(text, place, place + len(line)):
                yield start, found.start()
                start = found.end()
            if start < place + len(line):
                yield start, place + len(line.rstrip("\n"))
        place += len(line)


def _denied(clause: str) -> int | None:
    """From where on a clause is denied; None where it is not."""
    if _NOT_THE_CAUSE_BEHIND.search(clause) or _NO_REMEDY.search(clause):
        return 0
    ahead = _NOT_THE_CAUSE_AHEAD.search(clause)
    if ahead and not _GOOD.search(clause, ahead.end()):
        return ahead.start()
    trouble = _NO_TROUBLE.search(clause)
    if trouble:
        return trouble.start()
    return 0 if _FINE.search(clause) and not _HALF_OF_A_CONTRAST.search(clause) else None
