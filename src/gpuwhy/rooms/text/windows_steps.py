"""Windows steps: what is typed at a prompt of Windows one after the other, so that nothing is missing: the compiler, the environment, variables, folders."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuwhy.knowledge.extensions import BUILT_BY, package_of
from gpuwhy.knowledge.prompts import windows_shell
from gpuwhy.knowledge.windows import BUILD_TOOLS
from gpuwhy.model import on
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import commands

KITS = r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA"


class Step(NamedTuple):
    """A line for cmd, and how PowerShell says it, where that is another."""

    cmd: str
    powershell: str = ""

    @property
    def power(self) -> str:
        """The line for PowerShell."""
        return self.powershell or self.cmd


def chain(case: Asked, *steps: Step | None) -> on.Command:
    """The steps that there are as one command, for the shell whose prompt the text shows, else for cmd."""
    kept = [one for one in steps if one]
    shell = windows_shell(case.text)
    if shell == "powershell":
        return on.powershell("\n".join(one.power for one in kept))
    both = not shell and len(kept) == 1 and kept[0].powershell
    return on.cmd("\n".join(one.cmd for one in kept), kept[0].powershell if both else "")


def first_on_path(*folders: str) -> Step:
    """Folders before all others, in this window."""
    joined = ";".join(folders)
    return Step(f"set PATH={joined};%PATH%", f'$env:PATH = "{joined};$env:PATH"')


def variable(name: str, value: str) -> Step:
    """A variable, in this window."""
    return Step(f"set {name}={value}", f'$env:{name} = "{value}"')


_STUDIO = Later(
    r"([A-Za-z]:[\\/]+Program Files(?: \(x86\))?[\\/]+Microsoft Visual Studio[\\/]+(20(?:17|19|22)|18)[\\/]+(Community|Professional|Enterprise|BuildTools|Preview))[\\/]",
    re.IGNORECASE,
)
_YEAR = Later(r"Visual Studio (?:1[4-8] )?(20(?:15|17|19|22|26))\b")
_NUMBERED = {"2017": "v150", "2019": "v160", "2022": "v170", "18": "v180", "2026": "v180"}


class Studio(NamedTuple):
    """A Visual Studio that a text shows: its folder, where that is told, and its year."""

    folder: str = ""
    year: str = ""

    @property
    def number(self) -> str:
        """The folder of its MSBuild that is named by its version: v170 of 2022."""
        return _NUMBERED.get(self.year, "v170")


def studio(case: Asked) -> Studio:
    """The Visual Studio that a text names, by its folder or by its year."""
    if found := _STUDIO.search(case.text):
        return Studio(re.sub(r"[\\/]+", r"\\", found[1]), found[2])
    named = _YEAR.search(case.text)
    return Studio("", named[1] if named else "")


_VSWHERE = r"%ProgramFiles(x86)%\Microsoft Visual Studio\Installer\vswhere.exe"
_FOUND = "-latest -products * -property installationPath"


def compiler(case: Asked) -> Step:
    """Visual Studio's compiler in this window: by its folder, else wherever its installer says that it is."""
    launch = r'& "$vs\Common7\Tools\Launch-VsDevShell.ps1" -Arch amd64 -HostArch amd64'
    if folder := studio(case).folder:
        return Step(rf'call "{folder}\VC\Auxiliary\Build\vcvars64.bat"', f'$vs = "{folder}"; {launch}')
    asked = (
        f'for /f "usebackq delims=" %i in (`"{_VSWHERE}" {_FOUND}`) do call "%i\\VC\\Auxiliary\\Build\\vcvars64.bat"'
    )
    seen = rf'$vs = & "${{env:ProgramFiles(x86)}}\Microsoft Visual Studio\Installer\vswhere.exe" {_FOUND}; {launch}'
    return Step(asked, seen)


def tools(case: Asked) -> Step | None:
    """Visual Studio's C++ tools, where the text shows none."""
    return None if studio(case).folder else Step(str(BUILD_TOOLS))


class Toolset(NamedTuple):
    """A set of Visual C++: its number, its name in Visual Studio's installer, and the id there."""

    number: str
    name: str
    id: str


_OWN = r"C:\Program Files (x86)\Microsoft Visual Studio\2022\BuildTools"


