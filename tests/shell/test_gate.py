"""The gate: no command of another system, whatever the cause, the system, and whether facts or a text tell it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import pytest

from gpuwhy.model import on
from gpuwhy.model.cause import Cause, Fix
from gpuwhy.model.fact import Absent, Fact, Known, Source
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Reading, Told
from gpuwhy.reason.judge import judge
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.choose import remedies
from gpuwhy.rooms.text.questions import QUESTIONS
from gpuwhy.rooms.text.rooms import rooms
from gpuwhy.rooms.text.rows_clusters import CLUSTERS
from gpuwhy.rooms.text.rows_containers import CONTAINERS
from gpuwhy.rooms.text.rows_windows import WINDOWS as ROWS
from gpuwhy.rooms.text.situations import fixes_of
from gpuwhy.shell.gate import asked_at, fitting, to_fill_in, with_names
from gpuwhy.shell.notation import read
from gpuwhy.shell.place import Place, place_of
from gpuwhy.shell.render import is_portable, rendered
from gpuwhy.symptoms.reader import read_text
from tests.rooms.facts import load

HERE = Source("call", "test")
FIXTURES = sorted((Path(__file__).parent.parent / "rooms").glob("*/*/shown*.json"))
TOOLS = {"debian": "apt", "ubuntu": "apt", "fedora": "dnf", "rhel": "dnf", "arch": "pacman", "suse": "zypper"}
NAMES = {
    "ubuntu": "Ubuntu 24.04", "debian": "Debian GNU/Linux 12", "fedora": "Fedora Linux 41", "rhel": "Rocky Linux 9.4",
    "arch": "Arch Linux", "suse": "openSUSE Leap 15.6",
}  # fmt: skip
OF_LINUX = re.compile(
    r"\bsudo\b|\bexport\b|\bunset\b|(?<![\w:\\])/(usr|etc|dev|proc|sys|var|tmp|opt|home)\b|\bls\b|\bgrep\b|\bfind /"
    r"|\bdmesg\b|\bmodprobe\b|\brmmod\b|\bsystemctl\b|(?<!-)\bulimit\b|\bapt\b|\bldconfig\b|LD_LIBRARY_PATH|\.so\b|NVRM"
    r"|kernel module|\bkill \d|and-cuda|jax\[cuda|\bsed\b|\bchmod\b|\bwhich nv|\bdf -h|\$\(|\$[A-Z_]+\b|2>/dev/null"
    r"|\brm -r|-c '|(?<!r)'[A-Za-z]:[\\\\/]"
)
OF_WINDOWS = re.compile(r"(?i)\b[a-z]:\\|%\w+%|\$env:|\bset \"|setx|taskkill|winget|\bfindstr\b|\bregedit\b")
DRIVERS = re.compile(r"ubuntu-drivers|modprobe|rmmod|dkms|mokutil|install nvidia-driver|akmod")


def foreign(text: str, place: Place) -> str:
    """A word that has no place there; "" where every word has."""
    if text.startswith(("RUN ", "ENV ")):  # of a Dockerfile, whose inside is Linux wherever it is built
        return ""
    if place.system == "windows":
        found = OF_LINUX.search(re.sub(r"(?m)^(wsl (?:-\S+ \S+ )*)-- .*$", r"\1", text))  # what wsl hands on is Linux's
        return found.group() if found else ""
    if place.unix and (hit := OF_WINDOWS.search(text)) and "    # in Windows" not in text:
        return hit.group()
    if place.system == "wsl" and (hit := DRIVERS.search(text)):
        return hit.group()
    if place.family in TOOLS:
        others = {"apt", "dnf", "pacman", "zypper"} - {TOOLS[place.family]}
        other = re.search(rf"\bsudo ({'|'.join(others)})\b", text)
        return other.group() if other else ""
    return ""


LABEL = re.compile(r"(?:Under |On )?(Windows|Linux|WSL|macOS)(?: \d+)?(?:, [^:]{1,40})?: ")


def untyped(fix: Fix) -> list[str]:
    """Its commands that no system would print, neither typed nor portable; and a system's name that is only a word."""
    out = [
        f"untyped: {one!r}"
        for one in (fix.command, fix.check, fix.undo)
        if not isinstance(one, on.Command) and not is_portable(read(one))
    ]
    if LABEL.match(fix.text) and not isinstance(fix.text, on.Said):
        out.append(f"untyped: {fix.text!r}")
    return out


