"""The pytest plugin: `@pytest.mark.sleuth` watches a test, `--sleuth` all of them; what Sleuth finds fails the test.

Loaded with every pytest run, so it imports nothing of torch or of the live engine until a test is watched."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sleuth.findings import Finding
    from sleuth.live import Watch

if "sleuth.testing" not in sys.modules:
    pytest.register_assert_rewrite("sleuth.testing")

_MARKER = (
    "sleuth(expect=[...], ignore=[...], watch=True): watch this test; errors and warnings that Sleuth finds fail it. "
    "expect: what should be true of its training, in words; ignore: diagnoses to leave out; watch=False: not this one"
)
_WIDTH = 100


class _Watched:
    """One test under watch, and what came of it."""

    def __init__(self, item: pytest.Item) -> None:
        from sleuth.live import Watch

        self.settings = _Settings(item)
        self.watch: Watch = Watch(
            ignore=_ignored(item.config) | self.settings.ignore, program=item.nodeid, show=_nothing
        )
        # The phase whose report tells what was found.
        self.when: str | None = None

    @property
    def alarms(self) -> list[Finding]:
        return [finding for finding in self.watch.findings if finding.severity != "note"]

    def end(self, when: str, error: BaseException | None) -> None:
        if self.when is None:
            self.when = when
            self.watch.end(error)

    def text(self) -> str:
        from sleuth import report

        return report.render(self.watch.report, "terminal", width=_WIDTH)


class _Settings:
    """What the markers of a test say, those of its class and module included."""

    def __init__(self, item: pytest.Item) -> None:
        self.expect: list[str] = []
        self.ignore: frozenset[str] = frozenset()
        self.watch = True
        for marker in reversed(list(item.iter_markers("sleuth"))):
            unknown = set(marker.kwargs) - {"expect", "ignore", "watch"}
            if marker.args or unknown:
                given = f"{min(unknown)}=" if unknown else repr(marker.args[0])
                raise pytest.UsageError(
                    f"{item.nodeid}: @pytest.mark.sleuth takes expect=, ignore= and watch=, not {given}"
                )
            self.expect += _texts(marker.kwargs.get("expect", ()))
            self.ignore |= frozenset(_texts(marker.kwargs.get("ignore", ())))
            self.watch = bool(marker.kwargs.get("watch", True))


_WATCHED = pytest.StashKey[_Watched]()
_IGNORED = pytest.StashKey[frozenset[str]]()


def _texts(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _nothing(report: object) -> None:
    """The report becomes a section of the test's own."""


