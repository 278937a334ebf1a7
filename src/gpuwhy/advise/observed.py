"""What a machine's facts state, as a Case: so the rows serve both halves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gpuwhy.facts.fact import Known
from gpuwhy.log.case import Case, GpuProcess, NamedGpu, Release, Stated

if TYPE_CHECKING:
    from gpuwhy.facts.facts import Facts

_OS = {"linux": "linux", "windows": "windows", "darwin": "macos"}


def case_of(facts: Facts, subject: str) -> Case:
    """The Case of a machine; the framework that a cause concerns stands first."""
    installed = _value(facts.frameworks.installed, ())
    about = subject.lower()
    named = (one for one in installed if about.startswith((one.title.lower(), one.name.lower())))
    first = next(named, None) if about else None
    gpus, driver = _value(facts.devices.gpus, ()), facts.driver.module_version
    if not isinstance(driver, Known):
        driver = facts.driver.windows_version
    made: dict[str, Any] = {
        "frameworks": (Release(first.name, first.version),) if first else (),
        "packages": tuple(
            Release(one.name, one.version) for one in _value(facts.environment.packages, ())
        ),
        "variables": {
            one.name: Stated(one.value, 0) for one in _value(facts.variables.variables, ())
        },
        "driver_version": _stated(driver),
        "driver_cuda": _stated(facts.driver.driver_cuda),
        "built_for_cuda": _stated(first.built_for_cuda) if first else None,
        "built_for_cudnn": _stated(first.built_for_cudnn) if first else None,
        "gpus": tuple(NamedGpu(one.name, _value(one.capability, "")) for one in gpus),
        "processes": tuple(
            GpuProcess(one.pid, _value(one.name, ""), _value(one.memory, 0))
            for gpu in gpus
            for one in _value(gpu.processes, ())
        ),
    }
    system = _value(facts.system.os, "")
    if system in _OS:
        made["os"] = Stated(_OS[system], 0)
    wsl = _value(facts.system.wsl, 0)
    made["wsl"] = Stated(wsl, 0) if wsl else None
    python = _value(facts.environment.python, None)
    made["python"] = Stated(python.version, 0) if python else None
    return msgspec.structs.replace(Case(), **made)


def _value(fact: Any, default: Any) -> Any:
    return fact.value if isinstance(fact, Known) else default


def _stated(fact: Any) -> Stated[str] | None:
    return Stated(str(fact.value), 0) if isinstance(fact, Known) and fact.value else None
