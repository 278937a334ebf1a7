"""The note on an exception: 80 columns, its name included."""

from __future__ import annotations

import pytest

from gpuwhy.render.note import render

from .reports import ALL


@pytest.mark.parametrize("name", ALL)
def test_width_is_kept(name):
    report = ALL[name]()
    commands = {line.strip() for cause in report.causes for fix in cause.fixes for line in fix.command.splitlines()}
    for line in f"gpuwhy: {render(report)}".splitlines():
        assert len(line) <= 80 or line.strip() in commands or len(line.split()[-1]) > 60, line


def test_the_headline_is_whole():
    report = ALL["awkward"]()
    assert " ".join(render(report).split()).startswith(" ".join(report.headline.split())[:60])
