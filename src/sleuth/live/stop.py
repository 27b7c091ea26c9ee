"""How Sleuth ends a program after a verdict."""


class Stop(BaseException):
    """Not an Exception, so that no `except Exception` of the program swallows it."""
