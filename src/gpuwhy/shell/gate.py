"""The gate: every command that we print passes here and leaves in the words of the place it will be typed at.

A remedy for another system is left out. Where no remedy has words there, the sentences that have a sense there stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from gpuwhy.knowledge.distributions import NIXOS_DRIVER
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.guide import Guide, Way
from gpuwhy.model.report import Open, Shown
from gpuwhy.model.steps import in_steps
from gpuwhy.model.symptom import Question
from gpuwhy.shell.notation import Clears, read
from gpuwhy.shell.person import asked_for
from gpuwhy.shell.place import Place
from gpuwhy.shell.render import DOS, UNIX, rendered

_OF_WINDOWS = re.compile(
    r"^(?:Under )?Windows\b|\bon Windows\b|[A-Z]:\\|\bDLLs?\b|\.dll\b|\bbin folder|\bon PATH\b|NVIDIA's installer"
)
NO_GPU = Fix(
    "This machine has no NVIDIA GPU: let the program use the CPU, or run it on a machine that has one", safe=True
)


_WITHOUT_A_GPU = frozenset({"driver.missing", "driver.too_old", "driver.stub", "driver.not_ready"})
"""What a program says where there is no GPU; of a mismatch or of rights only a driver that runs speaks."""


def placed(causes: Iterable[Shown], place: Place) -> tuple[Shown, ...]:
    """The causes, their fixes as they can be carried out at a place."""
    return tuple(msgspec.structs.replace(one, fixes=tuple(map(to_fill_in, _fixes(one, place)))) for one in causes)


def asked_at(question: Question | None, place: Place) -> Question | None:
    """A question whose command can be typed at a place; None where it cannot."""
    if question is None:
        return None
    if place.system == "windows" and question.windows:
        return msgspec.structs.replace(question, command=question.windows)
    command = rendered(question.command, place)
    if command and not place.system and question.windows and question.windows != command:
        command = f"{command}\n{question.windows}    & rem the same on Windows"
    return msgspec.structs.replace(question, command=command) if command is not None else None


def guided_at(guide: Guide | None, place: Place) -> Guide | None:
    """The answer to plain words with its tests as they can be typed at a place; what cannot is left out."""
    if guide is None:
        return None
    ways = tuple(msgspec.structs.replace(way, command=_test(way, place)) for way in guide.ways)
    return msgspec.structs.replace(guide, ways=ways)


def _test(way: Way, place: Place) -> str:
    if place.system == "windows" and way.windows:
        return way.windows
    return rendered(way.command, place) or ""


def still_open(rows: Iterable[Open], place: Place, questions: Iterable[Question]) -> tuple[Open, ...]:
    """What would decide, as it can be typed at a place."""
    here = {one.command: asked_at(one, place) for one in questions}
    out = []
    for row in rows:
        asked = here.get(row.how)
        how = (asked.command if asked else "") if row.how in here else row.how
        out.append(msgspec.structs.replace(row, how=how))
    return tuple(out)


_ALIAS = re.compile(r"(?<=[\\/])user-[0-9a-f]{4}(?=[\\/\s\"';]|$)")
_TO_FILL_IN = re.compile(r"(\"?)((?:[A-Za-z]:)?[\\/](?:[\w.-]+[\\/])*?)(USER-[0-9A-F]{4})([^\s\"';:]*)")


def to_fill_in(fix: Fix) -> Fix:
    """A fix whose commands name nobody's folder by an alias: another user's name is a word in capitals to fill in."""
    parts = [_ALIAS.sub(lambda found: found[0].upper(), text) for text in (fix.command, fix.check, fix.undo)]
    return msgspec.structs.replace(fix, command=parts[0], check=parts[1], undo=parts[2])


def with_names(fix: Fix, real: Callable[[str], str]) -> Fix:
    """The same for the machine's own terminal: the folders as they are."""
    command, check, undo = (typed(text, real) for text in (fix.command, fix.check, fix.undo))
    said = on.as_said(typed(_ALIAS.sub(lambda found: found[0].upper(), fix.text), real), fix.text)
    return msgspec.structs.replace(fix, text=said, command=command, check=check, undo=undo)


def typed(text: str, real: Callable[[str], str]) -> str:
    """A command with the names that were to be filled in."""

    def put(found: re.Match[str]) -> str:
        aliased = f"{found[2]}{found[3].lower()}{found[4]}"
        slash = "\\" if "\\" in aliased else "/"
        path = real(aliased.replace("\\", "/")).replace("/", slash)
        return f"{found[1]}{path}" if found[1] or " " not in path else f'"{path}"'

    return _TO_FILL_IN.sub(put, text)


