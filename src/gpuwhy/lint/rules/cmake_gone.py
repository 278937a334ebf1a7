"""What CMake has taken away: compatibility with its old releases, and its own module for CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Call
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("cmake-gone", "warning", "what the CMake of today no longer has")

_FLOOR = source("CMake 4.0 release notes (March 2025)", "compatibility with CMake older than 3.5 has been removed")
_FINDCUDA = source("CMake policy CMP0146", "since 3.27 the module FindCUDA is removed")
_LANGUAGE = source("CMake project(), enable_language()", "C and CXX without LANGUAGES; .cu needs the language CUDA")
_OLDEST, _WITHOUT_MODULE = "3.5", "3.27"


def check(scope: Scope) -> Iterator[Mistake]:
    """The release that a project of CUDA asks for, the module that it loads, and the languages that it turns on."""
    calls = scope.environment.calls
    if scope.kind != "cmake" or not any(map(_speaks_of_cuda, calls)):
        return
    asked = next((call for call in calls if call.name == "cmake_minimum_required"), None)
    found = re.match(r"(\d+(?:\.\d+)*)(?:\.\.\.(\d+(?:\.\d+)*))?", _after(asked, "VERSION")) if asked else None
    newest = (found[2] or found[1]) if found else ""
    path = scope.environment.path
    if asked and newest:
        yield from _too_old(Place(path, asked.line), newest)
    if newest and at_least(newest, _WITHOUT_MODULE):
        yield from _module(path, calls, newest)
    yield from _language(path, calls)


def _too_old(place: Place, newest: str) -> Iterator[Mistake]:
    if not at_least(newest, _OLDEST):
        text = f"cmake_minimum_required asks for {newest}: CMake 4 and newer refuse what is older than {_OLDEST}"
        fix = f"write cmake_minimum_required(VERSION {newest}...3.31), or call cmake -DCMAKE_POLICY_VERSION_MINIMUM=3.5"
        yield RULE.mistake(place, text, _FLOOR, fix)


def _after(call: Call, word: str) -> str:
    """The word behind another one."""
    words = [one.upper() for one in call.words]
    at = words.index(word) + 1 if word in words else len(words)
    return call.words[at] if at < len(words) else ""


def _speaks_of_cuda(call: Call) -> bool:
    return bool(
        re.search(r"cuda|\.cu\b|nvcc|\btorch\b|tensorrt|nvinfer", f"{call.name} {' '.join(call.words)}".lower())
    )


def _module(path: str, calls: list[Call], newest: str) -> Iterator[Mistake]:
    """find_package(CUDA) under the policies of a CMake that has no such module."""
    kept = any("CMP0146" in call.words and "OLD" in call.words for call in calls)
    call = next((one for one in calls if one.name == "find_package" and one.words[:1] == ("CUDA",)), None)
    if call and not kept and not any("VERSION" in condition for condition in call.under):
        text = f"find_package(CUDA): with the policies of CMake {newest} there is no such module, since 3.27"
        fix = "write find_package(CUDAToolkit) and enable_language(CUDA)"
        yield RULE.mistake(Place(path, call.line), text, _FINDCUDA, fix, "error")


def _language(path: str, calls: list[Call]) -> Iterator[Mistake]:
    """Sources of CUDA in a project that turns that language on nowhere."""
    project = next((call for call in calls if call.name == "project"), None)
    made = next(filter(_has_cuda_source, calls), None)
    if project and made and not any(map(_may_turn_on, calls)):
        source_file = next(word for word in made.words if word.endswith(".cu"))
        text = f"{source_file} is CUDA, and the project turns only C and C++ on: CMake leaves it out"
        yield RULE.mistake(Place(path, project.line), text, _LANGUAGE, "write project(… LANGUAGES CXX CUDA)", "error")


def _may_turn_on(call: Call) -> bool:
    """Whether a call turns CUDA on, or may: by its own words, or in another file."""
    if call.name in ("add_subdirectory", "include", "macro", "function"):
        return True
    if call.name in ("project", "enable_language"):
        return "CUDA" in call.words
    return call.name == "find_package" and bool(re.search(r"^CUDA$|[Cc]uda|HIP|hip", " ".join(call.words[:1])))


def _has_cuda_source(call: Call) -> bool:
    made = call.name in ("add_executable", "add_library")
    return made and any(word.endswith(".cu") for word in call.words) and not call.under
