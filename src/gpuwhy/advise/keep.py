"""Keep: a remedy that can be done at the place, was not done yet, and names nothing foreign."""

import re

from gpuwhy.advise.names import Around, Names
from gpuwhy.advise.place import Place
from gpuwhy.advise.remedy import (
    Action,
    Install,
    Look,
    Remedy,
    Remove,
    Restart,
    Run,
    Set,
    Tell,
    Unset,
)
from gpuwhy.advise.say import can_be_typed
from gpuwhy.causes.load import catalogue
from gpuwhy.log.case import Case

_FRAMEWORKS = {
    "torch": "torch",
    "torchvision": "torch",
    "torchaudio": "torch",
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "keras": "tensorflow",
    "tf-keras": "tensorflow",
    "jax": "jax",
    "jaxlib": "jax",
    "onnxruntime": "onnxruntime",
    "onnxruntime-gpu": "onnxruntime",
    "cupy": "cupy",
    "mxnet": "mxnet",
    "paddlepaddle-gpu": "paddle",
}
_VARIABLES = {
    "TF_": "tensorflow",
    "PYTORCH_": "torch",
    "TORCH_": "torch",
    "XLA_PYTHON_": "jax",
    "JAX_": "jax",
    "CUPY_": "cupy",
    "ORT_": "onnxruntime",
}
IMPOSSIBLE = 99
"""More than any number of foreign names."""
_SYSTEMS = ("windows", "wsl", "macos")
_FAMILIES = {
    "apt": ("", "ubuntu", "debian"),
    "dnf": ("fedora", "rhel"),
    "pacman": ("arch",),
    "zypper": ("suse",),
}
"""Package managers, and the distributions that have them; "" is one that nobody named."""
_WITHOUT_DOCKER = ("kubernetes", "apptainer")
_NOTEBOOKS = ("colab", "kaggle", "sagemaker")
_WINDOWS_WORDS = ("windows", "win32", ".dll", "c:\\")


def possible(remedy: Remedy, around: Around) -> bool:
    """Whether a remedy can be carried out here, changes something, and names nothing foreign."""
    place = around.place
    if not can_be_typed(remedy, place) or not all(_is_here(one, place) for one in remedy.do):
        return False
    if any(_is_foreign(one, around) for one in remedy.do):
        return False
    steps = [one for one in remedy.do if not isinstance(one, (Look, Tell))] or remedy.do
    decides = steps[:1] if isinstance(steps[0], Restart) else steps
    return not all(_is_done(one, around.log.case) for one in decides)


def names_foreign(names: tuple[str, ...], around: Around) -> int:
    """How many systems, tools and frameworks a precedent's cure names that the text does not; a
    system or another framework counts for all.
    """
    families = [_FAMILIES[one] for one in names if one in _FAMILIES]
    if families and not any(around.place.distribution in one for one in families):
        return IMPOSSIBLE
    names = tuple(one for one in names if one not in _FAMILIES)
    foreign = [one for one in names if not _is_named(one, around)]
    own = Names(around).get("framework")
    for one in foreign:
        if one in _SYSTEMS and not _may_be(one, around.place):
            return IMPOSSIBLE
        if one in _FRAMEWORKS.values() and own and one != own:
            return IMPOSSIBLE
    return len([one for one in foreign if one not in _SYSTEMS])


def _may_be(system: str, place: Place) -> bool:
    """Whether a system is not ruled out by what is known of the place."""
    if system == "windows":
        return place.os in ("", "windows") or place.wsl
    if system == "wsl":
        return place.wsl or place.os == "windows"
    return place.os in ("", system)


def _is_named(name: str, around: Around) -> bool:
    """Whether the text names a tool, a framework or a system."""
    place, case = around.place, around.log.case
    known = {place.os, place.engine, place.manager, place.platform, place.batch_system}
    known |= {place.program, *(one.value for one in case.programs)}
    known |= {one.name.lower() for one in (*case.frameworks, *case.packages)}
    if name == "wsl" and place.wsl:
        return True
    if name == "docker" and place.container and place.engine in ("", "docker", "compose"):
        return True
    if name in known or Names(around).get("framework") == name:
        return True
    low = around.log.excerpt.lower()
    words = _WINDOWS_WORDS if name == "windows" else (name,)
    return any(one in low for one in words)


