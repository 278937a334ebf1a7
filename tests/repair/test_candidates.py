"""Which other releases are tried in a copy where a repair left an import that still fails."""

from __future__ import annotations

from gpuwhy.model.facts import Imported
from gpuwhy.repair.candidates import MOST, candidates

SITE = "/v/lib/python3.11/site-packages"
RELEASES = {"datasets": "2.10.1", "pyarrow": "21.0.0", "keras": "2.4.3", "tensorflow": "1.15.5", "hub-of": "0.36.0"}


def asked(one: Imported, staying: tuple[str, ...] = ()) -> list[str]:
    return [f"{'newest ' * action.upgrade}{action.install[0]}" for action in candidates(one, RELEASES, staying)]


def failed(module: str, why: str, *packages: str) -> Imported:
    files = tuple(f"{SITE}/{name}/__init__.py" for name in packages)
    return Imported(module, "jax", "raised", why=why, files=files)


def test_the_partner_that_the_error_names_goes_back_first_then_the_package_itself_moves() -> None:
    one = failed("datasets", "AttributeError: module 'pyarrow' has no attribute 'PyExtensionType'", "datasets")
    found = asked(one)
    assert found[:4] == ["pyarrow<21", "pyarrow<20", "pyarrow<18", "pyarrow<14"]
    assert found[4:6] == ["newest datasets", "datasets<2.10"]
    assert found[-1] == "newest pyarrow"
    assert len(found) <= MOST


def test_the_steps_back_get_wider_so_that_a_name_which_was_dropped_long_ago_is_reached() -> None:
    one = failed("datasets", "ImportError: cannot import name 'x' from 'hub_of' (/v)", "datasets")
    assert asked(one)[:5] == ["hub-of<0.36", "hub-of<0.35", "hub-of<0.33", "hub-of<0.29", "hub-of<0.21"]


def test_a_framework_stays_and_what_is_imported_on_it_moves() -> None:
    one = failed("keras", "ImportError: Keras requires TensorFlow 2.2 or higher", "keras", "tensorflow")
    assert asked(one)[:2] == ["newest keras", "keras<2.4"]
    assert all("tensorflow" not in text for text in asked(one))
    assert asked(one, ("keras",)) == []


def test_what_is_called_otherwise_than_it_is_imported_is_left() -> None:
    assert asked(failed("nobody_knows", "AttributeError: module 'of_nobody' has no attribute 'x'")) == []
