"""Floors: every row has a source, and says something that holds."""

import re


from gpuwhy.knowledge import archs
from gpuwhy.knowledge.floors import Floor
from gpuwhy.knowledge.tables import rows
from gpuwhy.knowledge.guests import _guests
from gpuwhy.knowledge.releases import projects
from gpuwhy.knowledge.torch_builds import variants
from gpuwhy.facts.version import at_least


def test_every_row_says_something_and_whence():
    for row in rows("floors.jsonl", Floor):
        says = (row.gpu, row.systems, row.cuda, row.asks, row.adds, row.builds, row.compiler, row.note, row.variables)
        assert any(says), row.package
        assert row.source.where, row.package
        assert not row.gpu or archs.of(row.gpu), row.package
        assert not row.until or at_least(row.until, row.since), row.package


def test_every_row_is_about_a_package_that_is_planned():
    known = [*projects(), *_guests()]
    lost = [row.package for row in rows("floors.jsonl", Floor) if not any(re.fullmatch(row.package, name) for name in known)]
    assert lost == []


def test_builds_of_pytorchs_own_index_cannot_have_what_their_cuda_cannot_make():
    """No list of code names an architecture that its toolkit does not know."""
    for release in [f"1.{n}.0" for n in range(2, 14)] + [f"2.{n}.0" for n in range(15)]:
        for machine in ("x86_64", "aarch64"):
            for variant in variants(release, machine):
                assert variant.code, f"{release} {variant.cuda}"
                for code in variant.code:
                    arch = archs.of(f"{code[3:-1]}.{code[-1]}")
                    assert arch, code
                    assert not arch.first_toolkit or at_least(variant.cuda, arch.first_toolkit), f"{release} {variant}"
                    assert not arch.last_toolkit or at_least(arch.last_toolkit, variant.cuda), f"{release} {variant}"
