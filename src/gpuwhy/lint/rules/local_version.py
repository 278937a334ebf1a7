"""A build of PyTorch's index is asked for, and nothing names that index."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import PYTORCH, Pin
from gpuwhy.model.lint import Edit, Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("local-version", "error", "a +cu121 or +cpu build, and nothing names PyTorch's index")

_KNOW = source("version specifiers of Python packages", "local versions are not allowed on the package index")

_RANGES = source("version specifiers of Python packages", "ordered comparison: no local versions; packaging refuses it")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such pin; its neighbours need the same line."""
    stage = scope.environment
    for one in stage.refused:
        text = f"{one.text}: a local version goes with == alone, and pip refuses the whole file"
        yield RULE.mistake(one.place, text, _RANGES, "write the number without its + part, and name the index")
    yield from _jax(scope)
    yield from _of_a_site(scope)
    yield from _of_pyg(scope)
    if stage.other_index or _is_told(scope) or stage.locked or _may_be_there(scope):
        return
    pin = next((pin for pin in stage.pins if _of_own_index(pin) and not pin.indexes and not pin.backend), None)
    if pin is None or (
        scope.kind == "requirements" and scope.repository.tells_torch_index(pin.version.partition("+")[0])
    ):
        return
    yield _unnamed(scope, pin)


def _unnamed(scope: Scope, pin: Pin) -> Mistake:
    url = f"https://download.pytorch.org/whl/{pin.local}"
    text = f"{pin.name}=={pin.version} is on PyTorch's index alone, and nothing here names it"
    conda = scope.kind == "conda"
    fix, edit = f"{'list' if conda else 'install with'} --extra-index-url {url}{' under pip:' if conda else ''}", None
    if scope.kind == "requirements":
        written = f"{pin.name}{pin.specifier}"
        fix, edit = f"add the line --extra-index-url {url}", Edit(written, f"--extra-index-url {url}\n{written}")
    return RULE.mistake(pin.place, text, _KNOW, fix, edit=edit)


def _is_told(scope: Scope) -> bool:
    """Whether some file says where the build is; conda itself hands pip nothing but the file and its variables."""
    if scope.kind != "conda":
        return scope.environment.told_elsewhere
    own = scope.read(scope.environment.path) or ""
    return "download.pytorch.org" in own or scope.repository.says(_HANDED)


_HANDED = re.compile(r"PIP_(EXTRA_)?INDEX_URL|PIP_FIND_LINKS|pip\.conf|pip config")


def _of_pyg(scope: Scope) -> Iterator[Mistake]:
    """The first build of PyG's own page (torch-scatter==2.1.2+pt24cu124), and nothing names that page."""
    pin = next(filter(_is_of_pyg, scope.pins), None)
    if pin is None or scope.environment.other_index or scope.environment.locked or _tells_page(scope):
        return
    text = f"{pin.name}=={pin.version} is on PyG's own page alone, and nothing here names it"
    parts = re.fullmatch(r"pt(\d)(\d+)((?:cu|rocm)\d+|cpu)", pin.local)
    page = f"torch-{parts[1]}.{parts[2]}.0+{parts[3]}.html" if parts else "…"
    yield RULE.mistake(pin.place, text, _KNOW, f"add -f https://data.pyg.org/whl/{page} on a line of its own")


def _is_of_pyg(pin: Pin) -> bool:
    plain = pin.origin == "pip" and pin.by_name and pin.name in _PYG
    return plain and bool(re.match(r"pt\d", pin.local)) and not pin.indexes


def _tells_page(scope: Scope) -> bool:
    """Whether the file names the page, or one beside it does; to conda's pip that one is of no use."""
    told = re.compile(r"pyg\.org|pytorch-geometric\.com")
    own = told.search(scope.read(scope.environment.path) or "")
    return bool(own) or (scope.kind != "conda" and scope.repository.says(told))


_PYG = ("torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv", "pyg-lib")


def _may_be_there(scope: Scope) -> bool:
    """Whether the image may hold that build already: then pip looks for none."""
    return scope.over_unknown or scope.base.family in ("ngc", "pytorch", "aws")


def _of_a_site(scope: Scope) -> Iterator[Mistake]:
    """Wheels of one site's own store (+computecanada), named without it: nowhere else is there any of them."""
    found = [pin for pin in scope.pins if pin.origin == "pip" and pin.by_name and _SITES.match(pin.local)]
    pin = next((pin for pin in found if not pin.indexes), None)
    if pin is None or scope.environment.other_index or scope.environment.locked:
        return
    if _SITES.search(scope.read(posixpath.join(posixpath.dirname(pin.place.path), "README.md")) or ""):
        return  # it is meant for that site
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    text = f"{pin.name}=={pin.version}{more} is in the store of that site alone: pip finds it nowhere else"
    yield RULE.mistake(
        pin.place, text, _KNOW, "write the numbers without their + part, or say that it is for that site"
    )


_SITES = re.compile(r"compute ?canada|alliancecan|digital research alliance", re.IGNORECASE)


def _jax(scope: Scope) -> Iterator[Mistake]:
    """jax[cuda…] of the time when its jaxlib for CUDA was on Google's storage alone, and that jaxlib itself."""
    if scope.environment.other_index or scope.environment.locked:
        return
    if scope.kind == "pyproject" and "/jax-releases/" in (scope.read(scope.environment.path) or ""):
        return  # a source of Poetry's or uv's
    if scope.repository.says(_PAGE):
        return
    for pin in scope.pins:
        if pin.origin == "pip" and pin.version and not _found(pin):
            text = _of_google(pin)
            if text:
                yield RULE.mistake(pin.place, text, _JAX, _JAX_FIX)


def _of_google(pin: Pin) -> str:
    if pin.name == "jaxlib" and pin.local.startswith("cuda"):
        return f"jaxlib=={pin.version} is on Google's storage alone"
    extra = next((one for one in pin.extras if one.startswith("cuda") and not one.endswith("-local")), "")
    since = "0.4.26" if extra == "cuda12" else "0.4.30"
    if pin.name == "jax" and extra and not at_least(pin.version, since):
        return f"jax[{extra}]=={pin.version} asks for a jaxlib+cuda that only Google's storage has"
    return ""


def _found(pin: Pin) -> bool:
    """Whether a pin is a file, or some other index is named for it."""
    return pin.reference or bool(pin.indexes)


_PAGE = re.compile(r"storage\.googleapis\.com/jax-releases")
_JAX_FIX = "add -f https://storage.googleapis.com/jax-releases/jax_cuda_releases.html on a line of its own"
_JAX = source(
    "METADATA of jax 0.4.16 to 0.4.36", "cuda extras ask for jaxlib==…+cuda… up to 0.4.29; cuda12 up to 0.4.25"
)


def _of_own_index(pin: Pin) -> bool:
    """Whether a pin asks for a build that only PyTorch's own index has."""
    plain = pin.origin == "pip" and not pin.reference and not pin.limits
    return plain and pin.name in PYTORCH and pin.local.startswith(("cu", "cpu", "rocm"))
