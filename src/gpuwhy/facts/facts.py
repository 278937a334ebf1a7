"""Facts: everything observed of one machine and one Python environment, by subject."""

from typing import Any

import msgspec

from gpuwhy.facts.devices import Devices
from gpuwhy.facts.driver import Driver
from gpuwhy.facts.environment import Environment, Files
from gpuwhy.facts.fact import Record
from gpuwhy.facts.frameworks import Frameworks
from gpuwhy.facts.imports import Imports
from gpuwhy.facts.installs import Installs
from gpuwhy.facts.libraries import Libraries
from gpuwhy.facts.loads import Loads
from gpuwhy.facts.probe import Probe
from gpuwhy.facts.run import Run
from gpuwhy.facts.system import System
from gpuwhy.facts.variables import Variables


class Facts(Record, frozen=True):
    """All subjects of one machine; each field of a subject is a Fact."""

    system: System = System()
    driver: Driver = Driver()
    devices: Devices = Devices()
    variables: Variables = Variables()
    environment: Environment = Environment()
    frameworks: Frameworks = Frameworks()
    installs: Installs = Installs()
    libraries: Libraries = Libraries()
    loads: Loads = Loads()
    imports: Imports = Imports()
    probe: Probe = Probe()
    run: Run = Run()


def dump(facts: Facts) -> dict[str, Any]:
    """The JSON form: subjects → fields → {state, value, source}; of RECORDs the number of lines."""
    made: dict[str, Any] = msgspec.to_builtins(facts, enc_hook=_brief)
    return made


def load(data: Any) -> Facts:
    """The same, read back; raises msgspec.ValidationError."""
    return msgspec.convert(data, Facts, dec_hook=_whole)


def _brief(value: object) -> object:
    if isinstance(value, Files):
        return {"known": value.known, "files": len(value)}
    raise NotImplementedError(type(value))


def _whole(kind: type, value: Any) -> object:
    if kind is Files:
        return Files(str(value.get("record", "")), value.get("known", "none"))
    raise NotImplementedError(kind)
