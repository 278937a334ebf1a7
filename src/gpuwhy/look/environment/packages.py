"""The one walk of the folders of packages: metadata and lists of files are read here, once."""

import re

from msgspec.structs import replace

from gpuwhy.facts.environment import Files, Package
from gpuwhy.facts.fact import Fact, Known, Unknown, absent, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Gathered, Machine, printable

METADATA_FOLDERS = r"[^~.].*\.(dist|egg)-info$"
_FILES = ("METADATA", "PKG-INFO", "RECORD", "WHEEL", "INSTALLER", "direct_url.json")
"""WHEEL and direct_url.json are asked for as recordings have them; nothing reads them."""
_FOLDER = r"([A-Za-z0-9][\w.]*(?:-[A-Za-z][\w.]*)*?)-(\d[^-]*)(?:-py[\d.]+)?"
_NAME = r"[A-Za-z0-9][\w.-]*"
_COMPARED = 200  # files of a RECORD, where a package has two metadata folders

GPU_PACKAGES = (
    r"tensorflow(-(gpu|cpu|intel|directml|rocm|cpu-aws|macos|aarch64|metal|directml-plugin))?"
    r"|tf-nightly(-(gpu|cpu|intel))?|torch|torchvision|torchaudio|pytorch-triton|jax|jaxlib"
    r"|jax-cuda\d+-(plugin|pjrt)|jax-metal|onnxruntime(-.+)?|ort-nightly(-.+)?|cupy(-.+)?"
    r"|paddlepaddle(-.+)?|mxnet(-.+)?|tensorrt(-.+)?|ctranslate2|bitsandbytes|flash-attn(-.+)?"
    r"|xformers|vllm|triton|numba|numba-cuda|faiss-gpu(-.+)?|llama-cpp-python|nvidia-.+"
)
"""Names of packages that belong to the GPU stack."""


def gpu_related(name: str) -> bool:
    """Whether a package (by its normalised name) belongs to the GPU stack."""
    return re.fullmatch(GPU_PACKAGES, name) is not None


def normal(name: str) -> str:
    """A package's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Package, ...]]:
    """Each installed package by its metadata folder, in the path's order.

    Those of PYTHONPATH that the environment has too are left to the shadows.
    """
    sites = facts.environment.sites.need()
    if sites is None:
        return absent("env", "PATH", "no Python")
    found: list[Package] = []
    for site in sites:
        gathered = machine.gather(site.path, METADATA_FOLDERS, *_FILES)
        if isinstance(gathered, Unknown):
            return gathered
        own = {one.name for one in found} if site.kind == "PYTHONPATH" else ()
        every = (_package(site.path, one) for one in value_or(gathered, ()))
        found += _real_first(machine, [one for one in every if one and one.name not in own])
    return known(tuple(found), "folder", ", ".join(site.path for site in sites))


def _package(site: str, found: Gathered) -> Package | None:
    stem, _, kind = found.name.rpartition(".")
    file = "PKG-INFO" if kind == "egg-info" else "METADATA"
    text = found.texts.get(file, found.texts.get("", ""))
    fields = _fields(printable(text))
    said = re.fullmatch(_FOLDER, stem)
    named = (fields.get("Name", [""])[0], fields.get("Version", [""])[0])
    name, version = said.groups() if said else named
    if not version or not re.fullmatch(_NAME, name) or not found.name.isascii():
        return None  # no installer writes such a name
    record, partly = found.texts.get("RECORD"), "RECORD" in found.partly
    return Package(
        name=normal(name),
        version=version,
        location=f"{site}/{found.name}",
        site=site,
        files=Files() if record is None else Files(record, "some" if partly else "all"),
        requires=_requires(found, f"{site}/{found.name}/{file}", fields),
        installer=found.texts.get("INSTALLER", "").strip()[:40],
        recorded=record is not None or "RECORD" in (*found.unread, *found.partly),
    )


def _fields(text: str) -> dict[str, list[str]]:
    """The heading of a metadata file: each field with its values."""
    out: dict[str, list[str]] = {}
    for line in text.split("\n"):
        name, tie, value = line.partition(": ")
        if tie:
            out.setdefault(name, []).append(value.strip())
    return out


def _requires(found: Gathered, path: str, fields: dict[str, list[str]]) -> Fact[tuple[str, ...]]:
    file = path.rpartition("/")[2]
    if file in found.unread:
        return Unknown(f"{path}: {found.unread[file]}")
    if file in found.partly and file not in found.texts:
        return Unknown(f"{path}: not in the recording")
    if file not in found.texts and "" not in found.texts:
        return absent("file", path)
    return known(tuple(fields.get("Requires-Dist", [])), "file", path)


def _real_first(machine: Machine, found: list[Package]) -> list[Package]:
    """Of packages with two metadata folders in one site, the one with its files first."""
    groups: dict[str, list[Package]] = {}
    for one in found:
        groups.setdefault(one.name, []).append(one)
    stale = set()
    for several in groups.values():
        if len(several) > 1:
            best = max(several, key=lambda one: _presence(machine, one))
            stale |= {one.location for one in several if one is not best}
    marked = [replace(one, second=True) if one.location in stale else one for one in found]
    return sorted(marked, key=lambda one: one.second) if stale else found


def _presence(machine: Machine, one: Package) -> tuple[float, str]:
    """The share of its listed files that are there in their size; then the newer release."""
    rows = [row for row in one.files.rows if row.sha256][:_COMPARED]
    rows = [row for row in rows if ".dist-info/" not in row.path]
    stats = ((machine.stat(f"{one.site}/{row.path}"), row.size) for row in rows)
    there = sum(isinstance(stat, Known) and stat.value.size == size for stat, size in stats)
    return (there / len(rows) if rows else 0.0), one.version
