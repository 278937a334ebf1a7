"""Steps in the words of one shell: cmd and PowerShell, a Dockerfile; a Unix shell takes them as they were written.

None is the answer for a step that a shell has no words for: such a command is never printed there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain

from gpuwhy.knowledge.distributions import put
from gpuwhy.knowledge.prompts import WindowsShell
from gpuwhy.model import on
from gpuwhy.shell.boxed import in_box
from gpuwhy.shell.notation import Clears, Code, Ends, Line, Prepends, Runs, Script, Sets, Shows, Step, read
from gpuwhy.shell.person import by_installer, installs_nothing, without_sudo
from gpuwhy.shell.place import Place

PORTABLE = frozenset(
    {"python", "pip", "conda", "mamba", "uv", "gpuwhy", "nvidia-smi", "nvcc", "docker", "kubectl", "torchrun", "git"}
    | {"cmake", "ninja", "compute-sanitizer", "jupyter", "vllm", "wsl", "podman", "cuobjdump", "pipx", "pyinstaller"}
    | {"accelerate", "ollama", "llama-server", "yolo", "trtexec", "ffmpeg", "hashcat", "gmx", "rscript", "julia", "mim"}
    | {"text-generation-launcher", "paddle", "celery", "gunicorn", "deepspeed", "dotnet"}
)
"""Programs that are called alike on Linux and Windows."""

UNIX_PATH = re.compile(
    r"(?<![\w.:\\])/(usr|etc|dev|proc|sys|var|tmp|opt|home|lib|lib64|mnt|run|root|boot|BIG|nix|srv)\b|~/\."
    r"|\bLD_(LIBRARY_PATH|PRELOAD|DEBUG)|\.so\b"
)
"""Names of Linux: its folders, its loader's variables, its libraries."""
UNIX = re.compile(
    UNIX_PATH.pattern + r"|\bsudo\b|\bdmesg\b|\bmodprobe\b|\brmmod\b|\bsystemctl\b|\bulimit\b|\bapt(-get)?\b"
    r"|\bldconfig\b|\$HOME|kernel module|\bNVRM\b|\bunset [A-Z]|\bexport\b|\bdkms\b|initramfs"
    r"|\binotify\b|\bcgroup\b|\bldd\b|nouveau|nvidia-persistenced|fabric ?manager|\bglibc\b|device nodes?\b"
)
"""Words of Linux that have no place in an answer for Windows."""
DOS = re.compile(
    r"(?i)\b[a-z]:\\|%\w+%|\.dll\b|\b(?-i:setx?)\b \"?\w+=|\$env:|winget|taskkill|\bregedit\b|\bwinerror\b"
)
"""Words of Windows that have no place in an answer for Linux."""
_LINUX_WHEELS = re.compile(
    r"and-cuda|jax\[cuda|nvidia-nccl|jax-cuda|pip install [^\n]*\b(?:vllm|sglang)\b|\btriton(?!-windows)\b"
)
_NOT_THERE = ("--gpu-reset", "mig", "-pm", "-mig")  # options of nvidia-smi that Windows does not have
_BUILDING = re.compile(r"(.*/)?(python[\d.]*|pip|conda|uv)")
_OUTSIDE = ("docker", "podman", "kubectl")  # typed where containers of an image are started
_TORCH = re.compile(r"torch(vision|audio)?([=<>~!].*)?")  # the default index has CPU builds of it for Windows
_UV = re.compile(r"uv (?=\S)")
_GETS_UV = re.compile(r"pip install uv\b")
_BY_UV = re.compile(r"(\"[^\"]+\"|[^\s\"]+) -m uv pip ")
_OF_WINDOWS = ("cmd", "powershell")
_IN_POWERSHELL = "    # in PowerShell"
_SAFE = re.compile(r"[\w@+=:,./\\~{}-]+")