def misplaced(fix: Fix, place: Place) -> bool:
    """Whether a sentence that was printed names another system before it."""
    found = LABEL.match(fix.text)
    return bool(place.system and found) and found[1].lower() != place.system and "WSL" not in found[0]


SETS = re.compile(r'(?:set "|\$env:)(\w+) ?=')


def twice(command: str) -> bool:
    """Whether a line stands there twice, or one variable is set twice for one shell."""
    lines = [line for line in command.split("\n") if line]
    set_in = [(found[1], line.endswith("# in PowerShell")) for line in lines if (found := SETS.match(line))]
    return len(set(lines)) < len(lines) or len(set(set_in)) < len(set_in)


def complaints(fixes: tuple[Fix, ...], place: Place) -> list[str]:
    """What is wrong with the fixes at a place, in text, command, check and way back; and what has no type."""
    out = [one for fix in fixes for one in untyped(fix)]
    for fix in fitting(fixes, place):
        if misplaced(fix, place):
            out.append(f"another system's: {fix.text!r}")
        if twice(fix.command):
            out.append(f"said twice: {fix.command!r}")
        for part in (fix.command, fix.check, fix.undo, fix.text if place.system == "windows" else ""):
            if word := foreign(part, place):
                out.append(f"{word!r} in {part!r}")
    return out


# ---------------------------------------------------------------- facts


@cache
def fixture(path: Path) -> tuple[Cause, Facts]:
    _, facts = load(path)
    return next(c for c in CAUSES if c.id == f"{path.parent.parent.name}.{path.parent.name}"), facts


def moved(facts: Facts, system: str, distribution: str = "") -> Facts:
    """The same facts on another system."""
    wsl: Fact[str] = Known("2", HERE) if system == "wsl" else Absent(HERE)
    plain = "windows" if system == "windows" else "linux"
    around = msgspec.structs.replace(
        facts.surroundings, system=Known(plain, HERE), wsl=wsl, distribution=Known(distribution, HERE)
    )
    return msgspec.structs.replace(facts, surroundings=around)


def found_fixes(cause: Cause, facts: Facts) -> Iterator[tuple[Fix, ...]]:
    for verdict in judge([cause], facts):
        if verdict.fixes:
            yield verdict.fixes


@pytest.mark.parametrize("part", range(8))
def test_facts_of_every_cause_on_every_system(part):
    wrong = [f"{path.parent.name} {path.stem}: {one}" for path in FIXTURES[part::8] for one in everywhere(path)]
    assert wrong == []


def everywhere(path: Path) -> list[str]:
    """What is wrong with the fixes for the facts of a file, moved to each system."""
    cause, facts = fixture(path)
    wrong = list[str]()
    for system, name in (("windows", "Windows 11"), ("wsl", NAMES["ubuntu"]), *(("linux", n) for n in NAMES.values())):
        there = moved(facts, system, name)
        if system == "windows" and path.stem.endswith("wsl"):
            continue
        for fixes in found_fixes(cause, there):
            wrong += complaints(fixes, place_of(there))
    return wrong


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize("cause", [cause.id for cause in CAUSES])
@pytest.mark.parametrize("system", ["windows", "wsl", "linux"])
def test_texts_of_every_cause_on_every_system(cause, system):
    place, room = Place(system), rooms()[cause]
    rows = tuple(row.fix for row in room.remedies)
    asked = [
        Asked(library=name, kind=kind, major=major, framework=framework, cuda=cuda, windows=system == "windows")
        for framework in ("tensorflow", "torch", "onnxruntime", "jax", "")
        for name, kind, major, cuda in (
            (("cudnn64_8.dll", "cudnn", 8, "11.2"), ("cudart64_110.dll", "cuda", 110, "11.0"), ("", "", 0, ""))
            if system == "windows"
            else (("libcudnn.so.8", "cudnn", 8, "11.2"), ("libcudart.so.11.0", "cuda", 11, "11.0"), ("", "", 0, ""))
        )
    ]
    tools = [
        frozenset(one.split()) for one in ("container given", "compose", "kubernetes", "dotnet", "numba lightning")
    ]
    asked += [msgspec.structs.replace(asked[-1], tools=one) for one in tools]
    made = tuple(fix for one in asked for fix in room.made(one))
    assert not complaints((*rows, *made), place)


