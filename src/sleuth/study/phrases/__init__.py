"""Verb phrases out of titles: what people want to do, and to what."""

from sleuth.study.phrases.extract import Phrase, extract

__all__ = ["Phrase", "extract"]