def quoted(word: str) -> str:
    """A word for cmd and for programs of Windows: double quotes, where it needs any."""
    return word if _SAFE.fullmatch(word) else '"' + word.replace('"', '\\"') + '"'


def backwards(word: str) -> str:
    """A path as Windows writes it; anything else stays."""
    home = re.fullmatch(r"~(/.*)?", word)
    if home:
        return "%USERPROFILE%" + (home[1] or "").replace("/", "\\")
    return word.replace("/", "\\") if re.match(r"[A-Za-z]:/", word) else word


def _valued(name: str, value: str) -> str:
    """A value as Windows can hold it: a variable without one is not there, and then no GPU would be hidden."""
    return "-1" if not value and name.endswith("VISIBLE_DEVICES") else backwards(value)


def in_cmd(step: Step) -> str | None:
    """A step for cmd.exe."""
    if isinstance(step, Sets):
        return " & ".join(f'set "{name}={_valued(name, value)}"' for name, value in step.variables)
    if isinstance(step, Clears):
        return " & ".join(f'set "{name}="' for name in step.names)
    if isinstance(step, Shows):
        return f"echo %{step.name}%"
    if isinstance(step, Ends):
        return f"taskkill /F /PID {step.pid}"
    if isinstance(step, Prepends):
        return f'set "PATH={";".join(map(backwards, step.folders))};%PATH%"' if step.variable == "PATH" else None
    if isinstance(step, Runs):
        return _run(step, lambda name, value: f'set "{name}={_valued(name, value)}"', " && ")
    return step.text if isinstance(step, Code) or step.shell in _OF_WINDOWS else None


def in_powershell(step: Step) -> str | None:
    """A step for PowerShell."""
    if isinstance(step, Sets):
        return "; ".join(f'$env:{name} = "{_home(_valued(name, value))}"' for name, value in step.variables)
    if isinstance(step, Clears):
        return "; ".join(f"Remove-Item Env:{name} -ErrorAction Ignore" for name in step.names)
    if isinstance(step, Shows):
        return f"$env:{step.name}"
    if isinstance(step, Ends):
        return f"Stop-Process -Force -Id {step.pid}"
    if isinstance(step, Prepends):
        folders = ";".join(_home(backwards(one)) for one in step.folders)
        return f'$env:PATH = "{folders};" + $env:PATH' if step.variable == "PATH" else None
    if isinstance(step, Runs):
        return (
            _home(_run(step, lambda name, value: f'$env:{name} = "{_valued(name, value)}"', "; ", "& ") or "") or None
        )
    return step.text if isinstance(step, Code) or step.shell in _OF_WINDOWS else None


def _home(text: str) -> str:
    return text.replace("%USERPROFILE%", "$env:USERPROFILE")


def _with_cuda(words: list[str]) -> list[str]:
    """PyTorch on Windows: the default index has only its CPU build, so uv takes the one for this driver."""
    at = words.index("install")
    python = words[0] if words[1:3] == ["-m", "pip"] else "python"
    return [python, "-m", "uv", "pip", "install", *words[at + 1 :], "--torch-backend=auto"]


def _run(step: Runs, setting: Callable[[str, str], str], then: str, call: str = "") -> str | None:
    words = [backwards(word) for word in step.words]
    name = re.split(r"[\\/]", words[0])[-1].lower().removesuffix(".exe")
    if not _runs_there(name, words):
        return None
    if name in ("pip", "python") and "install" in words and _from_default_index(words):
        words = _with_cuda(words)
    written = " ".join(quoted(word) for word in words)
    if written.startswith('"'):
        written = f"{call}{written}"
    return then.join([*(setting(*pair) for pair in step.variables), written + _filter(step.keeps, bool(call))])


def _from_default_index(words: Sequence[str]) -> bool:
    """Whether pip would take PyTorch from the default index, which has its CPU build."""
    given = any(re.match(r"-f$|--(extra-)?index-url|--torch-backend", word) for word in words)
    return any(_TORCH.fullmatch(word) for word in words) and not given


