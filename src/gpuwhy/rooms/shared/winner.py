"""Which copy of a driver library the loader takes: shared by the causes of the driver layer."""

from __future__ import annotations

from typing import Literal

from gpuwhy.knowledge.libraries import is_cudnn, stem
from gpuwhy.model import on
from gpuwhy.model.cause import Finding, Fix, against, saw
from gpuwhy.model.fact import Fact, Known, Unknown, value_or
from gpuwhy.model.facts import DriverLibrary, Facts, LoadedLibrary, Rule


def winner(copies: Fact[tuple[DriverLibrary, ...]]) -> DriverLibrary | None:
    """The copy that a program gets; None when the loader finds none."""
    first = next(iter(copies.need() or ()), None)
    return first if first and first.on_path else None


def as_the_cache_stands(facts: Facts, one: DriverLibrary) -> str:
    """What else a container's start may bring: the order of an image's cache is not the last word; "" elsewhere."""
    if not isinstance(facts.surroundings.offline, Known) or one.rule is not Rule.CACHE or _in_system(one):
        return ""
    return (
        "; NVIDIA's container runtime runs ldconfig at the start, today's releases with the driver's folder first, "
        "and any other start keeps this order"
    )


def foreign(one: DriverLibrary | None) -> bool:
    """Whether a driver's library lies where no driver's installation puts it."""
    return one is not None and one.kind == "driver" and not one.yields and not _in_system(one)


def _in_system(one: DriverLibrary) -> bool:
    return one.path.startswith(("/usr/lib", "/lib")) or told(one)


def in_trees(facts: Facts, kind: str) -> tuple[str, LoadedLibrary] | None:
    """The first framework whose own search (an RPATH, its Python's folder) leads to a libcuda of this kind."""
    machine_wide = {c.path: c.kind for c in value_or(facts.loads.libcuda, ())}
    titles = {f.name: f"{f.title} {f.version}" for f in value_or(facts.target.frameworks, ())}
    for tree in value_or(facts.loads.trees, ()):
        for one in tree.libraries:
            if one.name == "libcuda.so.1" and machine_wide.get(one.path, _kind(one.path)) == kind:
                return titles.get(tree.framework, tree.framework), one
    return None


def as_driver_library(one: LoadedLibrary, kind: Literal["stub", "compat"]) -> DriverLibrary:
    """A tree's libcuda in the shape of the machine-wide copies."""
    unread = Unknown(f"{one.path}: only its place was looked at")
    return DriverLibrary(one.name, one.path, one.path, one.via, kind, one.version, unread)


def _kind(path: str) -> str:
    if "/stubs/" in path:
        return "stub"
    return "compat" if "/compat/" in path or "/cuda-compat" in path else "driver"


def no_driver(facts: Facts) -> Finding | None:
    """An objection where no kernel module is loaded, or where the driver is Windows' own."""
    version = facts.driver.module_version
    if isinstance(version, Unknown) and "nvidia" in value_or(facts.driver.modules, ()):
        return None  # a driver is loaded, whichever: as an image is judged
    if version.need() is not None:
        return None
    if isinstance(facts.surroundings.wsl, Known):
        return against("under WSL the driver is Windows' own", saw("this is WSL", facts.surroundings.wsl))
    return against("no NVIDIA driver is loaded", saw("no NVIDIA kernel module", version))


def no_nodes_in_container(facts: Facts) -> Finding | None:
    """An objection where a container was given no GPU at all."""
    nodes, container = facts.driver.nodes, facts.surroundings.container
    if isinstance(container, Known) and not any(node.present for node in nodes.need() or ()):
        return against(f"this {container.value} container was given no GPU", saw("no /dev/nvidia* node", nodes))
    return None


def also_serves(facts: Facts, one: LoadedLibrary | DriverLibrary) -> str:
    """Another kind of library that a framework gets out of the same folder by the same rule; "" where there is none."""
    folder, kind = folder_of(one.path).lower(), _family(one.name)
    loaded = (other for tree in value_or(facts.loads.trees, ()) for other in tree.libraries)
    mine = (other for other in loaded if other.rule is one.rule and folder_of(other.path).lower() == folder)
    return next((other.name for other in mine if _family(other.name) != kind), "")


def _family(name: str) -> str:
    """cudnn of every part of it, the driver of its libraries, else what the library is called."""
    if is_cudnn(name):
        return "cudnn"
    return "driver" if name.startswith(("libcuda.so", "libnvidia-", "nvcuda", "nvml")) else stem(name) or name


def off_the_path(folder: str) -> Fix:
    """Take one folder out of this shell's LD_LIBRARY_PATH."""
    written = "$HOME" + folder[1:] if folder.startswith("~") else folder
    command = on.linux(
        f'export LD_LIBRARY_PATH=$(printf %s "$LD_LIBRARY_PATH" | tr : "\\n" | grep -vxF "{written}" | paste -sd:)'
    )
    return Fix(f"Remove {folder} from LD_LIBRARY_PATH", command, safe=True)


def off_the_cache(facts: Facts, folder: str) -> Fix:
    """Take one folder out of the loader's configuration, and so out of its cache."""
    text = f"Take {folder} out of the loader's configuration, and build its cache anew"
    files, line = "/etc/ld.so.conf /etc/ld.so.conf.d/*.conf", f"'\\#^{folder}/*$#d'"
    if in_image(facts):
        return Fix(text, on.dockerfile(f"RUN sed -i {line} {files} && ldconfig"))
    return Fix(text, on.linux(f"sudo sed -i {line} {files} && sudo ldconfig"), root=True)


def told(one: DriverLibrary) -> bool:
    """Whether it is the library of a machine that was only told of: it has no folder here."""
    return one.rule is Rule.TOLD


def in_image(facts: Facts) -> bool:
    """Whether an image is judged, or a container's files: what is wrong is mended where it is built."""
    return isinstance(facts.surroundings.offline, Known) and isinstance(facts.surroundings.container, Known)


def off_the_path_of_an_image(facts: Facts, folder: str) -> Fix:
    """The line of the Dockerfile that sets LD_LIBRARY_PATH without one folder."""
    listed = next((v.value for v in value_or(facts.environment.variables, ()) if v.name == "LD_LIBRARY_PATH"), "")
    kept = ":".join(one for one in listed.split(":") if one.rstrip("/") != folder.rstrip("/"))
    text = f"Take {folder} out of the LD_LIBRARY_PATH that the image sets, and build it again"
    return Fix(text, on.dockerfile(f"ENV LD_LIBRARY_PATH={kept}"), safe=True)


def folder_of(path: str) -> str:
    """The folder of a path."""
    return path.rpartition("/")[0]
