"""The one exception a command raises when Sleuth cannot do its job."""


class Refusal(Exception):
    """`str()` of it is the one line to show; the exit status is 2."""