def _runs_there(name: str, words: Sequence[str]) -> bool:
    """Whether Windows has such a program, with such arguments."""
    own = re.match(r"(?i)[a-z]:\\|%USERPROFILE%|\.?[\w.-]+\\", words[0])
    if name not in PORTABLE and not own:
        return False
    if name == "nvidia-smi":
        return not any(word in _NOT_THERE for word in words)
    return name not in ("pip", "python", "uv") or not _LINUX_WHEELS.search(" ".join(words))


def _filter(keeps: Sequence[str], powershell: bool) -> str:
    """What keeps the lines that hold some words."""
    if not keeps:
        return ""
    if powershell:
        return f" | Select-String {','.join(quoted(one) for one in keeps)}"
    return " | findstr /i " + " ".join(f'/c:"{one.lstrip("^")}"' for one in keeps)


def _words(step: Step) -> tuple[str, ...]:
    """What a step names: values, folders, words."""
    if isinstance(step, Sets):
        return tuple(f"{name}={value}" for name, value in step.variables)
    if isinstance(step, Runs):
        return (*step.words, *(f"{name}={value}" for name, value in step.variables))
    if isinstance(step, Prepends):
        return (step.variable, *step.folders)
    return step.names if isinstance(step, Clears) else (step.name,) if isinstance(step, Shows) else ()


def for_windows(line: Line) -> list[str] | None:
    """A line for cmd and, where it is written otherwise, for PowerShell."""
    if isinstance(line.steps[0], Script):
        return _as_written(line, line.steps[0])
    if any(map(UNIX_PATH.search, chain.from_iterable(map(_words, line.steps)))):
        return None
    cmd, power = [in_cmd(one) for one in line.steps], [in_powershell(one) for one in line.steps]
    if not all(cmd) or not all(power):
        return None
    first, second = " && ".join(filter(None, cmd)), "; ".join(filter(None, power))
    note = f"    # {line.comment}" if line.comment and isinstance(line.steps[0], Code) else ""
    alike = first == second or all(isinstance(one, Code) for one in line.steps)
    return [first + note] if alike else [first, second + _IN_POWERSHELL]


_OF_CMD = re.compile(r"%|^set ")
"""What cmd alone reads."""


def _at_prompt(said: list[str] | None, prompt: WindowsShell) -> list[str] | None:
    """Of a line for either shell the one for the shell that is told; Windows' own PowerShell, 5.1, knows no &&."""
    if said and len(said) == 1 and prompt == "powershell" and not _OF_CMD.search(said[0]):
        return [said[0].replace(" && ", "; ")]
    if not said or len(said) < 2 or not prompt:
        return said
    return said[1:] if prompt == "powershell" else said[:1]


_SETS_ONE = re.compile(r'set "(?P<name>\w+)=(?P<value>[^"]*)"')
"""A line of cmd that sets one variable, which PowerShell says in its own words."""


def _as_written(line: Line, step: Script) -> list[str] | None:
    """A line that was written for Windows; cmd has no comments."""
    if step.shell not in _OF_WINDOWS:
        return None
    power = step.shell == "powershell" or line.text.endswith(_IN_POWERSHELL)
    sets = _SETS_ONE.fullmatch(step.text)
    if sets and not power:
        value = re.sub(r"%(\w+)%", r"$env:\1", sets["value"])
        return [step.text, f'$env:{sets["name"]} = "{value}"{_IN_POWERSHELL}']
    return [step.text + (_IN_POWERSHELL if power else "")]


