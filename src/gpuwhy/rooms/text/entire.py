"""Entire: a command with every step that it needs, and only for what the text is about: PyTorch with its companions, a build over the one that is there, TensorFlow with the libraries that its wheel does not bring."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import structs

from gpuwhy.knowledge.companions import going_with
from gpuwhy.knowledge.installs import brings_libraries
from gpuwhy.knowledge.releases import find
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.steps import follows, in_steps
from gpuwhy.model.version import at_least, major_minor
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.own_words import from_its_index
from gpuwhy.rooms.text.same_release import listed
from gpuwhy.rooms.text.shown import CONDA


def entire(fixes: Sequence[Fix], case: Asked) -> list[Fix]:
    """The fixes with whole commands; those for what the text does not have behind the others."""
    return _for_what_is_there([_anew(_whole(fix, case), case) for fix in fixes], case)


_BY_WINGET: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^(?:Or "
                r"|And )?install the CUDA toolkit\b(?!.*(?:whose|built (?:for|with)|of the CUDA|of your|of that"
                r"|\.dll|\d\.\d))|^(?:Or )?install CUDA 12 with NVIDIA", re.IGNORECASE),
     "winget install --exact --id Nvidia.CUDA --version 12.4"),
    (re.compile(r"^(?:Or )?install CUDA (?P<version>11\.8|12\.[0-9]|13\.0)\b", re.IGNORECASE), "winget install --exact --id Nvidia.CUDA --version {version}"),
    (re.compile(r"^(?:Or )?(?:install|take) the newest Ollama|^(?:Or )?(?:install|update) Ollama\b", re.IGNORECASE), "winget install --exact --id Ollama.Ollama"),
    (re.compile(r"^(?:Or )?install the newest Blender", re.IGNORECASE), "winget install --exact --id BlenderFoundation.Blender"),
    (re.compile(r"^(?:Or |And )?install the (?:newest )?(?:Microsoft )?Visual C\+\+ (?:runtime|redistributable)", re.IGNORECASE),
     "winget install --exact --id Microsoft.VCRedist.2015+.x64"),
)  # fmt: skip
"""What Windows' own installer brings, for a sentence that has no command."""


def _by_winget(fix: Fix, case: Asked) -> Fix:
    """Windows: what a sentence says to install, as a command where there is one."""
    if fix.command or not case.windows or fix.role == "look" or case.cuda_major not in (0, 12):
        return fix
    bare = fix.text.bare if isinstance(fix.text, on.Said) else fix.text
    for words, command in _BY_WINGET:
        if found := words.match(bare):
            return structs.replace(fix, command=on.cmd(command.format(**found.groupdict())))
    return fix


def _whole(fix: Fix, case: Asked) -> Fix:
    fix = _by_winget(fix, case)
    if isinstance(fix.command, on.Command) and fix.command.shell in ("code", "dockerfile"):
        return fix
    lines = [new for line in str(fix.command).splitlines() if (new := _changed(line, case)) or not line]
    lines += _libraries(lines, case)
    command = "\n".join(lines)
    if command == fix.command:
        return fix
    typed = on.linux(command) if len(lines) > len(fix.command.splitlines()) else on.like(command, fix.command)
    return structs.replace(fix, command=typed)


_NOTEBOOK = Later(r"ipykernel|ipython-input|\bCell In ?\[|google\.colab|\bColab\b|/kaggle/|^In \[\d+\]:", re.MULTILINE)
_RESTARTS = re.compile(r"restart|start anew", re.IGNORECASE)
_BY_PIP = re.compile(r"(?:\S*python\S* -m )?(?:uv )?pip3? install")


def _anew(fix: Fix, case: Asked) -> Fix:
    """A notebook keeps what it has imported until its kernel is started again."""
    if not _NOTEBOOK.search(case.text) or not _BY_PIP.match(fix.command) or _RESTARTS.search(fix.text) or follows(fix):
        return fix
    return structs.replace(fix, text=on.as_said(f"{fix.text}; then restart the notebook's kernel", fix.text))


def _changed(line: str, case: Asked) -> str:
    for change in _CHANGES:
        line = change(line, case)
    return line


_INSTALLS = re.compile(r"\b(?:pip3?|uv pip|uv) (?:install|add)\b")
_TORCH = re.compile(r"(?<![\w./=-])(?P<mark>[\"']?)torch(?P<pin>(?:[=<>!~]=?[^\"'\s]*)?)(?P=mark)(?=\s|$)")
_OF_ITS_MAKERS = ("torchvision", "torchaudio")
_COMPANIONS = (*_OF_ITS_MAKERS, "xformers")


