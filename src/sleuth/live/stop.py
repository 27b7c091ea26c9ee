"""How Sleuth ends a program after a verdict."""


class Stop(BaseException):
    """Not an Exception, so that no `except Exception` of the program swallows it."""


class RankStop(SystemExit, Stop):
    """For a process that another one waits for: it leaves quietly, with an exit status."""