def for_dockerfile(line: Line) -> list[str] | None:
    """A line of the Dockerfile that makes the image so."""
    out = []
    for step in line.steps:
        if isinstance(step, Code):
            out.append(step.text)
        elif isinstance(step, Sets):
            out += [f"ENV {name}={value}" for name, value in step.variables]
        elif isinstance(step, Prepends):
            out.append(f"ENV {step.variable}={':'.join(step.folders)}:${step.variable}")
        elif isinstance(step, Runs) and step.words[0] in _OUTSIDE:
            out.append(line.text.strip())
        elif isinstance(step, Runs) and not step.root and _BUILDING.fullmatch(step.words[0]):
            out.append(f"RUN {line.text.strip()}")
        else:
            return None
    return out


def rendered(command: str, place: Place) -> str | None:
    """A command for a place; None where it is another system's. Where the place is not known: for both, a line each."""
    lines = read(command)
    if not lines:
        return ""
    if installs_nothing(command) or not _is_of(command, lines, place):
        return None
    if place.system == "windows":
        said = _with_uv(_together(_of_windows(lines, place.prompt)))
        return _by(place.python, said and by_installer(said, place.installer))
    if place.system == "image":
        return _in_image(lines)
    if isinstance(command, on.Command) and command.shell in _OF_WINDOWS:
        return _across(lines) if place.system else str(command)
    return _on_unix(command, lines, place)


def _of_windows(lines: tuple[Line, ...], prompt: WindowsShell) -> list[list[str] | None]:
    """Each line for Windows' shells; what a command says for PowerShell itself is not said a second time."""
    said_itself = any(line.text.endswith(_IN_POWERSHELL) for line in lines)
    parts = [_at_prompt(_in_either(for_windows(line), len(lines)), prompt) for line in _of_prompt(lines, prompt)]
    return [part[:1] if part and said_itself else part for part in parts]


_SETS_BARE = re.compile(r"set (?P<name>\w+)=(?P<value>[^\"&|\n]*)")


def _in_either(said: list[str] | None, lines: int) -> list[str] | None:
    """A command that is one line of cmd and sets a variable without quotes: in PowerShell that sets another one."""
    sets = _SETS_BARE.fullmatch(said[0]) if said and len(said) == lines == 1 else None
    if sets is None:
        return said
    value = re.sub(r"%(\w+)%", r"$env:\1", sets["value"])
    return [sets[0], f'$env:{sets["name"]} = "{value}"{_IN_POWERSHELL}']


def _of_prompt(lines: tuple[Line, ...], prompt: WindowsShell) -> tuple[Line, ...]:
    """Of a command that was written for both of Windows' shells the lines of the one that is told."""
    power = tuple(line for line in lines if line.text.endswith(_IN_POWERSHELL))
    if not prompt or not power or len(power) == len(lines):
        return lines
    return power if prompt == "powershell" else tuple(line for line in lines if line not in power)


def _is_of(command: str, lines: Sequence[Line], place: Place) -> bool:
    """Whether a place has such a command: by the type that its writer gave it, else by being portable."""
    if not isinstance(command, on.Command):
        return is_portable(lines)
    return not place.system or place.system in command.systems or (place.perhaps_wsl and "wsl" in command.systems)


def is_portable(lines: Sequence[Line]) -> bool:
    """Whether every step is a setting, or a program that is called alike on every system."""
    return all(_is_portable(step) for line in lines for step in line.steps)


def _is_portable(step: Step) -> bool:
    if not isinstance(step, Runs):
        return isinstance(step, Sets | Clears | Shows | Ends | Prepends)
    name = re.split(r"[\\/]", step.words[0])[-1].lower().removesuffix(".exe")
    return re.sub(r"(?<=python)[\d.]+$|(?<=pip)[\d.]+$", "", name) in PORTABLE


def _on_unix(text: str, lines: tuple[Line, ...], place: Place) -> str | None:
    """A command as Linux has it."""
    if place.system in ("linux", "wsl"):
        return _for_person(text, place)
    if place.system == "macos":
        return str(text)
    said = by_installer(text, place.installer)
    return _both(text, lines) if said == text else said