def _ignored(config: pytest.Config) -> frozenset[str]:
    """The diagnoses left out everywhere: on the command line, and by `[tool.sleuth]` in pyproject.toml."""
    if _IGNORED not in config.stash:
        from argparse import Namespace

        from sleuth import options
        from sleuth.cli.refusal import Refusal

        given = Namespace(ignore=config.getoption("sleuth_ignore"), format=None, output=None)
        try:
            config.stash[_IGNORED] = options.resolve(given, "pytest").ignore
        except Refusal as refusal:
            raise pytest.UsageError(f"sleuth: {refusal}".replace("--ignore", "--sleuth-ignore")) from None
    return config.stash[_IGNORED]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("sleuth", "why a deep-learning program misbehaves")
    group.addoption(
        "--sleuth", action="store_true", help="watch the training in every test; what Sleuth finds fails it"
    )
    group.addoption(
        "--sleuth-ignore",
        metavar="NAME",
        action="append",
        help="leave a diagnosis out; repeat it, or separate names by commas",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("sleuth_ignore"):
        _ignored(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A marker that cannot be read is an error of the whole run, not of one test."""
    for item in items:
        if item.get_closest_marker("sleuth") is not None:
            _check_names(item, _Settings(item).ignore)


def _check_names(item: pytest.Item, names: Iterable[str]) -> None:
    from sleuth import handbook

    for name in sorted(set(names).difference(handbook.names() if names else ())):
        raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.sleuth: {handbook.UnknownDiagnosis(name)}")


def _is_watched(item: pytest.Item) -> bool:
    if item.get_closest_marker("sleuth") is not None:
        return _Settings(item).watch
    return bool(item.config.getoption("sleuth"))


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fixtures are watched too: they make the layers and optimisers whose lines the report names."""
    if not _is_watched(item):
        return (yield)
    watched = item.stash[_WATCHED] = _Watched(item)
    watched.watch.start()
    error: BaseException | None = None
    try:
        yield
    except BaseException as raised:
        error = raised
    if error is not None:
        watched.end("setup", error)
        _judge(watched, error)
        raise error
    return None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    watched = item.stash.get(_WATCHED, None)
    if watched is None:
        return (yield)
    error: BaseException | None = None
    result = None
    try:
        with ExitStack() as expectations:
            _expect(watched.settings.expect, expectations)
            result = yield
    except BaseException as raised:
        error = raised
    watched.end("call", error)
    _forget_stops(item)
    _judge(watched, error)
    if error is not None:
        raise error
    return result


def _expect(sentences: list[str], expectations: ExitStack) -> None:
    if not sentences:
        return
    import sleuth

    trouble = None
    try:
        expectations.enter_context(sleuth.expect(*sentences))
    except ValueError as error:
        trouble = str(error)
    if trouble is not None:
        pytest.fail(f"@pytest.mark.sleuth(expect=...): {trouble}", pytrace=False)


def _judge(watched: _Watched, error: BaseException | None) -> None:
    """Fail the test for what was found, unless it failed, or was skipped, for a reason of its own."""
    from sleuth import ExpectationBroken
    from sleuth.live.stop import Stop

    if error is not None and not isinstance(error, Stop | ExpectationBroken):
        return
    alarms = watched.alarms
    if not alarms and error is None:
        return
    lines = [_line(finding) for finding in alarms] or [str(error).strip() or "sleuth: stopped"]
    if isinstance(error, Stop):
        lines.append(
            f"the test was ended there, after {watched.watch.steps:,} steps: what followed would be spoilt by it"
        )
    pytest.fail("\n".join(lines), pytrace=False)


def _line(finding: Finding) -> str:
    at = f"{finding.place.path}:{finding.place.line}: " if finding.place is not None else ""
    return f"sleuth: {at}{finding.title} [{finding.diagnosis}]"


def _forget_stops(item: pytest.Item) -> None:
    """unittest catches everything a test raises and keeps it for the report; a stop is told by the findings instead."""
    from sleuth.live.stop import Stop

    kept = getattr(item, "_excinfo", None)
    if kept:
        item._excinfo = [info for info in kept if not isinstance(info.value, Stop)] or None  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    watched = item.stash.get(_WATCHED, None)
    if watched is not None and watched.when == call.when:
        # A plain list, so that it comes through from the processes of pytest-xdist.
        report.sleuth = [finding.diagnosis for finding in watched.alarms]
        report.sleuth_saw_training = bool(watched.watch.steps or watched.watch.backwards)
        if watched.watch.findings:
            report.sections.append(("sleuth", watched.text()))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    watched = item.stash.get(_WATCHED, None)
    if watched is not None:
        watched.end("teardown", None)
    return (yield)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    told = [r for reports in terminalreporter.stats.values() for r in reports if hasattr(r, "sleuth")]
    if not told:
        return
    names = sorted({name for report in told for name in report.sleuth})
    failed = sum(bool(report.sleuth) for report in told)
    tests = f"{len(told):,} test{'s' * (len(told) != 1)} watched"
    trained = sum(report.sleuth_saw_training for report in told)
    unseen = "" if trained == len(told) else f"; {trained or 'none'} of them trained"
    terminalreporter.write_line(
        f"sleuth: {tests}, {failed:,} with findings: {', '.join(names)}"
        if failed
        else f"sleuth: {tests}, nothing found{unseen}"
    )