def _with_companions(line: str, case: Asked) -> str:
    """torchvision, torchaudio and xformers are built against one torch: who has them gets those of the new one."""
    found = _TORCH.search(line)
    chosen = any(one in line for one in _OF_ITS_MAKERS)  # a line that names one of them has said which
    there = [one for one in _COMPANIONS if _told(one, case) and one not in line and not (chosen and one in _OF_ITS_MAKERS)]  # fmt: skip
    if not found or not there or not _INSTALLS.search(line):
        return line
    release, _, local = (
        found["pin"].removeprefix("==").partition("+") if found["pin"].startswith("==") else ("", "", "")
    )
    also = " ".join(filter(None, (_companion(one, release, local) for one in there)))
    return f"{line[: found.end()]} {also}{line[found.end() :]}" if also else line


def _told(name: str, case: Asked) -> bool:
    """Whether a companion is named; xformers, which programs name for an option too, with its release."""
    number = r"[^\n]{0,12}\d+\.\d" if name == "xformers" else ""
    return bool(listed(name, case) or re.search(rf"\b{name}\b{number}", case.text))


def _companion(name: str, release: str, local: str) -> str:
    mine = (going_with(name, release) or (release if name == "torchaudio" else "")) if release else ""
    if release and not mine and name == "xformers":
        return ""
    suffix = f"+{local}" if local and name != "xformers" else ""
    return f'"{name}=={mine}{suffix}"' if mine else name


_NAMES = re.compile(r"\b(?:docker|podman) run [^\n]*--name[ =](?P<name>[\w.-]+)")


def _with_free_name(line: str, case: Asked) -> str:
    """A container of that name that is there keeps its data under another one."""
    found = _NAMES.search(line)
    name = found["name"] if found else ""
    there = rf"^[0-9a-f]{{4,12}} .*\s{name}\s*$|container name \"/{name}\" is already in use|\bdocker (?:logs|exec|restart|start|stop)\b[^\n]* {name}\b"
    if not name or not re.search(there, case.text, re.MULTILINE):
        return line
    tool = line.split()[0] if line.startswith(("docker", "podman")) else "docker"
    return f"{tool} stop {name} && {tool} rename {name} {name}-old\n{line}"


_SOURCE = re.compile(r"\bpip3? install (?=[^\n]*--no-binary)(?![^\n]*--force-reinstall)")
_OF_SOURCE = re.compile(r"--no-binary[ =](\S+)")


def _over_the_other(line: str, case: Asked) -> str:
    """pip builds nothing of a package that is installed, unless it is told to."""
    named = _OF_SOURCE.search(line)
    if not named or named[1].strip(":") not in case.text.lower():
        return line
    return _SOURCE.sub("pip install --force-reinstall --no-cache-dir --no-deps ", line)


_NEWER_TF = re.compile(r"(?P<mark>[\"'])tensorflow(?P<pin>>=2\.\d+)(?P=mark)")


def _with_its_wheels(line: str, case: Asked) -> str:
    """A TensorFlow of today brings its CUDA libraries only by its extra, on Linux."""
    if case.windows or (case.python and not at_least(case.python, "3.9")) or not _INSTALLS.search(line):
        return line
    return _NEWER_TF.sub(lambda found: f'"tensorflow[and-cuda]{found["pin"]}"', line)


_HEADERS = Later(r"/usr/include/python3\.(\d+)")


def _of_its_python(line: str, case: Asked) -> str:
    """The headers of the very Python that compiles."""
    told = _HEADERS.search(case.text)
    return (
        re.sub(r"(apt(?:-get)? install (?:[\w-]+ )*)python3-dev\b", rf"\1python3.{told[1]}-dev", line) if told else line
    )


_APT = re.compile(r"sudo apt(?:-get)? install (?:-y )?(?P<names>[\w.+-]+(?: [\w.+-]+)*) && ")

_OF_TOOLKIT = re.compile(r"curl -fsSL \S*/libnvidia-container/gpgkey ")


def _without_installed(line: str, case: Asked) -> str:
    """Without the step that installs what a listing shows to be installed."""
    found = _APT.match(line)
    if _OF_TOOLKIT.match(line) and _installed("nvidia-container-toolkit", case):
        return line.partition("apt-get install -y nvidia-container-toolkit")[2].removeprefix(" && ")
    if not found or not all(_installed(name, case) for name in found["names"].split()):
        return line
    return line[found.end() :]