def _for_person(text: str, place: Place) -> str | None:
    """In the words of the distribution, the image's or the host's, and of the tools and rights that are there."""
    own = not place.container or (isinstance(text, on.Command) and text.host)
    family = place.family if own else place.inner
    said = put(text, family) if family else str(text)
    if said is None:
        return None
    said = _by_yum(said) if own and place.yum else said
    said = in_box(by_installer(said, place.installer), place.box)
    return without_sudo(said) if not own and place.rights == "self" else said


_MODULE = re.compile(r"sudo dnf module install \S+ \|\| (sudo yum install \S+)[^\n]*")


def _by_yum(command: str) -> str:
    """For Red Hat's release 7, which has no dnf."""
    return re.sub(
        r"\bdnf (?=(?:-y )?(?:install|update|upgrade|remove|reinstall)\b)", "yum ", _MODULE.sub(r"\1", command)
    )


def _in_image(lines: Sequence[Line]) -> str | None:
    made = [for_dockerfile(line) for line in lines]
    return None if None in made else "\n".join(one for part in made for one in part or ())


def _with_uv(text: str | None) -> str | None:
    """A command of uv, for somebody who may not have it."""
    lines = text.split("\n") if text else []
    if lines and _UV.match(lines[0]):
        return "\n".join(
            [
                "python -m pip install uv",
                *(_UV.sub("python -m uv ", line, count=1) if _UV.match(line) else line for line in lines),
            ]
        )
    used = next((found for line in lines if (found := _BY_UV.search(line))), None)
    if used is None or any(map(_GETS_UV.search, lines)):
        return text
    return f"{used[1]} -m pip install uv\n{text}"


_TOOL = re.compile(r"(^|&& |; )(pip|python|venv\\Scripts\\python\.exe) ", re.MULTILINE)
_INSIDE = re.compile(r"(in \('|= \()python -c ")


def _by(python: str, text: str | None) -> str | None:
    """One Python, its pip and its uv, named by its path; quoted it has another form in PowerShell."""
    if not text or not python or not _TOOL.search(text):
        return text
    lines = [_by_one(python, line) for line in text.split("\n")]
    if quoted(python) == python or _IN_POWERSHELL in text:
        return "\n".join(lines)
    again = (_by_one(python, f"{line}{_IN_POWERSHELL}") for line in text.split("\n"))
    return "\n".join([*lines, *again])


def _by_one(python: str, line: str) -> str:
    word = quoted(python)
    call = f"& {word}" if line.endswith(_IN_POWERSHELL) and word != python else word
    named = _TOOL.sub(lambda found: f"{found[1]}{call} {'-m pip ' if found[2] == 'pip' else ''}", line)
    if word == python:  # within another command no quotes would hold
        named = _INSIDE.sub(lambda found: f"{found[1]}{word} -c ", named)
    if not _BY_UV.search(named):
        return named
    command, note, _ = named.partition(_IN_POWERSHELL)
    return f"{command} --python {word}{note}"


def _across(lines: Sequence[Line]) -> str:
    """What is typed in Windows about the WSL that runs there."""
    return "\n".join(f"{line.text}    # in Windows" for line in lines)


def _together(parts: list[list[str] | None]) -> str | None:
    """Every line; where each has a form for cmd and one for PowerShell, first all of cmd's."""
    if any(part is None for part in parts):
        return None
    kept = [part for part in parts if part]
    first = [part[0] for part in kept]
    return "\n".join([*first, *(one for part in kept for one in part[1:])])


def _both(text: str, lines: tuple[Line, ...]) -> str:
    """As written for Linux, and beside each line that sets something how Windows says it."""
    if not any(isinstance(step, Sets | Clears | Ends) for line in lines for step in line.steps):
        return str(text)
    windows = [for_windows(line) for line in lines]
    if any(one is None for one in windows):
        return str(text)
    return "\n".join([text, *(f"{one[0]}    & rem the same on Windows" for one in windows if one)])
