"""The pytest plugin: `@pytest.mark.gpu` skips with the reason, `--gpuwhy` explains failures.

It loads nothing of gpuwhy until a marked test runs or a failure is to be explained.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    parser.addini(
        "gpuwhy_marker", "the marker of tests that need a GPU; empty: none", default=MARKER
    )


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
    if not marker or hasattr(
        config, "workerinput"
    ):  # a worker of xdist would die of it: there the test fails
        return
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
    return (
        f"there is no keyword {unknown!r}; its keywords are {', '.join(KEYWORDS)}"
        if unknown
        else ""
    )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Explain the failures, each cause once."""
    if not config.getoption("gpuwhy"):
        return
    reports = [*terminalreporter.stats.get("failed", ()), *terminalreporter.stats.get("error", ())]
    notes: dict[str, list[str]] = {}
    for report in reports[:_MOST]:
        notes.setdefault(_explained(_told(report)), []).append(report.nodeid)
    if not reports:
        return
    terminalreporter.section("gpuwhy")
    for note, tests in notes.items():
        terminalreporter.write_line(", ".join(tests), bold=True)
        terminalreporter.write_line(note or "nothing of the GPU stack in it")
    if len(reports) > _MOST:
        terminalreporter.write_line(f"{len(reports) - _MOST} more failures were not looked at")


def _explained(text: str) -> str:
    from gpuwhy.api.note import explained, written

    try:
        answer = explained(text, seconds=10.0)
        return written(answer) if answer else ""
    except Exception as error:
        return f"gpuwhy failed: {type(error).__name__}: {error}; please report it"


def _told(report: Any) -> str:
    """What the failing test printed: the error's own lines and the captured output."""
    return "\n".join(_parts(report))[-_LONGEST:]


def _parts(report: Any) -> Iterator[str]:
    for name, text in getattr(report, "sections", ()):
        if name.startswith("Captured"):
            yield text
    whole = getattr(report, "longreprtext", "") or str(getattr(report, "longrepr", ""))
    errors = [line[1:].strip() for line in whole.splitlines() if line.startswith("E ")]
    yield from errors or [whole]