SYMPTOMS = Path(__file__).parent.parent / "symptoms"


@cache
def told() -> tuple[tuple[str, Reading], ...]:
    """Texts as they were read, each with a cause that it has, or that has remedies for its very message."""
    rows = [json.loads(line) for line in (SYMPTOMS / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    out = [(row["cause"], read_text(row["log"])) for row in rows]
    for name, lines in json.loads((SYMPTOMS / "examples.json").read_text(encoding="utf-8"))["is"].items():
        having = [id for id, room in rooms().items() if any(name.startswith(r.said) for r in room.remedies if r.said)]
        out += [(id, read_text(line)) for line in lines[:1] for id in having]
    return tuple(out)


def complained(cause: str, reading: Reading, system: str) -> list[str]:
    """What is wrong with the remedies for a text as if it came from a system."""
    there, place = (
        msgspec.structs.replace(reading, told=msgspec.structs.replace(reading.told, os=system)),
        Place(system),
    )
    fixes = remedies(cause, there.symptoms, there, None)
    wrong = [f"{cause}, {system}: {one}" for one in complaints(fixes, place)]
    first = fitting(fixes, place)[:1]
    return wrong + [f"{cause}, {system}: {fix.text}" for fix in first if fix.text.startswith(("Or ", "And ", "Then "))]


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.attack)])
def test_what_a_text_names_itself_passes_too(half):
    """Remedies that are filled from a text (`named`, `rather`, rows with fields), as if it came from another system."""
    asked = [(*row, ("windows", "wsl", "")[n % 3]) for n, row in enumerate(told()[half::2])]
    assert [one for row in asked for one in complained(*row)] == []


def at_place(fix: Fix, place: Place) -> Fix:
    return fitting((fix,), place)[0]


def test_a_driver_is_the_hosts_in_a_container_and_windows_own_there_and_under_wsl():
    driver = Fix("Install the driver that the distribution offers", on.driver("sudo ubuntu-drivers install"), root=True)
    assert at_place(driver, Place("linux", container=True)).text.startswith("On the host: install")
    assert at_place(driver, Place("linux")).command == driver.command
    for system in ("windows", "wsl"):
        there = at_place(driver, Place(system))
        assert "NVIDIA's for Windows" in there.text
        assert (there.command, there.root) == ("", False)


def test_the_first_of_a_list_is_no_alternative():
    fixes = (Fix("See it", on.linux("dmesg")), Fix("Or install it", "pip install x"))
    assert fitting(fixes, WINDOWS)[0].text == "Install it"
    assert [fix.text for fix in fitting(fixes, LINUX)] == ["See it", "Or install it"]


def test_a_variable_is_taken_away_for_good_on_windows():
    assert "then open a new window" in at_place(Fix("Forget it", "unset A"), WINDOWS).text
    assert at_place(Fix("Forget it", "unset A"), LINUX).text == "Forget it"


def test_a_text_from_linux_may_be_from_wsl():
    fix = Fix(on.in_wsl("update it"), on.across("wsl --update"))
    assert fitting((fix,), Place("linux")) == ()
    assert at_place(fix, Place("linux", perhaps_wsl=True)).text == "WSL: update it"
    assert place_of(None, Reading(told=Told(os="linux"))).perhaps_wsl


def test_uv_is_brought_where_a_command_needs_it():
    said = rendered("pip install --force-reinstall torch", WINDOWS)
    assert said == "python -m pip install uv\npython -m uv pip install --force-reinstall torch --torch-backend=auto"


@pytest.mark.parametrize("cause", [cause.id for cause in CAUSES])
def test_every_cause_has_something_to_say_on_windows(cause):
    """A person at C:\\> is never left without a way, for causes that can show there at all."""
    if cause in ("wsl.setup", "driver.stub", "driver.compat_misuse", "driver.permission", "container.no_gpu"):
        return
    reading = Reading(told=Told(os="windows"))
    fixes = fitting(remedies(cause, (), reading, None), place_of(None, reading))
    assert fixes
    assert all(fix.text for fix in fixes)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.id)