_TOOLKIT_SPEAKS = Later(
    r"NVIDIA Container Toolkit CLI version|nvidia-container-cli: |nvidia-container-runtime(?:-hook)?: "
)
"""What only an installed container toolkit prints."""


def _installed(name: str, case: Asked) -> bool:
    words = rf"^ii +{re.escape(name)}\b|\b{re.escape(name)} is already the newest"
    version = name == "nvidia-container-toolkit" and _TOOLKIT_SPEAKS.search(case.text)
    return bool(version or re.search(words, case.text, re.MULTILINE))


_BRANCH = Later(r"\bnvidia/(\d{3})\.\d+")
_SIGNED = re.compile(r"\b(linux-modules-nvidia|nvidia-driver)-\d{3}\b")


def _of_its_branch(line: str, case: Asked) -> str:
    """The distribution's signed modules, of the branch that DKMS lists."""
    told = _BRANCH.search(case.text)
    return _SIGNED.sub(rf"\1-{told[1]}", line) if told and "linux-modules-nvidia" in line else line


def _of_its_index(line: str, case: Asked) -> str:
    return from_its_index(line, case.text, case.windows)


_CHANGES: tuple[Callable[[str, Asked], str], ...] = (
    _of_its_index,
    _with_companions,
    _with_free_name,
    _over_the_other,
    _with_its_wheels,
    _of_its_python,
    _without_installed,
    _of_its_branch,
)

_PINNED_TF = re.compile(r"\bpip3? install [^\n]*?[\"']?tensorflow(?:-gpu)?==(?P<version>[12]\.\d+(?:\.\d+)?)[\"']?\s*$")
_PARTS = ("cuda-runtime", "cublas", "cufft", "curand", "cusolver", "cusparse")
_FOUND = """export LD_LIBRARY_PATH=$(python -c "import glob, nvidia; print(':'.join(glob.glob(list(nvidia.__path__)[0] + '/*/lib')))")"""


def _libraries(lines: Sequence[str], case: Asked) -> list[str]:
    """The CUDA libraries and the cuDNN that a release of TensorFlow opens and does not bring, where the text has others."""
    found = _PINNED_TF.search(lines[0]) if len(lines) == 1 else None
    if not found or case.windows or brings_libraries("tensorflow", found["version"]):
        return []
    row = next((one for name in ("tensorflow", "tensorflow-gpu") if (one := find(name, found["version"], "linux-x86_64"))), None)  # fmt: skip
    if row is None or not isinstance(row.cuda, str) or not isinstance(row.cudnn, str) or _opened(row.cuda, case):
        return []
    cudnn = major_minor(row.cudnn)
    if CONDA.search(case.text) or not at_least(row.cuda, "11"):
        path = "export LD_LIBRARY_PATH=$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        return [f"conda install -c conda-forge cudatoolkit={row.cuda} cudnn={cudnn}", path]
    parts = " ".join(f"nvidia-{one}-cu11" for one in _PARTS)
    return [f'pip install {parts} "nvidia-cudnn-cu11=={cudnn}.*"', _FOUND]


def _opened(cuda: str, case: Asked) -> bool:
    """Whether the text shows the libraries of this CUDA to be found already."""
    return bool(re.search(rf"opened dynamic library libcudart\.so\.{re.escape(cuda.split('.')[0])}\b", case.text))


_FRAMEWORKS = {"torch": r"torch|\bc10\b", "tensorflow": r"tensorflow|keras|\btf\.", "jax": r"\bjax"}
_NAMED = re.compile(r"(?<![\w./=-])[\"']?(torch|tensorflow|jax)(?:\[[\w,-]+\])?(?:[=<>!~][^\"'\s]*)?[\"']?(?=\s|$)")


def _for_what_is_there(fixes: Sequence[Fix], case: Asked) -> list[Fix]:
    """Last what installs a framework that nobody named."""
    ways = sorted(in_steps(fixes), key=lambda steps: _for_another(steps[0], case))
    return [fix for steps in ways for fix in steps]


def _for_another(fix: Fix, case: Asked) -> bool:
    """Whether a fix installs a framework that neither speaks nor is named."""
    named = {one for line in fix.command.splitlines() if _INSTALLS.search(line) for one in _NAMED.findall(line)}
    known = {one for one in named if one == case.framework or re.search(_FRAMEWORKS[one], case.text, re.IGNORECASE)}
    return bool(named) and not known and not case.programs
