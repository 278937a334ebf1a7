"""Made from paths and names that the text states: which file to rename, replace or reach."""

import re

from gpuwhy.advise import versions
from gpuwhy.advise.names import Names
from gpuwhy.advise.remedy import Install, Remedy, Remove, Run, Set
from gpuwhy.knowledge.torch_builds import index_of

_PATH = re.compile(r"(/[^\s:'\",()]+\.so[\d.]*|[A-Za-z]:\\[^\n'\":,]+\.(?:dll|pyd))", re.IGNORECASE)
_SITE = re.compile(r"(?:site|dist)-packages[/\\]+(?:nvidia[/\\]+(\w+)|([A-Za-z_][\w]*))")
_GCC = re.compile(r"gcc versions? (?:later|greater|newer) than (\d+(?:\.\d)?)", re.IGNORECASE)
_OLDER_PYTHONS = {"tensorflow": (("2", "3.7"), ("2.11", "3.9")), "torch": (("2.2", "3.10"),)}
"""Before which release of a framework which Python is taken."""
_CACHES = re.compile(r"/(?:\.triton|\.cache|torch_extensions|torchinductor_\w+)/")


def folder_on_path(names: Names) -> Remedy | None:
    """Put the folder in which the text shows the library on the search path."""
    path = names.get("path")
    folder, slash, file = path.replace("\\", "/").rpartition("/")
    if not slash or not folder:
        return None
    folder = path if "." not in file else folder
    variable = "PATH" if names.around.place.os == "windows" else "LD_LIBRARY_PATH"
    text = f"Put {folder}, where the library is, on the search path"
    return Remedy((Set(variable, folder, kind="path"),), text=text)


def rename_file(names: Names) -> Remedy | None:
    """Rename the person's own file that has the name of a module."""
    path, module = names.get("path"), (names.get("name") or names.get("module")).partition(".")[0]
    if "site-packages" in path or "dist-packages" in path:
        return None
    folder, _, file = path.replace("\\", "/").rpartition("/")
    text = f"Rename {file or path}: it has the name of the module {module}; delete __pycache__ too"
    base = f"{folder}/" if folder else ""
    if names.around.place.os == "windows":
        command = {"windows": f'ren "{path}" my_{module}.py && rmdir /s /q __pycache__'}
    else:
        command = {"linux": f"mv {path} {base}my_{module}.py && rm -rf {base}__pycache__"}
    return Remedy((Run(command),), text=text, fits=8)


def reinstall_damaged(names: Names) -> Remedy | None:
    """Reinstall the very package whose file is damaged; a cache's file is deleted."""
    said = names.get("path") or names.get("library")
    named = _PATH.search(said) or _PATH.search(names.get("line"))
    if named is None:
        return None
    path = named[1]
    if _CACHES.search(path):
        text = f"Delete the damaged file {path}; it is made again"
        return Remedy((Remove(files=(path,)),), text=text)
    found = _SITE.search(path)
    file = path.replace("\\", "/").rpartition("/")[2]
    if found:
        name, suffix = (found[2] or "").lower(), names.get("suffix")
        version = names.around.log.case.version(name) if name else ""
        package = f"{name}=={version}" if version else name
        if found[1]:
            wheel = versions.package_of_library(file, suffix)
            package = wheel or f"nvidia-{found[1].replace('_', '-')}{suffix}"
        text = f"Reinstall {package}: its file {file} is damaged"
        return Remedy((Install((package,), reinstall=True, no_deps=True),), text=text, fits=8)
    return _of_system(path, file)


def _of_system(path: str, file: str) -> Remedy | None:
    """A file of cuDNN or of the toolkit that somebody unpacked or a package installed."""
    if path.startswith(("/usr/local/cuda", "/opt/")) and "cudnn" in file:
        folder = path.rpartition("/")[0]
        text = f"Unpack cuDNN's archive again: {file} is damaged or cut short"
        command = {"linux": f"tar -xf cudnn-*.tgz && sudo cp -P cuda/lib64/libcudnn* {folder}/"}
        return Remedy((Run(command),), text=text, root=True, fits=8)
    if path.startswith(("/usr/lib", "/lib", "/usr/local/cuda")):
        text = f"Reinstall the system package that owns {path}: the file is damaged"
        command = {"linux": f"sudo apt install --reinstall $(dpkg -S {path} | cut -d: -f1)"}
        return Remedy((Run(command),), text=text, root=True, fits=8)
    if not path.startswith("/") or "/envs/" in path or "conda" in path:
        return None
    text = f"Move the damaged {file} away, or take its folder off LD_LIBRARY_PATH"
    return Remedy(
        (Run({"linux": f"mv {path} {path}.damaged"}),),
        text=text,
        worked_if=f"no line says any more that {file} is damaged",
        if_not=f"{file} is not found: copy it there again, whole, or install its package",
        fits=8,
    )


def older_gcc(names: Names) -> Remedy | None:
    """The newest host compiler that this nvcc accepts."""
    found = _GCC.search(names.lines)
    if found is None:
        return None
    gcc = found[1]
    text = f"Compile with gcc {gcc}, the newest that this nvcc accepts"
    command = {
        "linux": f"sudo apt install g++-{gcc} && export NVCC_PREPEND_FLAGS='-ccbin g++-{gcc}'"
    }
    return Remedy((Run(command),), text=text, root=True)


def python_with_wheels(names: Names) -> Remedy | None:
    """An environment with a Python for which the release has wheels."""
    wheel = re.search(r"-cp3(\d{1,2})-", names.get("wheel"))
    package, version, local = _wanted(names)
    if wheel:
        python = f"3.{wheel[1]}"
        text = f"Use Python {python}, for which this wheel was built"
    else:
        known = versions.python_of(package, version) if version else ""
        python = known or _python_for(names.get("framework"), version)
        if not python or not package:
            return None
        text = f"Use Python {python}: {package} {version}".rstrip() + " has wheels for it"
    spec = f"{package}=={version}" if version else package
    if local.startswith("cu"):
        spec = f"{package}=={version}+{local} --extra-index-url {index_of(local)}"
    return Remedy((_new_environment(python, spec, names),), text=text)


def _wanted(names: Names) -> tuple[str, str, str]:
    """The package that is asked for, its version, and the label of its build."""
    said = names.get("package") or names.get("name") or names.get("framework")
    found = re.match(r"([A-Za-z][\w.-]*)(?:\[[^]]*\])?(?:==([\w.]+?)(?:\.\*)?(?:\+(\w+))?)?$", said)
    version = names.get("version") or names.get("framework_version")
    if found is None:
        return said, version, ""
    version, _, local = (found[2] or version).partition("+")
    return found[1], version, found[3] or local


def _new_environment(python: str, package: str, names: Names) -> Run:
    if names.around.place.manager == "conda":
        return Run(f"conda create -n py{python.replace('.', '')} python={python}")
    if names.around.place.os == "windows":
        return Run(
            {"windows": f"py -{python} -m venv .venv && .venv\\Scripts\\pip install {package}"}
        )
    return Run(f"uv venv --python {python} .venv && uv pip install {package}")


def _python_for(framework: str, version: str) -> str:
    """A Python that a release of a framework has wheels for."""
    for bound, python in _OLDER_PYTHONS.get(framework, ()):
        if version and versions.older(version, bound):
            return python
    return "3.12" if framework in ("tensorflow", "torch", "jax", "onnxruntime", "cupy") else ""
