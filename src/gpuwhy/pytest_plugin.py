"""The pytest plugin: `@pytest.mark.gpu` skips with the reason, `--gpuwhy` explains failures.

It loads nothing of gpuwhy until a marked test runs or a failure is to be explained.
"""

from __future__ import annotations

from typing import Any

import pytest

MARKER = "gpu"
KEYWORDS = ("free", "capability", "n")
_LONGEST = 100_000
_MOST = 20


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option and the setting."""
    group = parser.getgroup("gpuwhy")
    group.addoption("--gpuwhy", action="store_true", help="explain GPU failures in the summary")
    text = "the marker of tests that need a GPU; empty: none"
    parser.addini("gpuwhy_marker", text, default=MARKER)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    marker = config.getini("gpuwhy_marker")
    if marker:
        text = "needs a GPU, and skips where there is none, with the reason"
        config.addinivalue_line("markers", f'{marker}(free="8GB", capability=">=8.0", n=1): {text}')


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse a marker with a keyword that does not exist, before any test runs."""
    marker = config.getini("gpuwhy_marker")
    if not marker or hasattr(config, "workerinput"):
        return  # a worker of xdist would die of it: there the test fails
    for item in items:
        for mark in item.iter_markers(marker):
            if wrong := _unknown(mark):
                raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.{marker}: {wrong}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a marked test where there is no such GPU."""
    marker = item.config.getini("gpuwhy_marker")
    for mark in item.iter_markers(marker) if marker else ():
        from gpuwhy.api.select import why_not

        if wrong := _unknown(mark):
            pytest.fail(f"@pytest.mark.{marker}: {wrong}", pytrace=False)
        try:
            why = why_not(*mark.args, **mark.kwargs)
        except (TypeError, ValueError) as error:
            pytest.fail(f"@pytest.mark.{marker}: {error}", pytrace=False)
        if why:
            pytest.skip(why)


def _unknown(mark: pytest.Mark) -> str:
    """What is wrong with a marker's keywords, or ""."""
    unknown = next((name for name in mark.kwargs if name not in KEYWORDS), "")
    known = ", ".join(KEYWORDS)
    return f"there is no keyword {unknown!r}; its keywords are {known}" if unknown else ""


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Explain the failures, each cause once."""
    found = terminalreporter.stats.get
    reports = [*found("failed", ()), *found("error", ())] if config.getoption("gpuwhy") else []
    notes: dict[str, list[str]] = {}
    for report in reports[:_MOST]:
        notes.setdefault(_explained(report), []).append(report.nodeid)
    if not reports:
        return
    terminalreporter.section("gpuwhy")
    for note, tests in notes.items():
        terminalreporter.write_line(", ".join(tests), bold=True)
        terminalreporter.write_line(note or "nothing of the GPU stack in it")
    if len(reports) > _MOST:
        terminalreporter.write_line(f"{len(reports) - _MOST} more failures were not looked at")


def _explained(report: Any) -> str:
    """The note on what the failing test printed: captured output, then the error's own lines."""
    from gpuwhy.api.note import explained, written

    printed = [text for name, text in getattr(report, "sections", ()) if name[:8] == "Captured"]
    whole = getattr(report, "longreprtext", "") or str(getattr(report, "longrepr", ""))
    errors = [line[1:].strip() for line in whole.splitlines() if line.startswith("E ")]
    try:
        answer = explained("\n".join([*printed, *(errors or [whole])])[-_LONGEST:], seconds=10.0)
        return written(answer) if answer else ""
    except Exception as error:
        return f"gpuwhy failed: {type(error).__name__}: {error}; please report it"
