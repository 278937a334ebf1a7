"""Target: the Python environment under diagnosis, found without importing it.

Environments (venv, conda) are read from their files; a bare executable is asked in a process of its own where that is
allowed, else it is judged by its name and folder, and a shim of pyenv by pyenv's files. Folders that
`.pth` files add count where they hold installed wheels of the GPU stack; others are source code under development.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, absent, known, or_unknown, value_or
from gpuwhy.model.facts import BARRED, Interpreter
from gpuwhy.model.version import major_minor
from gpuwhy.observe.activation import activation, sourced
from gpuwhy.observe.conda import packages as conda_packages
from gpuwhy.observe.contradictions import contradictions
from gpuwhy.observe.distributions import distributions
from gpuwhy.observe.frameworks import frameworks
from gpuwhy.observe.installed import conflicts, damage
from gpuwhy.observe.kernels import kernels
from gpuwhy.observe.overlaid import of_another_python
from gpuwhy.observe.places import FRAMEWORK_FOLDERS, FRAMEWORK_WHEELS
from gpuwhy.observe.pyenv import behind_shim
from gpuwhy.observe.pythons import environments, holds_framework, release_beside, user_sites
from gpuwhy.observe.scene import Look, Scene
from gpuwhy.observe.shadows import shadows
from gpuwhy.observe.starting import start
from gpuwhy.observe.unfit import unfit

_PYTHON_NAME = re.compile(r"(i?python|pypy)[\d.]*t?$")
_TOOL_MARKS = ("uv-receipt.toml", "pipx_metadata.json")
_TOOL_PATH = re.compile(r"/uv/(archive|environments)-v\d+/|/pipx/")
_MAX_PARENTS, _MAX_PTH = 32, 50
_STATEMENT = re.compile(r"#|import\s")  # lines of a .pth file that name no folder


def interpreter(scene: Scene) -> Fact[Interpreter]:
    """The Python that --python, the active environment, the project or PATH names, in that order."""
    if scene.options.python:
        return _chosen(scene, _whole(scene, scene.options.python), "--python")
    for path, chosen_by in _candidates(scene):
        return _chosen(scene, path, chosen_by)
    if isinstance(scene.host.environ(), Unknown):
        return Unknown("no Python environment in the usual places, and PATH is not known", "--python PATH")
    return absent("env", "PATH", "no python3 or python in any of its folders")


def _whole(scene: Scene, path: str) -> str:
    """The path from the root on; links in it stay, because a venv's python is a link out of it."""
    if path.startswith(("/", "~")):
        return path
    folder, _, name = f"{scene.options.folder or '.'}/{path.rstrip('/')}".rpartition("/")
    if name in (".", ".."):
        return value_or(scene.host.real(f"{folder}/{name}"), path)
    return f"{value_or(scene.host.real(folder), folder).rstrip('/')}/{name}"


def _candidates(scene: Scene) -> Iterator[tuple[str, str]]:
    """Environments and executables in the order in which they would be chosen."""
    environ = value_or(scene.host.environ(), {})
    found = [*_active(scene, environ), *_project(scene, environ.get("UV_PROJECT_ENVIRONMENT", ""))]
    found += _on_path(scene, environ.get("PATH", ""))
    ours = [one for one in found if _is_ours(scene, one[0])]
    others = [one for one in found if one not in ours]
    if not environ or isinstance(scene.facts.surroundings.offline, Known):
        others += [(path, "usual place") for path in environments(scene.host)]
        others.sort(key=lambda one: not holds_framework(scene.host, one[0]))
    yield from others
    yield from ((path, f"{by}: {OWN}") for path, by in ours)


