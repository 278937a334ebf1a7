"""What is installed, or set, so that an import works that was tried and failed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuwhy.model.cause import Case
from gpuwhy.model.facts import Facts, Imported
from gpuwhy.rooms.framework import extension_abi
from gpuwhy.rooms.shared.bringing import for_the_import

from .facts import base, change, load
from .test_causes import HERE


def with_releases(**releases: str) -> Case:
    plain: Any = base("healthy")
    rows = [{"name": n, "version": v, "location": "/s", "installer": {"absent": "x"}} for n, v in releases.items()]
    change(plain, "target.distributions", {"known": rows})
    return Case(msgspec.convert(plain, type=Facts))


@pytest.mark.parametrize(
    ("releases", "first"),
    [
        ({"keras": "3.7.0", "jax": "0.4.38"}, "export KERAS_BACKEND=jax"),
        ({"keras": "3.7.0"}, ""),
        ({"keras": "2.12.0", "jax": "0.4.38"}, ""),
    ],
)
def test_keras_takes_a_backend_that_is_there_before_another_is_installed(releases: dict[str, str], first: str) -> None:
    lost = Imported("keras", "jax", "raised", kind="ModuleNotFoundError", why="No module", lost="tensorflow")
    found = for_the_import(with_releases(**releases), lost)
    assert (found[0].command == first) is bool(first)
    assert "tensorflow" in found[-1].install[0]


def test_the_partner_that_lacks_a_name_is_offered_back() -> None:
    why = "AttributeError: module 'pyarrow' has no attribute 'PyExtensionType'"
    site = "/v/lib/python3.12/site-packages/datasets/__init__.py"
    one = Imported("datasets", "torch", "raised", kind="AttributeError", why=why, files=(site,))
    found = for_the_import(with_releases(datasets="2.10.1", pyarrow="21.0.0"), one)
    assert found[-1].install == ("pyarrow<21",)


def test_a_stray_plugin_is_put_aside_and_nothing_is_compiled() -> None:
    _, facts = load(HERE / "framework/extension_abi/shown-plugin.json")
    (fix,) = extension_abi.fixes(Case(facts))
    assert fix.command.startswith("mv ")
    assert "libtfdml_plugin.so" in fix.command