def _fixes(cause: Shown, place: Place) -> tuple[Fix, ...]:
    if place.no_gpu and cause.id in _WITHOUT_A_GPU and any(_of_host(fix.command) for fix in cause.fixes):
        return (NO_GPU,)
    return fitting(cause.fixes, place)


def fitting(fixes: Sequence[Fix], place: Place) -> tuple[Fix, ...]:
    """The fixes that a place has words for, its own first; the plain sentences of the others where none has."""
    there = list(_there(fixes, place))
    if there:
        mends = place.system or any(_is_own(one[0][0], place) and one[0][0].role != "look" for one in there)
        there.sort(key=lambda steps: bool(mends) and not _is_own(steps[0][0], place))
        kept = _allowed([[one for _, one in steps] for steps in there], place)
        return (_first(kept[0]), *kept[1:])
    said = [
        msgspec.structs.replace(fix, command="", check="gpuwhy check", undo="")
        for fix in fixes
        if _meant_for(fix, place)
    ]
    return (*map(_first, said[:1]), *said[1:2])


def _there(fixes: Sequence[Fix], place: Place) -> Iterator[list[tuple[Fix, Fix]]]:
    """The fixes that a place has words for, each beside what it was, with its steps; no step without its first."""
    for steps in in_steps(fixes):
        head = at(steps[0], place)
        if head is not None:
            yield [(steps[0], head), *((fix, one) for fix in steps[1:] if (one := at(fix, place)))]


def _allowed(fixes: list[list[Fix]], place: Place) -> list[Fix]:
    """For somebody without root: what needs none first, and the rest as what to ask for."""
    plain = [fix for steps in fixes for fix in steps]
    if place.rights != "none":
        return plain
    own = [fix for steps in fixes if not any(fix.root for fix in steps) for fix in steps]
    asked = [_to_ask(fix) for steps in fixes if any(fix.root for fix in steps) for fix in steps]
    mends = sum(fix.role != "look" for fix in own)
    return [*own, *asked] if mends else [*asked, *own]


def _to_ask(fix: Fix) -> Fix:
    return msgspec.structs.replace(fix, text=asked_for(_first(fix).text)) if fix.root else fix


def _first(fix: Fix) -> Fix:
    """A fix as the first of a list: what it was the alternative to has no words here."""
    text = re.sub(r"^(?:Or|And|Then)(?: also)?,? (?=\w)", "", fix.text)
    return msgspec.structs.replace(fix, text=text[:1].upper() + text[1:])


def at(fix: Fix, place: Place) -> Fix | None:
    """One fix at a place; None where it is for another system, or where its command has no words there."""
    if not _meant_for(fix, place) or _by_another_launcher(fix.command, place):
        return None
    fix = _by_podman(fix) if place.launcher == "podman" else fix
    command, check, undo = (rendered(one, place) for one in (fix.command, fix.check, fix.undo))
    if command is None:
        return _elsewhere(fix, place)
    if check is None or undo is None:
        check, undo = check or "gpuwhy check", undo or ""
    text = _for_good(_on_host(_unlabelled(fix.text, place), fix.command, place), fix.command, place)
    text = _cleared(_in_image(text, command, place), place)
    text = _ended(_for_both(text, fix.command, place), place)
    if place.python.startswith(".\\") and place.python in command:
        text = f"{text}; typed in the program's own folder, which holds its Python"
    return msgspec.structs.replace(fix, text=text[:1].upper() + text[1:], command=command, check=check, undo=undo)


_INSTALLS = re.compile(
    r"^(?:apt-get update|(?:dnf|yum|zypper|apk|microdnf|pacman) \S*(?:install|add|-S))", re.MULTILINE
)


def _in_image(text: str, command: str, place: Place) -> str:
    """A package that a container lacks: what is installed there goes with it, unless the image has it."""
    if not place.container or not _INSTALLS.search(command) or re.search(r"\bimage\b|Dockerfile", text):
        return text
    return f"{text}; in the container, and for good by a RUN line of its Dockerfile"


def _ended(text: str, place: Place) -> str:
    """How a process is ended, in the words of the system."""
    if place.system == "windows":
        return text.replace("kill PID", "taskkill /F /PID PID")
    return text if place.system else text.replace("kill PID", "kill PID, on Windows taskkill /F /PID PID,")


def _for_both(text: str, command: str, place: Place) -> str:
    """The driver where no system is told: Windows' way beside Linux's."""
    driver = isinstance(command, on.Command) and command.driver
    untold = driver and not place.system and not place.container
    return f"{text}; on Windows NVIDIA's installer (nvidia.com/drivers)" if untold else text