def test_questions(question):
    assert not untyped(Fix("", question.command))
    for system in ("windows", "linux"):
        there = asked_at(question, Place(system))
        assert there is None or not foreign(there.command, Place(system)), there


# ---------------------------------------------------------------- quoting


WINDOWS, LINUX, NOWHERE = Place("windows"), Place("linux"), Place()


@pytest.mark.parametrize(
    "written, said",
    [
        ("export A=1 B=x", 'set "A=1" & set "B=x"\n$env:A = "1"; $env:B = "x"    # in PowerShell'),
        ("unset A", 'set "A="\nRemove-Item Env:A -ErrorAction Ignore    # in PowerShell'),
        ("A=1 python PROGRAM", 'set "A=1" && python PROGRAM\n$env:A = "1"; python PROGRAM    # in PowerShell'),
        ("pip install 'numpy<2'", 'pip install "numpy<2"'),
        ('python -c \'import torch; print("x")\'', 'python -c "import torch; print(\\"x\\")"'),
        ("gpuwhy check --python 'C:/Program Files/Py/python.exe'",
         'gpuwhy check --python "C:\\Program Files\\Py\\python.exe"'),
        ("'C:/My Py/python.exe' -m pip install x",
         '"C:\\My Py\\python.exe" -m pip install x\n& "C:\\My Py\\python.exe" -m pip install x    # in PowerShell'),
        ("gpuwhy check --python ~/'my env'",
         'gpuwhy check --python "%USERPROFILE%\\my env"\n'
         'gpuwhy check --python "$env:USERPROFILE\\my env"    # in PowerShell'),
        ("sudo nvidia-smi -c DEFAULT", "nvidia-smi -c DEFAULT"),
        ("nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES",
         "nvidia-smi -L && echo %CUDA_VISIBLE_DEVICES%\nnvidia-smi -L; $env:CUDA_VISIBLE_DEVICES    # in PowerShell"),
        ("sudo nvidia-smi --gpu-reset", None), ("sudo reboot", None),
        ("export LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH", None),
        ("export CUDA_HOME=/usr/local/cuda", None), ("ls -l /dev/nvidia*", None), ("sudo apt install x", None),
        ("pip install 'tensorflow[and-cuda]'", None), ("find / -name 'x*' 2>/dev/null", None),
        (on.code("torch.cuda.set_device(0)"), "torch.cuda.set_device(0)"),
        ("kill 7", "taskkill /F /PID 7\nStop-Process -Force -Id 7    # in PowerShell"),
        (on.cmd("del x", "rm x"), "del x\nrm x    # in PowerShell"),
        (on.cmd('set "A=1;%A%"', '$env:A = "1;" + $env:A'), 'set "A=1;%A%"\n$env:A = "1;" + $env:A    # in PowerShell'),
        (on.cmd('set "A=1"'), 'set "A=1"\n$env:A = "1"    # in PowerShell'),
        (on.powershell("Get-Date"), "Get-Date    # in PowerShell"),
        (on.linux("pip install x"), None), (on.host("nvidia-smi"), None), (on.across("wsl --update"), "wsl --update"),
        ("kubectl get pods | grep -i nvidia",
         'kubectl get pods | findstr /i /c:"nvidia"\nkubectl get pods | Select-String nvidia    # in PowerShell'),
    ],
)  # fmt: skip
def test_windows(written, said):
    assert rendered(written, WINDOWS) == said


def test_linux_takes_what_was_written():
    text = on.linux("export A=1\nsudo dmesg | grep x")
    assert rendered(text, LINUX) == text
    assert rendered(on.cmd('set "A=1"'), LINUX) is None


@pytest.mark.parametrize("system", ["linux", "windows", "wsl", "macos", "image", ""])
def test_what_is_neither_typed_nor_portable_is_printed_nowhere(system):
    for command in ("sudo apt install x", "dir C:\\", "pip install x | sort", "frobnicate --gpu"):
        assert rendered(command, Place(system)) is None