def _is_here(action: Action, place: Place) -> bool:
    """Whether the machine that an action is for can be there."""
    where = getattr(action, "where", "here")
    if where == "wsl":
        return place.wsl
    if where == "windows":
        return place.wsl or place.os == "windows"
    if where == "host" and place.wsl and isinstance(action, Install):
        return False
    if where == "engine":
        other = place.engine in _WITHOUT_DOCKER or place.platform in _NOTEBOOKS
        return place.os != "macos" and not (other and isinstance(action, Run))
    if isinstance(action, Install) and place.platform == "jetson":
        named = {_bare(one) for one in action.packages}
        of_servers = any(one in _FRAMEWORKS or one.startswith("nvidia-c") for one in named)
        if of_servers and "jetson" not in action.index and "/jp" not in action.index:
            return False  # that index has no builds for a board's GPU
    if isinstance(action, Install) and action.manager == "driver":
        return place.platform not in (*_NOTEBOOKS, "jetson")  # the driver is the system's part
    return True


def _is_foreign(action: Action, around: Around) -> bool:
    """Whether an action is another framework's, or of a tool that the text does not name."""
    if isinstance(action, (Install, Remove)) and _lacks_python(action, around):
        return True
    if isinstance(action, Install) and action.manager == "driver" and Names(around).get("amd_only"):
        return True
    own = Names(around).get("framework")
    case = around.log.case
    known = {own, *(one.name.lower() for one in (*case.frameworks, *case.packages))}
    if isinstance(action, (Install, Remove)):
        low = around.log.excerpt.lower()
        named = around.place.manager == "conda" or "conda" in low or "mamba" in low
        if action.manager == "conda" and not named:
            return True
        of = {_FRAMEWORKS.get(_bare(one), "") for one in action.packages} - {""}
        return bool(of and own in _FRAMEWORKS.values() and not of & known)
    if isinstance(action, (Set, Unset)):
        names = (action.name,) if isinstance(action, Set) else action.names
        of = {of for start, of in _VARIABLES.items() for one in names if one.startswith(start)}
        return bool(of and own in _FRAMEWORKS.values() and not of & known)
    return False


def _lacks_python(action: Install | Remove, around: Around) -> bool:
    """Whether packages are for an application that is no Python program, and no package of it."""
    program = catalogue().programs.get(around.place.program)
    if program is None or program.python or action.manager or not action.packages:
        return False
    low = around.log.excerpt.lower().replace("_", "-")
    return not any(_bare(one) in low for one in action.packages)


def _bare(requirement: str) -> str:
    return re.split(r"[\[=<>~! ]", requirement.lower(), maxsplit=1)[0]


def _is_done(action: Action, case: Case) -> bool:
    """Whether the text shows that this was done, or is so already."""
    if isinstance(action, Set):
        said = f"{action.name}={action.to}"
        was = [one.what for one in case.done if one.action == "set"]
        return case.variable(action.name) == action.to != "" or said in was
    if isinstance(action, Install):
        return not action.reinstall and _is_installed(action, case)
    if isinstance(action, Unset) and not action.entry:
        gone = {one.what for one in case.done if one.action == "unset"}
        return set(action.names) <= gone
    if isinstance(action, Remove):
        gone = {one.what.lower() for one in case.done if one.action == "remove"}
        return bool(action.packages) and {one.lower() for one in action.packages} <= gone
    if isinstance(action, Restart):
        return any(
            one.action == "restart" and one.what == action.what and one.helped is not True
            for one in case.done
        )
    if isinstance(action, (Look, Run)) and isinstance(action.command, str):
        return any(" ".join(one.words) == action.command for one in case.commands)
    return False


def _is_installed(action: Install, case: Case) -> bool:
    """Whether the very same releases are stated as installed, or were installed in vain."""
    tried = {one.what.lower() for one in case.done if one.action == "install"}
    wanted = [one.lower() for one in action.packages]
    if wanted and all(one in tried for one in wanted):
        return True
    pinned = [one.split("==") for one in wanted if "==" in one]
    for name, release in pinned:
        have = case.version(_bare(name))  # an installer takes the build 2.6.0+cpu for 2.6.0
        if have not in (release, f"{release}+{have.partition('+')[2]}"):
            return False
    return bool(pinned) and len(pinned) == len(wanted)
