"""The pytest plugin: `@pytest.mark.gpu` skips with the true reason, `--gpuwhy` explains failures in the summary.

It loads nothing of gpuwhy until a marked test runs or a failure is to be explained.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

MARKER = "gpu"
_LONGEST = 100_000
_MOST = 20


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option and the setting."""
    group = parser.getgroup("gpuwhy")
    group.addoption("--gpuwhy", action="store_true", help="explain GPU failures in the summary")
    parser.addini("gpuwhy_marker", "the marker of tests that need a GPU; empty: none", default=MARKER)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    marker = config.getini("gpuwhy_marker")
    if marker:
        text = "needs a GPU, and skips where there is none, with the reason"
        config.addinivalue_line("markers", f'{marker}(free="8GB", capability=">=8.0", n=1): {text}')


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a marked test where there is no such GPU."""
    marker = item.config.getini("gpuwhy_marker")
    for mark in item.iter_markers(marker) if marker else ():
        from gpuwhy.inside.available import why_not

        try:
            why = why_not(*mark.args, **mark.kwargs)
        except (TypeError, ValueError) as error:
            raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.{marker}: {error}") from None
        if why:
            pytest.skip(why)


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
    from gpuwhy.inside.diagnosis import note_on

    try:
        return note_on(text, machine=True, seconds=10.0, where="pytest")
    except Exception as error:
        return f"gpuwhy failed: {type(error).__name__}: {error}; please report it"


def _told(report: Any) -> str:
    """What the failing test said: the error's own lines and the captured output, without the source around them."""
    return "\n".join(_parts(report))[-_LONGEST:]


def _parts(report: Any) -> Iterator[str]:
    for name, text in getattr(report, "sections", ()):
        if name.startswith("Captured"):
            yield text
    whole = getattr(report, "longreprtext", "") or str(getattr(report, "longrepr", ""))
    errors = [line[1:].strip() for line in whole.splitlines() if line.startswith("E ")]
    yield from errors or [whole]