def with_toolset(case: Asked, wanted: Toolset) -> tuple[Step, Step]:
    """An older set of Visual C++ beside the newest: added to the Visual Studio of the text, else to the build tools; and loaded."""
    folder = studio(case).folder
    setup = r"C:\Program Files (x86)\Microsoft Visual Studio\Installer\setup.exe"
    if folder:
        modify = f'modify --installPath "{folder}" --add {wanted.id} --passive'
        added = Step(f'"{setup}" {modify}', f'& "{setup}" {modify}')
    else:
        added = Step(str(BUILD_TOOLS).replace("--includeRecommended", f"--includeRecommended --add {wanted.id}"))
    vcvars = rf"{folder or _OWN}\VC\Auxiliary\Build\vcvars64.bat"
    return added, Step(f'call "{vcvars}" -vcvars_ver={wanted.number}', f'cmd /k "{vcvars}" -vcvars_ver={wanted.number}')


_CONDA = Later(r"[\\/]envs[\\/](\w[\w.-]*)[\\/]|conda activate (\w[\w.-]*)", re.IGNORECASE)
_PROMPTED = Later(r"^\((\w[\w.+-]*)\) ?(?:PS )?[A-Z]:\\", re.MULTILINE)
_VENV = Later(r"([A-Za-z]:\\(?:[^\n\\\"'<>|*?:]+\\)*\.?v?env)\\(?:lib|Scripts)\\", re.IGNORECASE)
_OF_CONDA = Later(r"conda|mamba|miniforge|[\\/]envs[\\/]", re.IGNORECASE)


def environment(case: Asked) -> str:
    """The name of the conda environment that a text shows, or ""."""
    found = _CONDA.search(case.text)
    if found:
        return str(found[1] or found[2])
    named = _PROMPTED.search(case.text)
    return named[1] if named and _OF_CONDA.search(case.text) and named[1] not in (".venv", "venv", "env") else ""


def by_conda(case: Asked) -> bool:
    """Whether the text is from a Python of conda."""
    return bool(_OF_CONDA.search(case.text))


def activated(case: Asked) -> Step | None:
    """The environment of the text, active in a window that is new."""
    if name := environment(case):
        return Step(f"conda activate {name}")
    if venv := _VENV.search(case.text):
        return Step(f'call "{venv[1]}\\Scripts\\activate.bat"', f'& "{venv[1]}\\Scripts\\Activate.ps1"')
    named = _PROMPTED.search(case.text)
    if named and named[1] in (".venv", "venv", "env"):
        return Step(f"call {named[1]}\\Scripts\\activate.bat", f".\\{named[1]}\\Scripts\\Activate.ps1")
    return None


_BUILDS = re.compile(r"(?:\S*python\S* -m )?(?:uv )?pip3? install\b|\S*python\S* setup\.py|cargo |cmake |mim install|ns-install|msbuild|ninja\b|nvcc ")  # fmt: skip
_BUILDING = Later(r"Failed building wheel for ([\w.-]+)|Building wheels for collected packages: ([\w.-]+)\s")


def typed_again(case: Asked) -> Step | None:
    """The build that failed, as it was typed; else the package's own."""
    typed = next((one.command for one in reversed(commands(case.text)) if _BUILDS.match(one.command)), "")
    if typed:
        return Step(re.sub(r"'([^'\n]*)'", r'"\1"', typed), typed)
    found = _BUILDING.search(case.text)
    name = found[1] or found[2] if found else ""
    known = BUILT_BY.get(package_of(name.replace("-", "_")), "") if name else ""
    return Step(known or f"pip install --no-build-isolation {name}") if name else None


_KIT = Later(r"\\CUDA\\v(\d+\.\d)|release (\d+\.\d), V|\bCUDA(?: Toolkit)?[ :=]{1,3}v?(1[0-3]\.\d)\b", re.IGNORECASE)
_BUILT = Later(r"\+cu(1[0-3])(\d)\b")


def kit(case: Asked) -> str:
    """The CUDA toolkit that a text shows: 11.2; or ""."""
    found = _KIT.search(case.text)
    return next(filter(None, found.groups()), "") if found else ""


def built_for(case: Asked) -> str:
    """The CUDA of the PyTorch that a text tells of (2.8.0+cu128): 12.8; or ""."""
    found = _BUILT.search(case.text)
    return f"{found[1]}.{found[2]}" if found else ""
