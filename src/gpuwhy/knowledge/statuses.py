"""Status codes of CUDA and its libraries: numbers and names in every spelling, each to one canonical word.

The words are those of the driver API in lower case ("no_device" for cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE, 100, and
38 before CUDA 10.1). data/status_codes.json was read from the headers and from the libraries themselves.
"""

from __future__ import annotations

from functools import cache

import msgspec

from gpuwhy.knowledge.tables import load


class CudaRow(msgspec.Struct, frozen=True):
    """One error of the CUDA runtime and driver."""

    code: int
    slug: str
    names: tuple[str, ...]
    old: tuple[int, ...]  # numbers before CUDA 10.1
    says: tuple[str, ...]  # what cudaGetErrorString prints


class StatusRow(msgspec.Struct, frozen=True):
    """One status of a library: its name, and its numbers (cuDNN 9 renumbered)."""

    name: str
    codes: tuple[int, ...]


class Table(msgspec.Struct, frozen=True):
    """The whole file."""

    sources: dict[str, str]
    cuda: tuple[CudaRow, ...]
    libraries: dict[str, dict[str, StatusRow]]


OLD_ONLY = {-1: "stub_library"}
"""A stub libcuda of CUDA 11 and older answers every call with -1."""


@cache
def table() -> Table:
    """The table, read once."""
    return load("status_codes.json", Table)


@cache
def _cuda_names() -> dict[str, str]:
    return {name.lower(): row.slug for row in table().cuda for name in row.names}


def cuda_by_name(name: str) -> str:
    """The word for cudaErrorX or CUDA_ERROR_X, whatever the case; "" when there is no such error."""
    return _cuda_names().get(name.lower(), "")


@cache
def cuda_messages() -> dict[str, str]:
    """What cudaGetErrorString prints, in lower case, to the word."""
    return {text.lower().rstrip("."): row.slug for row in table().cuda for text in row.says}


def cuda_by_number(number: int) -> str:
    """The word for a number; the numbering before CUDA 10.1 counts where the newer one has none."""
    rows = table().cuda
    new = next((row.slug for row in rows if row.code == number), "")
    return new or next((row.slug for row in rows if number in row.old), "") or OLD_ONLY.get(number, "")


def cuda_code(slug: str) -> int:
    """The number of today for a word; 0 when there is none."""
    return next((row.code for row in table().cuda if row.slug == slug), 0)


def library_by_name(library: str, name: str) -> str:
    """The word for CUDNN_STATUS_X and its kind; "" for success and for names that do not exist."""
    wanted = name.lower().replace("_", "")
    rows = table().libraries.get(library, {})
    return next((slug for slug, row in rows.items() if row.name.lower().replace("_", "") == wanted), "")


def library_by_number(library: str, number: int) -> str:
    """The word for a bare number of a library."""
    rows = table().libraries.get(library, {})
    return next((slug for slug, row in rows.items() if number in row.codes), "")
