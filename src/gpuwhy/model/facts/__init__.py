"""Facts: everything observed of one machine and one Python environment, by subject.

Each subject is a frozen record whose fields are all `Fact`s. A field that nobody filled is `Unknown("not observed")`,
so a cause that asks for it stays undetermined instead of guessing.
One file per subject, as in observe/; everybody imports from here.
"""

from __future__ import annotations

from gpuwhy.model.facts.devices import Device, Devices, Ecc, GpuProcess, Mig, NvmlError, PciDevice, PcieLink, Visibility
from gpuwhy.model.facts.driver import DeviceNode, Driver, Package
from gpuwhy.model.facts.environment import Environment, Fault, Started, Variable
from gpuwhy.model.facts.libraries import Flaw, Libraries, LibraryCopy
from gpuwhy.model.facts.loads import (
    DriverLibrary,
    Extension,
    Fate,
    LoadedLibrary,
    Loads,
    LoadTree,
    MissingLibrary,
    NeededLibrary,
    OldRuntime,
    Rule,
    UnmetSymbol,
    Via,
    by_preload,
    by_rpath,
    by_runpath,
    way,
)
from gpuwhy.model.facts.probe import Call, FrameworkRun, Probe, Rate, Stage
from gpuwhy.model.facts.record import Record
from gpuwhy.model.facts.run import Ahead, GpuUse, HostMoment, HostUse, Limit, Moment, Place, Run
from gpuwhy.model.facts.surroundings import Injected, KernelEvent, KernelLine, Memory, Space, Surroundings, Tasks
from gpuwhy.model.facts.target import (
    BARRED,
    COMMAND_GONE,
    COMMAND_LOST,
    COMMANDS,
    DATA_BROKEN,
    EDITED,
    MISFITS,
    NO_EXEC,
    NOT_RUN,
    OTHER_PYTHON,
    SCRIPT_FOLDER,
    USER_SITE,
    WORKING_FOLDER,
    Conflict,
    Contradiction,
    Damage,
    Distribution,
    Exported,
    Framework,
    Imported,
    Interpreter,
    Opened,
    Shadow,
    Sourced,
    Start,
    Target,
    Unfit,
)
from gpuwhy.model.facts.toolkits import Toolkit, Toolkits


class Facts(Record, frozen=True):
    """All subjects of one machine."""

    surroundings: Surroundings = Surroundings()
    environment: Environment = Environment()
    driver: Driver = Driver()
    devices: Devices = Devices()
    toolkits: Toolkits = Toolkits()
    target: Target = Target()
    libraries: Libraries = Libraries()
    loads: Loads = Loads()
    probe: Probe = Probe()
    run: Run = Run()