def _active(scene: Scene, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What the shell has activated; some conda environments hold no Python."""
    venv, conda = (environ.get(name, "").rstrip("/") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    if venv and _is_environment(scene, venv):
        yield venv, "VIRTUAL_ENV"
    if conda and _is_environment(scene, conda) and _exists(scene, f"{conda}/bin/python"):
        yield conda, "CONDA_PREFIX"


def _project(scene: Scene, named: str) -> Iterator[tuple[str, str]]:
    """The environment of the uv, poetry or plain project that the working folder lies in."""
    if not scene.options.folder:
        return
    folder = value_or(scene.host.real(scene.options.folder), "")
    for _ in range(_MAX_PARENTS):
        if not folder:
            return
        for name in (named, ".venv", "venv") if named else (".venv", "venv"):
            place = name if name.startswith(("/", "~")) else f"{folder.rstrip('/')}/{name}"
            if _is_environment(scene, place):
                yield place, "UV_PROJECT_ENVIRONMENT" if name == named else name
        folder = "" if folder in ("/", "~") else folder.rpartition("/")[0] or "/"


def _on_path(scene: Scene, path: str) -> Iterator[tuple[str, str]]:
    """python3 or python on PATH; `uvx` and pipx put a tool's own environment first there, which is not the target."""
    for folder in dict.fromkeys(path.split(":")):
        if not folder.startswith(("/", "~")):
            continue
        for name in ("python3", "python"):
            if _exists(scene, f"{folder}/{name}"):
                if not _is_tool(scene, folder):
                    yield f"{folder}/{name}", "PATH"
                break


OWN = "gpuwhy's own, no other was found; name yours with --python PATH"


def _is_ours(scene: Scene, place: str) -> bool:
    """An environment that was made for gpuwhy, activated or first on PATH: it holds gpuwhy and no framework."""
    prefix = place if _is_environment(scene, place) else place.rpartition("/")[0].rpartition("/")[0]
    for entry in value_or(scene.host.list(f"{prefix}/lib", r"python\d"), ()):
        site = f"{prefix}/lib/{entry.name}/site-packages"
        if value_or(scene.host.list(site, r"gpuwhy-.*\.dist-info$"), ()):
            return not value_or(scene.host.list(site, FRAMEWORK_FOLDERS), ())
    return False


def _is_tool(scene: Scene, folder: str) -> bool:
    prefix = folder.rpartition("/")[0]
    return bool(_TOOL_PATH.search(f"{prefix}/")) or any(_exists(scene, f"{prefix}/{mark}") for mark in _TOOL_MARKS)


def _exists(scene: Scene, path: str) -> bool:
    return isinstance(scene.host.stat(path), Known)


def _is_environment(scene: Scene, folder: str) -> bool:
    return any(_exists(scene, f"{folder}/{mark}") for mark in ("pyvenv.cfg", "conda-meta"))


def _chosen(scene: Scene, path: str, chosen_by: str) -> Fact[Interpreter]:
    """The interpreter at a path that is an environment's folder or an executable."""
    path = path.rstrip("/") or "/"
    stat = scene.host.stat(path)
    if not isinstance(stat, Known):
        return or_unknown(stat, f"{path}: no such file or folder", "--python PATH")
    if stat.value.kind == "folder":
        return _in_folder(scene, path, chosen_by)
    folder, _, name = path.rpartition("/")
    prefix = folder.rpartition("/")[0]
    if _PYTHON_NAME.match(name) and folder.endswith("/bin") and _is_environment(scene, prefix):
        return _environment(scene, prefix, chosen_by, path)
    return _executable(scene, path, chosen_by)


def _in_folder(scene: Scene, path: str, chosen_by: str) -> Fact[Interpreter]:
    if _is_environment(scene, path):
        return _environment(scene, path, chosen_by)
    inside = [f"{path}/{name}" for name in ("bin/python3", "bin/python", "python.exe")]
    found = next((one for one in inside if _exists(scene, one)), "")
    if found:
        return _chosen(scene, found, chosen_by)
    return Unknown(f"{path} holds no Python: neither pyvenv.cfg, conda-meta nor bin/python", "--python PATH")


def _environment(scene: Scene, prefix: str, chosen_by: str, path: str = "") -> Fact[Interpreter]:
    """A venv or conda environment, read from its files."""
    config = scene.host.read(f"{prefix}/pyvenv.cfg")
    kind, source = "conda", Source("folder", f"{prefix}/conda-meta")
    if isinstance(config, Known):
        kind, source = "venv", Source("file", f"{prefix}/pyvenv.cfg")
    version = config_of(value_or(config, "")).get("version", "") or conda_version(scene.host, prefix)
    path = path or next((p for p in (f"{prefix}/bin/python", f"{prefix}/bin/python3") if _exists(scene, p)), "")
    gone = ""
    if not path:
        path = f"{prefix}/bin/python"
        gone = "a link that leads nowhere" if isinstance(scene.host.link(path), Known) else "not there"
        source = Source(source.kind, source.where, f"{path} is {gone}")
    elif _is_barred(scene, path):
        gone = BARRED
    version = _of_its_packages(scene, prefix, version) or _version_by_folder(scene, prefix)
    if not version:
        return Unknown(f"{prefix}: neither {source.where} nor its lib folder tells the Python version")
    return Known(Interpreter(path, version, prefix, kind, chosen_by, _machine(scene, path), gone), source)


def _is_barred(scene: Scene, path: str) -> bool:
    """Whether an executable lacks the right to be run, for everybody; another machine's files may have lost it here."""
    stat = value_or(scene.host.stat(path), None)
    plain = stat is not None and stat.kind == "file" and stat.mode.startswith("-") and "x" not in stat.mode
    return plain and isinstance(scene.host.offline(), Absent)


def config_of(text: str) -> dict[str, str]:
    """The keys of pyvenv.cfg, `version` cut to its numbers (uv and virtualenv write version_info instead)."""
    pairs = (line.partition("=") for line in text.splitlines())
    found = {key.strip().lower(): value.strip() for key, _, value in pairs}
    version = re.match(r"\d+\.\d+(\.\d+)?", found.get("version_info") or found.get("version", ""))
    return {**found, "version": version.group() if version else ""}


def conda_version(host: Host, prefix: str) -> str:
    """The Python of a conda environment, by its package list; "" when there is none."""
    listed = value_or(host.list(f"{prefix}/conda-meta", r"python-\d+\.\d+[^-]*-[^-]*\.json$"), ())
    return listed[0].name.split("-")[1] if listed else ""


def _version_by_folder(scene: Scene, prefix: str) -> str:
    listed = value_or(scene.host.list(f"{prefix}/lib", r"python\d+\.\d+t?$"), ())
    return listed[-1].name.removeprefix("python").rstrip("t") if listed else ""


def _of_its_packages(scene: Scene, prefix: str, version: str) -> str:
    """The release of the folder that holds the frameworks, where its own Python's holds none: it was upgraded away."""
    if not version or _holds_frameworks(scene, f"{prefix}/lib/python{major_minor(version)}"):
        return version
    listed = value_or(scene.host.list(f"{prefix}/lib", r"python\d+\.\d+t?$"), ())
    others = [entry.name for entry in listed if _holds_frameworks(scene, f"{prefix}/lib/{entry.name}")]
    return others[-1].removeprefix("python").rstrip("t") if others else version


def _holds_frameworks(scene: Scene, folder: str) -> bool:
    return bool(value_or(scene.host.list(f"{folder}/site-packages", FRAMEWORK_FOLDERS), ()))


def _machine(scene: Scene, path: str) -> str:
    elf = scene.host.elf(path)
    if isinstance(elf, Known):
        return elf.value.machine
    uname = scene.host.uname()
    return uname.value.machine if isinstance(uname, Known) else ""


def _executable(scene: Scene, path: str, chosen_by: str) -> Fact[Interpreter]:
    """A Python outside any environment we can read: it is asked itself, or judged by its folders where it cannot be."""
    refusal = _not_python(scene, path)
    if refusal is not None:
        return refusal
    answer = _asked(scene, path)
    if isinstance(answer, Unknown):
        return _static(scene, path, chosen_by, answer)
    said = answer.need() or {}
    executable = str(said.get("executable") or path)
    prefix = str(said.get("prefix", ""))
    kind = _kind(scene, prefix, str(said.get("base_prefix", prefix)), executable)
    version, machine = str(said["version"]), _machine(scene, executable) or str(said.get("machine", ""))
    managed = kind != "venv" and _is_managed(scene, prefix, version)
    found = Interpreter(path, version, prefix, kind, chosen_by, machine, managed=managed)
    return Known(found, Source("call", path, "asked itself"))


def _is_managed(scene: Scene, prefix: str, version: str) -> bool:
    """Whether the system's package manager owns it, by the mark of PEP 668: pip and uv refuse to change it."""
    return _exists(scene, f"{prefix}/lib/python{major_minor(version)}/EXTERNALLY-MANAGED")


def _not_python(scene: Scene, path: str) -> Unknown | None:
    """A file with an unusual name is asked for its version first: nothing else is handed to a stranger."""
    if _PYTHON_NAME.match(path.rpartition("/")[2].removesuffix(".exe")):
        return None
    said = scene.host.run(path, "-V")
    if isinstance(said, Unknown) and said.kind == "not tried":
        real = value_or(scene.host.real(path), path)
        by_name = Unknown(f"{path} is not a Python by its name; gpuwhy check --import asks it", kind="not tried")
        return None if _PYTHON_NAME.match(real.rpartition("/")[2]) else by_name
    if not isinstance(said, Known):
        why = said.reason.removeprefix(f"{path}: ") if isinstance(said, Unknown) else "not there"
        return Unknown(f"{path} is not a Python that runs: {why}", "--python PATH")
    text = (said.value.out or said.value.err).strip()
    if re.match(r"Python \d", text):
        return None
    first = text.splitlines()[0][:120] if text else "nothing"
    return Unknown(f"{path} is not a Python: it printed {first!r}", "--python PATH")


def _asked(scene: Scene, path: str) -> Fact[dict[str, Any]]:
    answer = scene.host.python(path, "interpreter")
    if isinstance(answer, Unknown) and answer.kind == "not tried":
        return answer
    if isinstance(answer, Unknown):
        return Unknown(
            f"{path} is not a Python that runs: {answer.reason.removeprefix(f'{path}: ')}", answer.how, answer.kind
        )
    for line in answer.need() or ():
        if isinstance(line.get("version"), str) and isinstance(line.get("site_packages"), list):
            return known(line, "call", path, "asked itself")
    return Unknown(f"{path} is not a Python: it answered nothing that makes sense", "--python PATH")


def _static(scene: Scene, path: str, chosen_by: str, why: Unknown) -> Fact[Interpreter]:
    """The same from the file names alone, for one that cannot be asked, or was not: python3 → python3.11."""
    if why.kind not in ("offline", "not tried"):
        return why
    if why.kind == "not tried" and "/shims/" in path:
        on_path = [one for one, _ in _on_path(scene, value_or(scene.host.environ(), {}).get("PATH", ""))]
        path = behind_shim(scene, path, on_path) or path
    real = value_or(scene.host.real(path), path)
    prefix = real.rpartition("/")[0].removesuffix("/bin") or "/"
    named = re.search(r"python(\d+\.\d+)t?$", real)
    version = named[1] if named else release_beside(scene.host, prefix) if why.kind == "not tried" else ""
    if not version:
        return why
    exact = re.search(rf"[/-]({re.escape(version)}\.\d+)[/-]", real)  # …/versions/3.11.7/bin
    version = exact[1] if exact else version
    kind = _kind(scene, prefix, prefix, real)
    managed = kind == "system" and _is_managed(scene, prefix, version)
    found = Interpreter(path, version, prefix, kind, chosen_by, _machine(scene, real), managed=managed)
    return Known(found, Source("file", real, "by its name"))


def _kind(scene: Scene, prefix: str, base: str, path: str) -> str:
    if _exists(scene, f"{prefix}/conda-meta"):
        return "conda"
    if prefix != base:
        return "venv"
    if "/.pyenv/" in path or "/pyenv/" in path:
        return "pyenv"
    return "store" if "WindowsApps" in path else "system"


# ---------------------------------------------------------------- site-packages


def site_packages(scene: Scene) -> Fact[tuple[str, ...]]:
    """The folders on the interpreter's path that may hold installed distributions, the environment's own first.

    PYTHONPATH's come first when Python runs: what they put in the place of the environment's packages is a shadow.
    """
    python = scene.facts.target.interpreter.need()
    if python is None:
        return absent("env", "PATH", "no Python")
    environ = value_or(scene.host.environ(), {})
    wanted = _folders(scene, python, bool(environ.get("PYTHONNOUSERSITE")))
    wanted += [p for p in environ.get("PYTHONPATH", "").split(":") if p.startswith(("/", "~"))]  # see shadows.py
    added = [folder for site in wanted for folder in _added(scene, site)]
    wanted += [folder for folder in added if not of_another_python(scene, folder, major_minor(python.version))]
    kept: dict[str, str] = {}
    for folder in wanted:
        tidy = folder.rstrip("/")
        stat = scene.host.stat(tidy)
        if isinstance(stat, Known) and stat.value.kind == "folder":
            kept.setdefault(value_or(scene.host.real(tidy), tidy), tidy)
    return known(tuple(kept.values()), "folder", python.prefix)


def _added(scene: Scene, site: str) -> Iterator[str]:
    """Folders with wheels of the GPU stack that a plain line of a .pth file puts behind a folder of packages."""
    for entry in value_or(scene.host.list(site, r".*\.pth$"), ())[:_MAX_PTH]:
        for line in value_or(scene.host.lines(f"{site}/{entry.name}", "/"), ())[:_MAX_PTH]:
            folder = line.strip().rstrip("/")
            whole = folder if folder.startswith(("/", "~")) else f"{site}/{folder}"
            if not _STATEMENT.match(folder) and value_or(scene.host.list(whole, FRAMEWORK_WHEELS), ()):
                yield whole


def _folders(scene: Scene, python: Interpreter, no_user: bool) -> list[str]:
    short = f"python{major_minor(python.version)}"
    base = value_or(scene.host.environ(), {}).get("PYTHONUSERBASE", "").rstrip("/") or "~/.local"
    user = [] if no_user else [f"{base}/lib/{short}/site-packages"]
    if user and isinstance(scene.host.offline(), Known):
        user += user_sites(scene.host, short)
    own = [f"{python.prefix}/{lib}/{short}/site-packages" for lib in ("lib", "lib64")]
    config = scene.host.read(f"{python.prefix}/pyvenv.cfg")
    if isinstance(config, Known):
        keys = config_of(config.value)
        if keys.get("include-system-site-packages", "").lower() != "true":
            return own
        home = keys.get("home", "").rstrip("/")
        return own + user + _system(home.removesuffix("/bin"), short)
    if python.kind == "conda":
        return own + user  # the user's come first when Python runs: see shadows.py
    said = _asked(scene, python.path)
    if isinstance(said, Known):
        return [str(p) for p in said.value["site_packages"]]
    return user + _system(python.prefix, short)


def _system(prefix: str, short: str) -> list[str]:
    """Where a Python outside an environment keeps what is installed; Debian's has folders of its own."""
    own = [f"{prefix}/{lib}/{short}/site-packages" for lib in ("lib", "lib64")]
    if prefix not in ("/usr", ""):
        return own
    debian = [f"/usr/local/lib/{short}/dist-packages", "/usr/lib/python3/dist-packages"]
    return [f"/usr/local/lib/{short}/site-packages", *debian, *own]


LOOKS: tuple[Look, ...] = (
    Look("target", "interpreter", interpreter, 15.0, ("plan",)),
    Look("target", "activation", activation, 15.0),
    Look("target", "sourced", sourced, 25.0),
    Look("target", "site_packages", site_packages, serves=("plan",)),
    Look("target", "distributions", distributions, serves=("plan",)),
    Look("target", "conda", conda_packages),
    Look("target", "frameworks", frameworks),
    Look("target", "conflicts", conflicts, 60.0),
    Look("target", "damage", damage, 600.0),
    Look("target", "unfit", unfit),
    Look("target", "contradictions", contradictions, 30.0),
    Look("target", "shadows", shadows),
    Look("target", "start", start, 35.0),
    Look("target", "kernels", kernels),
)
