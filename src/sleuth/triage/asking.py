"""From a text to an answer: known errors first, then the words it shares with the handbook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sleuth import handbook
from sleuth.known_errors import Match, Reading, Strength, matches, read
from sleuth.triage import kinds
from sleuth.triage.answer import Answer, Diagnosis
from sleuth.triage.curves import Curve, curve
from sleuth.triage.denial import Heard, heard
from sleuth.triage.domain import is_foreign
from sleuth.triage.likeness import Likeness, alike, ruled_out
from sleuth.triage.next_steps import next_steps
from sleuth.triage.prose import complains, is_a_wish
from sleuth.triage.situations import Situation, situation
from sleuth.triage.words import spelled, words

_MOST_DIAGNOSES = 4
_SCORES = {"certain": 0.95, "likely": 0.75, "hint": 0.5}
# A message quoted in passing says less of the program at hand.
_HELD_BACK = {Strength.STATED: 1.0, Strength.NAMED: 0.95, Strength.MENTIONED: 0.8}
# What else the same message may mean; a second error in the same text.
_ALSO, _SECOND = 0.6, 0.7
# Just above the first meaning of a message, where the text has the words that tell the other from it.
_PROMOTED = 0.01
# Words alone never make a diagnosis surer than this, and reach half of it at this score.
_BY_WORDS, _HALF_WAY = 0.8, 12.0
_WORDS_SHOWN = 5
# Several things told together say more than the words that a page shares; where they stand is only a hint of a cause.
_TOLD, _TOLD_AS_A_HINT = 0.65, 0.5
# From here on a text is taken to be of a kind.
_SURELY = 0.7
_QUESTIONS = ("implementation", "comprehension")
_EVERYBODYS = ("python", "installation")
_ELSEWHERE = ("installation", "model-migration")


def ask(text: str) -> Answer:
    """Which kind of problem this is, which diagnoses fit, and what to run next."""
    reading = read(text)
    said = heard(reading.text, reading.statements)
    affirmed = replace(reading, text=said.affirmed)
    found = matches(affirmed)
    best = found[0] if found else None
    # An error says itself what is wrong, and then the numbers before it are as they may be.
    shown = curve(reading.text) if best is None or best.signature.symptom else None
    told = None if _says_it_all(best) else situation(affirmed.excerpt)
    telling = best is not None and not _is_of_any_program(best)
    situated = told is not None and told.ours
    foreign = not telling and shown is None and is_foreign(reading.excerpt, best is not None, situated)
    if foreign:
        best, found = None, []
    probabilities = kinds.probabilities(reading, best, shown, foreign)
    told = None if foreign else _meant(told, affirmed, probabilities)
    kind = kinds.kind_of(probabilities)
    # Whoever asks to be told of something, or whether it fits, has no problem yet.
    wishes = told is not None and told.wish
    diagnoses = (
        () if foreign or wishes else _diagnoses(affirmed, found, shown, told, probabilities, _against(said, told))
    )
    return Answer(
        kind=kind,
        probabilities=probabilities,
        diagnoses=diagnoses,
        next=next_steps(kind, diagnoses, best, told, reading),
        signature=best.recognised if best is not None else None,
        place=reading.frames[-1] if reading.frames else None,
        off_topic=foreign,
    )


def _is_of_any_program(match: Match) -> bool:
    """Words that people use of other things, too: a symptom, or an error of Python or an installer in a sentence."""
    signature = match.signature
    return signature.symptom or (match.strength == Strength.MENTIONED and signature.framework in _EVERYBODYS)


def _says_it_all(match: Match | None) -> bool:
    """An error itself, and not what people say of a training or quote in passing."""
    return match is not None and not match.signature.symptom and match.strength > Strength.MENTIONED


def _meant(told: Situation | None, reading: Reading, probabilities: dict[str, float]) -> Situation | None:
    """Somebody who asks how to do or understand something is in none, but for what one asks for."""
    if told is None or told.wish:
        return told
    asks = is_a_wish(reading.excerpt) and any(probabilities[kind] >= _SURELY for kind in _QUESTIONS)
    return None if asks and not complains(reading.excerpt) else told


def _against(said: Heard, told: Situation | None) -> frozenset[str]:
    """The pages that the text itself rules out."""
    symptoms = [match.signature for clause in said.denied for match in matches(read(clause)) if match.signature.symptom]
    named = {name for signature in symptoms for name in (signature.diagnosis, *signature.also) if name is not None}
    return ruled_out(said.denied, said.done) | named | frozenset(told.ruled_out if told is not None else ())


def _diagnoses(
    reading: Reading,
    found: list[Match],
    shown: Curve | None,
    told: Situation | None,
    probabilities: dict[str, float],
    against: frozenset[str],
) -> tuple[Diagnosis, ...]:
    named = {diagnosis.name: diagnosis for diagnosis in _by_situation(told)}
    if shown is not None and shown.diagnosis is not None:
        named[shown.diagnosis] = _diagnosis(shown.diagnosis, shown.why, _SCORES["hint"], (shown.shown,))
    spoken = frozenset(words(reading.excerpt)) if found else frozenset()
    for number, match in enumerate(_worth_telling(found)):
        for diagnosis in _by_message(match, 1.0 if number == 0 else _SECOND, spoken):
            named.setdefault(diagnosis.name, diagnosis)
    if not any(map(_says_it_all, found)):
        named = {name: one for name, one in named.items() if name not in against}
        for diagnosis in _by_words(reading, probabilities):
            known = named.get(diagnosis.name)
            if diagnosis.name not in against and (known is None or known.score < diagnosis.score):
                named[diagnosis.name] = diagnosis
    return tuple(sorted(named.values(), key=lambda one: -one.score)[:_MOST_DIAGNOSES])


def _by_situation(told: Situation | None) -> list[Diagnosis]:
    if told is None or told.page is None:
        return []
    score = _TOLD_AS_A_HINT if told.hint else _TOLD
    others = [_diagnosis(name, "the same words can mean this, too", score * _ALSO, ()) for name in told.also]
    return [_diagnosis(told.page, told.why, score, ()), *others]


def _worth_telling(found: list[Match]) -> list[Match]:
    """The message to believe, and one more of the same strength if it is another error of the text."""
    if not found:
        return []
    if found[0].signature.symptom:
        return _symptoms(found)
    first, *others = found
    second = [
        match
        for match in others
        if match.strength == first.strength
        and match.statement != first.statement
        and not match.signature.wraps
        and not match.signature.symptom
    ]
    return [first, *second[:1]]


def _symptoms(found: list[Match]) -> list[Match]:
    """What is complained of: `it always predicts one class` says more than `it does not learn`."""
    telling = [match for match in found if match.signature.symptom and match.signature.diagnosis is not None]
    return telling[:2] or found[:1]


def _by_message(match: Match, share: float, spoken: frozenset[str]) -> list[Diagnosis]:
    signature, recognised = match.signature, match.recognised
    if signature.diagnosis is None:
        return []
    certainty = "hint" if signature.symptom else signature.certainty
    score = _SCORES[certainty] * _HELD_BACK[match.strength] * share
    found = [_diagnosis(signature.diagnosis, recognised.why, score, (recognised.matched,))]
    for name in signature.also:
        telling = _words_of(name) - _words_of(signature.diagnosis)
        if telling and telling <= spoken:
            why = f"the same message, in a text that speaks of {_listed(sorted(telling))}"
            found.insert(0, _diagnosis(name, why, score + _PROMOTED, (recognised.matched, *sorted(telling))))
        else:
            why = f"the same {'words' if signature.symptom else 'message'} can mean this, too"
            found.append(_diagnosis(name, why, score * _ALSO, (recognised.matched,)))
    return found


def _words_of(name: str) -> frozenset[str]:
    return frozenset(words(name.replace("-", " ")))


def _by_words(reading: Reading, probabilities: dict[str, float]) -> list[Diagnosis]:
    likely = alike(reading.excerpt, _is_about_something_else(reading.excerpt, probabilities))[:_MOST_DIAGNOSES]
    if not likely:
        return []
    spellings = spelled(reading.excerpt)
    return [_by_likeness(one, spellings) for one in likely if one.score >= likely[0].score / 2]


def _is_about_something_else(text: str, probabilities: dict[str, float]) -> bool:
    """Somebody who builds, learns, installs or moves a model may use the words of a diagnosis and not have it."""
    if any(probabilities[kind] >= _SURELY for kind in _ELSEWHERE):
        return True
    asks = is_a_wish(text) or any(probabilities[kind] >= _SURELY for kind in _QUESTIONS)
    return asks and not complains(text)


def _by_likeness(likeness: Likeness, spellings: dict[str, str]) -> Diagnosis:
    shared = tuple(spellings.get(word, word) for word in likeness.words[:_WORDS_SHOWN])
    score = _BY_WORDS * likeness.score / (likeness.score + _HALF_WAY)
    return _diagnosis(likeness.name, f"the text speaks of {_listed(shared)}", score, shared)


def _listed(items: Sequence[str]) -> str:
    quoted = [f"“{item}”" for item in items]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _diagnosis(name: str, why: str, score: float, matched: tuple[str, ...]) -> Diagnosis:
    return Diagnosis(name, handbook.page(name).title, why, round(score, 3), matched)
