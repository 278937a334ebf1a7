"""How packages are installed and removed at a place: by pip, uv, conda …, or by the system."""

import re

from gpuwhy.advise.place import Place
from gpuwhy.advise.remedy import Install, Remove
from gpuwhy.advise.shell import quoted

_APT = ("sudo apt install", "sudo apt purge")
_DNF = ("sudo dnf install", "sudo dnf remove")
_SYSTEMS = {
    "ubuntu": _APT,
    "debian": _APT,
    "fedora": _DNF,
    "rhel": _DNF,
    "arch": ("sudo pacman -S", "sudo pacman -R"),
    "suse": ("sudo zypper install", "sudo zypper remove"),
    "alpine": ("apk add", ""),
}
"""What installs and what removes a distribution's packages."""
_NAMES = {
    "build-essential": {
        "arch": "base-devel",
        **dict.fromkeys(("fedora", "rhel", "suse"), "gcc gcc-c++ make"),
    },
    "python3-dev": {
        "arch": "python",
        **dict.fromkeys(("fedora", "rhel", "suse"), "python3-devel"),
    },
    "ninja-build": {"arch": "ninja", "suse": "ninja"},
    "zlib1g": {"fedora": "zlib-ng-compat", "rhel": "zlib", "arch": "zlib", "suse": "libz1"},
    "nvidia-cuda-toolkit": {
        "arch": "cuda",
        **dict.fromkeys(("fedora", "rhel", "suse"), "cuda-toolkit"),
    },
}
"""Ubuntu's names of packages, and those of the others where they differ."""
_DRIVERS = {
    "debian": "sudo apt install nvidia-driver",
    "fedora": "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda",
    "rhel": "sudo dnf module install nvidia-driver:latest-dkms",
    "arch": "sudo pacman -S nvidia-open nvidia-utils",
    "suse": "sudo zypper install nvidia-open-driver-G06-signed-kmp-default"
    " nvidia-compute-utils-G06",
}
_IN_DEBIAN = 550
"""The newest driver branch that Debian itself has."""
_MANAGERS = {
    "uv": ("uv pip install", "uv pip uninstall"),
    "poetry": ("poetry add", "poetry remove"),
    "pdm": ("pdm add", "pdm remove"),
    "pixi": ("pixi add --pypi", "pixi remove --pypi"),
}
"""The same of a project's packages."""
_SYSTEM_FOLDERS = ("/usr/", "/lib", "/etc/", "/opt/")


def install_command(action: Install, place: Place) -> str:
    """The command that installs; "" where the place has none for it."""
    if action.manager == "driver":
        return _driver(action, place)
    if action.manager in ("system", "toolkit"):
        return _system(action.packages, place)
    if action.manager == "conda":
        return _conda(action)
    return _pip(action, place)


def remove_command(action: Remove, place: Place) -> str:
    """The command that removes packages or files."""
    lines = []
    if action.packages:
        names = " ".join(map(quoted, action.packages))
        if action.manager == "system":
            tool = _SYSTEMS.get(place.distribution or "ubuntu", ("", ""))[1]
            lines.append(f"{tool} {names}" if tool and place.os != "windows" else "")
        elif action.manager == "conda":
            lines.append(f"conda remove --force {names}")
        elif place.manager in _MANAGERS:
            lines.append(f"{_MANAGERS[place.manager][1]} {names}")
        else:
            lines.append(f"{_tool(place)} uninstall -y {names}")
    if action.files:
        files = " ".join(map(quoted, action.files))
        if place.os == "windows":
            lines.append(f"del /q {files}")
        else:
            of_system = any(one.startswith(_SYSTEM_FOLDERS) for one in action.files)
            root = "sudo " if of_system else ""
            lines.append(f"{root}rm -rf {files}")
    return "\n".join(filter(None, lines))


def _tool(place: Place) -> str:
    if place.shell == "notebook":
        return "%pip"
    if place.python:
        return f"{quoted(place.python)} -m pip"
    return "pip"


def _pip(action: Install, place: Place) -> str:
    words = [quoted(one) for one in action.packages]
    if action.new_environment:
        folder = action.new_environment
        active = f"{folder}\\Scripts\\pip" if place.os == "windows" else f"{folder}/bin/pip"
        return f"python -m venv {folder}\n{active} install {' '.join(words)}"
    flags = []
    uv = place.manager == "uv"
    if action.upgrade:
        flags.append("-U" if not uv else "--upgrade")
    if action.reinstall:
        flags.append("--reinstall" if uv else "--force-reinstall")
    if action.no_deps:
        flags.append("--no-deps")
    if action.index:
        words += ["--index-url", action.index]
    if place.manager in ("poetry", "pdm", "pixi") and not flags and not action.index:
        return f"{_MANAGERS[place.manager][0]} {' '.join(words)}"
    tool = "uv pip" if uv else _tool(place)
    return " ".join([tool, "install", *flags, *words])


def _conda(action: Install) -> str:
    channels = [word for one in (action.index or "conda-forge").split() for word in ("-c", one)]
    force = ["--force-reinstall"] if action.reinstall else []
    return " ".join(["conda", "install", *force, *channels, *map(quoted, action.packages)])


def _system(packages: tuple[str, ...], place: Place) -> str:
    if place.os in ("windows", "macos"):
        return ""
    family = place.distribution or "ubuntu"
    tool = _SYSTEMS.get(family, ("", ""))[0]
    if not tool or not packages:
        return ""
    names = [_NAMES.get(one, {}).get(family, one) for one in packages]
    if family not in ("ubuntu", "debian") and any(re.search(r"\$\(uname", one) for one in names):
        names = ["kernel-devel-$(uname -r)" if "$(uname" in one else one for one in names]
    if place.container:
        tool = tool.replace("sudo ", "")
        tool = tool.replace("apt install", "apt-get update && apt-get install -y")
    return f"{tool} {' '.join(names)}"


def _driver(action: Install, place: Place) -> str:
    """The driver of the distribution: on Windows and under WSL it is Windows' own."""
    if place.os in ("windows", "macos") or place.wsl:
        return ""
    family = place.distribution or "ubuntu"
    if family == "ubuntu":
        branch = next((one for one in action.packages if one), "")
        return (
            f"sudo apt install nvidia-driver-{branch}" if branch else "sudo ubuntu-drivers install"
        )
    if family == "debian" and any(
        one.isdigit() and int(one) > _IN_DEBIAN for one in action.packages
    ):
        return "sudo apt install cuda-drivers    # from NVIDIA's repository: Debian's is older"
    return _DRIVERS.get(family, "")
