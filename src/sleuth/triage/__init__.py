"""Which known problem a text describes: a question, an error, a traceback or a log. Standard library only."""

from sleuth.known_errors import Frame, Recognised
from sleuth.triage.answer import KINDS, Answer, Diagnosis, Step
from sleuth.triage.asking import ask

__all__ = ["KINDS", "Answer", "Diagnosis", "Frame", "Recognised", "Step", "ask"]