_BY_DOCKER = re.compile(r"docker (?:run|restart|start)\b")


def _by_another_launcher(command: str, place: Place) -> bool:
    """Whether a command starts a container by docker where Kubernetes or Singularity does."""
    return place.launcher in ("kubernetes", "singularity") and bool(_BY_DOCKER.match(command))


def _by_podman(fix: Fix) -> Fix:
    """The same for podman, which passes GPUs by CDI."""
    if not _BY_DOCKER.match(fix.command):
        return fix
    text = re.sub(r"--gpus[ =]all", "--device nvidia.com/gpu=all", re.sub(r"^docker\b", "podman", fix.command))
    return msgspec.structs.replace(fix, command=on.like(text, fix.command))


def _unlabelled(text: str, place: Place) -> str:
    """Without the name of the system that a fix is for, where that is the one at hand."""
    if not isinstance(text, on.Said) or not place.system:
        return str(text)
    apart = place.perhaps_wsl and "WSL" in text.label  # said beside what WSL needs
    return text.bare if place.system in text.systems and not apart else str(text)


def _of_host(command: str) -> bool:
    return isinstance(command, on.Command) and command.host


def _on_host(text: str, command: str, place: Place) -> str:
    """A container has no driver of its own: what changes it is typed on the host."""
    if not place.container or re.search(r"\bhost\b|\bnode\b|\bWSL\b", text) or not _of_host(command):
        return text
    first = text[:1] if text[1:2].isupper() else text[:1].lower()
    return f"On the host: {first}{text[1:]}"


def _for_good(text: str, command: str, place: Place) -> str:
    """Where a window is told to forget a variable, the next one would have it again."""
    clears = any(isinstance(step, Clears) for line in read(command) for step in line.steps)
    if place.system != "windows" or not clears:
        return text
    return f"{text}; permanently: delete it under Windows' environment variables, then open a new window"


def _is_own(fix: Fix, place: Place) -> bool:
    """Whether a fix goes before the others at a place."""
    if place.perhaps_wsl:
        return not (isinstance(fix.text, on.Said) and "wsl" in fix.text.systems and "linux" not in fix.text.systems)
    if not place.system:  # most texts that name no system are from Linux
        return not (isinstance(fix.text, on.Said) and "linux" not in fix.text.systems)
    own = isinstance(fix.text, on.Said) or fix.role == "part"
    return place.system != "windows" or own or bool(_OF_WINDOWS.search(fix.text))


def _meant_for(fix: Fix, place: Place) -> bool:
    """Whether its sentence is for a place, by its type and by its words."""
    systems = fix.text.systems if isinstance(fix.text, on.Said) else frozenset({place.system})
    meant = not place.system or place.system in systems or (place.perhaps_wsl and "wsl" in systems)
    return meant and _speaks(fix.text, place)


_UNSETS = re.compile(r"\b([Uu])nset (?=[A-Z]|(?:it|them|the|that|this)\b)")


def _cleared(text: str, place: Place) -> str:
    """To unset a variable, in words that are no shell's, where the shell has another for it."""
    if place.system != "windows":
        return text
    return re.sub(r"\bunset\b", "not set", _UNSETS.sub(lambda found: "Clear " if found[1] == "U" else "clear ", text))


def _speaks(text: str, place: Place) -> bool:
    """Whether a sentence has a sense at a place."""
    if place.system == "windows":
        return not UNIX.search(_cleared(text, place))
    return not (place.unix and DOS.search(text))


def _elsewhere(fix: Fix, place: Place) -> Fix | None:
    """Where there is no such command: the driver is Windows' own there and under WSL, NixOS has a file for it, and
    other families of Linux have a package of another name."""
    driver = isinstance(fix.command, on.Command) and fix.command.driver
    if place.system in ("windows", "wsl") and driver:
        text = re.sub(r",? ?(?:that|which) the distribution offers", "", fix.text)
        never = ", never one inside WSL" if place.system == "wsl" else ""
        text = f"{text}: NVIDIA's for Windows (nvidia.com/drivers){never}"
        return msgspec.structs.replace(fix, text=text, command="", root=False)
    if not place.family or place.system not in ("linux", "wsl"):
        return None
    if place.family == "nixos" and driver:
        return msgspec.structs.replace(fix, text=f"{fix.text}: {NIXOS_DRIVER}", command="")
    packages = ", ".join(re.findall(r"install(?: --[\w-]+)* ([^&#\n]+)", fix.command)).strip()
    if not packages:
        return None
    return msgspec.structs.replace(
        fix, text=f"{fix.text} (Ubuntu calls it {packages}: look for its name here)", command=""
    )
