"""What the two models are compared on: inputs that were given, made from the signature, or searched for."""

from __future__ import annotations

from sleuth.compare.inputs.generated import generated
from sleuth.compare.inputs.given import given
from sleuth.compare.inputs.limits import Limit, limits_of
from sleuth.compare.inputs.sample import Sample
from sleuth.compare.inputs.saved import load, save
from sleuth.compare.inputs.search import search
from sleuth.compare.inputs.settled import settle

__all__ = ["Limit", "Sample", "generated", "given", "limits_of", "load", "save", "search", "settle"]