def test_the_type_decides_and_no_word():
    assert rendered(on.host("frobnicate"), Place("wsl")) is None
    assert rendered(on.host("frobnicate"), LINUX) == "frobnicate"
    assert rendered(on.wsl("frobnicate"), LINUX) is None
    assert rendered(on.wsl("frobnicate"), Place("linux", perhaps_wsl=True)) == "frobnicate"
    assert rendered(on.across("frobnicate"), Place("wsl")) == "frobnicate    # in Windows"
    assert rendered(on.cmd("frobnicate"), Place("wsl")) is None


def test_where_the_system_is_not_known_both_are_said():
    assert rendered("export A=1", NOWHERE) == 'export A=1\nset "A=1"    & rem the same on Windows'
    assert rendered("pip install x", NOWHERE) == "pip install x"


@pytest.mark.parametrize(
    "written, said",
    [
        ("export A=1", "ENV A=1"), ("python -m pip install x", "RUN python -m pip install x"), ("sudo reboot", None),
        ("export LD_LIBRARY_PATH=/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", "ENV LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH"),
    ],
)  # fmt: skip
def test_images(written, said):
    assert rendered(written, Place("image")) == said


def test_a_text_from_windows_decides_on_a_linux_machine():
    _, facts = fixture(FIXTURES[0])
    assert place_of(facts, Reading(told=Told(os="windows"))).system == "windows"
    assert place_of(facts, Reading()).system == "linux"


@pytest.mark.parametrize(
    "written, kept, said",
    [
        ("gpuwhy check --python C:\\Users\\user-ad8b\\env", "gpuwhy check --python C:\\Users\\USER-AD8B\\env",
         'gpuwhy check --python "C:\\Users\\Jo Do\\env"'),
        ('"C:\\Users\\user-ad8b\\python.exe" -m pip list', '"C:\\Users\\USER-AD8B\\python.exe" -m pip list',
         '"C:\\Users\\Jo Do\\python.exe" -m pip list'),
        ("/home/user-ad8b/env/bin/python -m pip install x", "/home/USER-AD8B/env/bin/python -m pip install x",
         '"/home/Jo Do/env/bin/python" -m pip install x'),
        ("export A=1", "export A=1", "export A=1"),
        ("export A=/data/user-ad8b", "export A=/data/USER-AD8B", 'export A="/data/Jo Do"'),
        ("export A=/data/user-ad8b/a:/data/user-ad8b/b", "export A=/data/USER-AD8B/a:/data/USER-AD8B/b",
         'export A="/data/Jo Do/a":"/data/Jo Do/b"'),
    ],
)  # fmt: skip
def test_no_alias_stands_in_a_command(written, kept, said):
    """What is kept or sent has a word in capitals to fill in; the machine's own terminal has the folder itself."""
    fix = to_fill_in(Fix("x", written, check="gpuwhy check", undo=written))
    assert (fix.command, fix.undo) == (kept, kept)
    real = with_names(fix, lambda path: path.replace("user-ad8b", "Jo Do"))
    assert (real.command, real.undo) == (said, said)
    named = with_names(Fix("Take it out of /data/user-ad8b/x.pth now"), lambda path: path.replace("user-ad8b", "jo"))
    assert named.text == "Take it out of /data/jo/x.pth now"


def test_a_sentence_keeps_its_systems_when_it_is_filled_in():
    said = on.in_windows("install {x}")
    assert on.as_said("Windows: install y", said).systems == {"windows"}
    assert not isinstance(on.as_said("Linux: install y", said), on.Said)
    assert at_place(Fix(on.in_windows_or_wsl("update")), Place("wsl")).text == "Update"
    assert fitting((Fix(on.in_plain_linux("update")),), Place("wsl")) == ()


@pytest.mark.parametrize("system", ["windows", "wsl", "linux"])
def test_ways_out_of_every_situation_pass_too(system):
    """Rows of Windows are read there; those of containers, whose manifests hold a container's own paths, elsewhere."""
    case = Asked(windows=system == "windows")
    rows = (
        ROWS
        if system == "windows"
        else [row for row in (*CLUSTERS, *CONTAINERS) if row.place in ("", "jetson", system)]
    )
    wrong = [one for row in rows for one in complaints(tuple(fixes_of(row, case)), Place(system))]
    assert not wrong
