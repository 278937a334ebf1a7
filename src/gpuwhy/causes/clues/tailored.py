"""Fixes made for the case at hand: for the library that was asked for, the framework that asked, and the system."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from gpuwhy.causes.clues.asked import Asked, asked
from gpuwhy.causes.clues.bitsandbytes import matching
from gpuwhy.causes.clues.meant import common, exact
from gpuwhy.causes.clues.remedies import REMEDIES
from gpuwhy.causes.clues.remedies_told import TOLD
from gpuwhy.causes.driver.builds import BUILDS
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.cudnn_rules import compiled
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.installs import PRELOADS, gpu_requirement, wheel_of
from gpuwhy.knowledge.releases import built_with
from gpuwhy.model.cause import Fix
from gpuwhy.model.facts import Facts
from gpuwhy.model.release import Release
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import at_least, dotted, major_minor, numbers

_LATEST = {"tensorflow": "tensorflow[and-cuda]", "torch": "torch", "onnxruntime": "onnxruntime-gpu[cuda,cudnn]"}
_PROJECTS = {"tensorflow": "tensorflow", "torch": "torch", "jax": "jax-cuda12-plugin", "onnxruntime": "onnxruntime-gpu"}
_OLD_CUDNN = {7: ("10.1", "7.6"), 6: ("8.0", "6.0"), 5: ("8.0", "5.1")}
"""Majors that no wheel holds: the CUDA they were mostly used with, and the last release."""
_WITH_CUDA = {7: (9, 10), 8: (11, 12), 9: (12, 13)}
"""The CUDA majors that a cuDNN major is to be had for."""
_BITSANDBYTES = ("cuda.missing_library", "cuda.version_mismatch", "framework.cpu_only")
_IMAGE = re.compile(r"cuda ?>=? ?(?P<cuda>\d+\.\d+)")
_SETS = re.compile(r"export(?: \w+=[\w.:-]+)+")
"""Variables that are set to plain words: Windows' shell can do that too."""
_CUDNN_FOLDER = '$(python -c "import nvidia.cudnn as n; print(list(n.__path__)[0])")/lib'


def remedies(
    cause: str, own: Sequence[Fix], symptoms: Sequence[Symptom], reading: Reading, facts: Facts | None = None
) -> tuple[Fix, ...]:
    """The fixes for a cause where only a text is known.

    Those for the very messages; else those made for what was asked; else the ones for who speaks and the common ones.
    """
    case = asked(symptoms, reading, facts)
    rows = REMEDIES.get(cause) or TOLD.get(cause) or ()
    very, enough = exact(rows, case)
    if cause in _BITSANDBYTES:
        named = tuple(matching(reading, case.windows))
        very = (*named, *(fix for fix in very if not named or fix.role == "look"))
    if not enough:
        made = tuple(_MAKERS[cause](case)) if cause in _MAKERS else ()
        very = (*made, *very) if made else (*very, *common(rows, case))
    return _for_system(_once(very or own), case, reading)


def _once(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The same command once."""
    out: dict[str, Fix] = {}
    for fix in fixes:
        out.setdefault(fix.command or fix.text, fix)
    return tuple(out.values())


def _for_system(fixes: Sequence[Fix], case: Asked, reading: Reading) -> tuple[Fix, ...]:
    """Without what is for another system than the one that speaks, where that is known."""
    if case.windows:
        fit = [one for fix in fixes if (one := _on_windows(fix))]
        return tuple(sorted(fit, key=lambda f: "Windows" not in f.text)) or tuple(fixes)
    if reading.told.os in ("linux", "wsl") or ".so" in case.library:
        return tuple(f for f in fixes if not f.text.startswith("Windows")) or tuple(fixes)
    return tuple(fixes)


def _on_windows(fix: Fix) -> Fix | None:
    """The fix in the words of Windows' shell; None where it is for Linux."""
    if _SETS.fullmatch(fix.command):
        each = fix.command.removeprefix("export ").split()
        return structs.replace(fix, command="\n".join(f"set {one}" for one in each))
    shell = fix.command.startswith(("sudo ", "export ", "unset ", "find ", "LD_", "echo ", "printf ", "ls "))
    return None if shell or "and-cuda" in fix.command or "\nexport " in fix.command else fix


def _own(case: Asked) -> Iterator[Fix]:
    """The framework's own requirement, where it brings the libraries."""
    if not case.brings:
        return
    major = case.cuda_major or None
    compiled_so = [one.version for one in built_with(case.framework, case.fields.get("built", ""))]
    version = case.version or max(compiled_so, key=numbers, default="")
    wanted = gpu_requirement(case.framework, case.framework, version, major) if version else ""
    if case.framework == "cupy":
        wanted = f"cupy-cuda{major}x{'[ctk]' if major > 11 else ''}" if major else ""
    wanted = wanted or _LATEST.get(case.framework, "")
    if case.framework == "jax" and not wanted:
        wanted = f"jax[cuda{13 if major == 13 else 12}]"
    if wanted:
        again = "--force-reinstall " if case.framework == "torch" else ""
        text = f"Install {case.title} with the CUDA libraries that it was built for"
        yield Fix(text, f'pip install {again}"{wanted}"', safe=True)
    if call := PRELOADS.get(case.framework):
        yield Fix(f"Call {call} at the start of the program, before the first session: it loads them", safe=True)


def _conda(case: Asked, cuda: str, cudnn: str = "") -> Fix:
    also = f" cudnn={cudnn}" if cudnn else ""
    package = f"cudatoolkit={cuda}" if not at_least(cuda, "12") else f"cuda-version={cuda} cuda-libraries"
    path = "" if case.windows else "\nexport LD_LIBRARY_PATH=$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    return Fix(
        f"conda: the libraries of CUDA {cuda}{f' and cuDNN {cudnn}' if cudnn else ''}",
        f"conda install -c {'conda-forge' if at_least(cuda, '9.2') else 'defaults'} {package}{also}{path}",
        safe=True,
    )


def _windows_toolkit(case: Asked) -> Iterator[Fix]:
    yield Fix(f"Install CUDA {case.cuda} with NVIDIA's installer: {case.library} is part of it, then open a new window")
    versioned = rf"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{case.cuda}\bin"
    folder = versioned if "." in case.cuda else r"%CUDA_PATH%\bin"
    yield Fix("If it is installed: put its folder on PATH, in this window", f"set PATH={folder};%PATH%", safe=True)


def _missing_library(case: Asked) -> Iterator[Fix]:
    yield from _own(case)
    if not case.library or not case.cuda:
        return
    if case.windows:
        yield from _windows_toolkit(case)
    wheel = wheel_of(case.library, case.cuda_major)
    if wheel and case.framework != "tensorflow" and not case.brings:  # an old TensorFlow looks into no wheel's folder
        yield Fix(
            "Install the wheel that holds it, then check where it is looked for", f'pip install "{wheel}"', safe=True
        )
    if not case.brings:
        row = compiled(case.framework, case.version) if case.version else None
        cudnn = "7.6" if case.cuda in ("10.0", "10.1", "10.2") else ""
        if row and case.cuda_major in _WITH_CUDA.get(numbers(row.cudnn)[0], ()):  # else it asks for another's libraries
            cudnn = major_minor(row.cudnn)
        yield _conda(case, case.cuda, cudnn)


def _missing_cudnn(case: Asked) -> Iterator[Fix]:
    yield from _own(case)
    if case.kind == "cudnn" and case.major:
        yield from _cudnn(case, case.major)


def _cudnn(case: Asked, major: int) -> Iterator[Fix]:
    """A cuDNN of one major version, from where it is to be had."""
    if major in _OLD_CUDNN:
        cuda, last = _OLD_CUDNN[major]
        cuda = case.cuda if "." in case.cuda else cuda
        yield _conda(case, cuda, last)
        where = "bin folder" if case.windows else "lib64 folder"
        yield Fix(
            f"Or unpack cuDNN {last} for CUDA {cuda}, from NVIDIA's cuDNN archive, into the CUDA {where}: no wheel holds it"
        )
        return
    cuda_major = case.cuda_major if case.cuda_major in (11, 12, 13) else 12 if major >= 9 else 11
    release = "8.9.*" if major == 8 else f"{major}.*"
    name = wheel_of(f"libcudnn.so.{major}", cuda_major)
    either = " (for CUDA 12: -cu12)" if cuda_major == 11 and not case.cuda and not case.version else ""
    if case.windows:
        yield Fix(
            f"Unpack cuDNN {release} for CUDA {cuda_major} into the CUDA folder, so that cudnn64_{major}.dll is on PATH"
        )
    elif not case.brings:
        path = f"export LD_LIBRARY_PATH={_CUDNN_FOLDER}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
        yield Fix(
            f"Install cuDNN {major} for CUDA {cuda_major}{either}, and have it found",
            f'pip install "{name}=={release}"\n{path}',
            safe=True,
        )
        yield Fix("conda", f'conda install -c conda-forge "cudnn={release.removesuffix(".*")}"', safe=True)


def _other_cudnn(case: Asked) -> Iterator[Fix]:
    built = case.fields.get("built", "")
    yield from _own(case)
    if case.kind == "cudnn" and case.major:
        yield from _cudnn(case, case.major)
    elif numbers(built):
        yield from _cudnn_from(case, built)
    if not case.windows and (built or case.library):
        yield Fix("See which copy is loaded, and take the other from the search path",
                  f"LD_DEBUG=libs python -c 'import {case.framework or 'tensorflow'}' 2>&1 | grep libcudnn", safe=True)  # fmt: skip


def _cudnn_from(case: Asked, built: str) -> Iterator[Fix]:
    """A cuDNN that is not older than the one of the build."""
    places = numbers(built)
    if len(places) == 1 and places[0] > 999:  # 8100, 90100
        unit = 10000 if places[0] > 89999 else 1000
        places = (places[0] // unit, places[0] % unit // 100)
    releases = built_with(case.framework, built)
    if releases and not case.cuda:
        yield from _cudnn_of(case, built, releases)
        return
    if places[0] in _OLD_CUDNN or case.windows:
        yield from _cudnn(case, places[0])
        return
    cuda_major = case.cuda_major if case.cuda_major in (11, 12, 13) else 12 if places[0] >= 9 else 11
    floor_ = ".".join(str(n) for n in places[:2])
    wanted = f"{wheel_of(f'libcudnn.so.{places[0]}', cuda_major)}>={floor_},<{places[0] + 1}"
    yield Fix(
        f"Install a cuDNN {places[0]} that is not older than {floor_}, which the build has",
        f'pip install "{wanted}"',
        safe=True,
    )


def _cudnn_of(case: Asked, built: str, releases: Sequence[Release]) -> Iterator[Fix]:
    """A cuDNN for the releases that were compiled with this very one, and for their CUDA."""
    versions = sorted({one.version for one in releases}, key=numbers)
    cuda = max((str(one.cuda) for one in releases), key=numbers)
    span = versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"
    major, least = numbers(built)[0], major_minor(built)
    last = _OLD_CUDNN[major][1] if major in _OLD_CUDNN else ""
    if last:
        last = last if cuda.startswith("10.") else least
        yield _conda(case, cuda, last)
        yield Fix(f"Or install cuDNN {least} or a newer {major} for CUDA {cuda}, from NVIDIA's cuDNN archive: TensorFlow {span} "
                  f"was compiled with {built}, for CUDA {cuda}")  # fmt: skip
        return
    wheel = wheel_of(f"libcudnn.so.{major}", numbers(cuda)[0])
    text = f"Install a cuDNN {major} that is not older than {least}, for CUDA {cuda}: TensorFlow {span} was compiled with {built}"
    yield Fix(text, "" if case.windows else f'pip install "{wheel}>={least},<{major + 1}"', safe=not case.windows)


def _other_cuda(case: Asked) -> Iterator[Fix]:
    needs = case.fields.get("needs", "")
    if case.library and case.kind in ("cuda", "nvrtc"):
        yield from _missing_library(case)
        yield Fix(f"Or install a release of {case.title} that is built for the CUDA that is there")
    elif numbers(needs) and not case.windows:
        number = major_minor(needs)
        yield Fix(f"Install the CUDA {number} toolkit beside the other, and point CUDA_HOME to it",
                  f"export CUDA_HOME=/usr/local/cuda-{number} PATH=/usr/local/cuda-{number}/bin:$PATH", safe=True)  # fmt: skip
        yield Fix(f"Or install a build of {case.title} for the CUDA that is there")


def _path(case: Asked) -> Iterator[Fix]:
    if not case.library:
        return
    if call := PRELOADS.get(case.framework):
        yield Fix(f"Call {call} at the start of the program: it finds the wheels of the environment", safe=True)
    if case.windows:
        yield Fix(f"Find {case.library}", f"where /R C:\\ {case.library}", safe=True)
        yield Fix("Put its folder on PATH, in this window; for good under the system's environment variables",
                  "set PATH=FOLDER;%PATH%", safe=True)  # fmt: skip
        return
    folder = case.folder or "FOLDER"
    if not case.folder:
        yield Fix(f"Find {case.library}", f"find / -name '{case.library}*' 2>/dev/null", safe=True)
    yield Fix("Put its folder on the search path", f"export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH", safe=True)
    yield Fix(
        "Or tell the loader for good",
        f"echo {folder} | sudo tee /etc/ld.so.conf.d/cuda.conf && sudo ldconfig",
        root=True,
    )


def _old_driver(case: Asked) -> Iterator[Fix]:
    if image := _IMAGE.search(case.fields.get("what", "")):
        yield from _old_for_image(case, image["cuda"])
        return
    row = floor(case.cuda, "windows" if case.windows else "linux") if "." in case.cuda else None
    least = f" ({row.driver} or newer, which CUDA {case.cuda} needs)" if row and row.driver else ""
    if case.windows:
        yield Fix(f"Install a newer driver from NVIDIA{least}, then restart", reboot=True)
    else:
        yield Fix(f"Install a newer driver{least}", "sudo ubuntu-drivers install", root=True, reboot=True)
    found = dotted(case.fields.get("found", ""))
    if numbers(found):
        yield from _older_build(case, found)
        return
    driver = case.fields.get("driver", "") or case.driver
    command = f"gpuwhy releases {_PROJECTS[case.framework]} --works-with driver={driver}" if case.framework in _PROJECTS and numbers(driver) else ""  # fmt: skip
    yield Fix(f"Or install a build of {case.title} for an older CUDA", command)


def _older_build(case: Asked, speaks: str) -> Iterator[Fix]:
    """Builds of the framework that a driver which speaks this CUDA runs."""
    build = next((one for one in BUILDS.get(case.framework, ()) if at_least(speaks, one.oldest)), None)
    if build and not build.removing and not (case.windows and case.framework in ("torch", "tensorflow")):
        text = f"Or install a build of {case.title} for {build.what}, which this driver, of CUDA {speaks}, runs"
        yield Fix(text, build.command, safe=True)
    else:
        yield Fix(f"Or install a build of {case.title} for CUDA {speaks} or older, which is what this driver runs")
    if case.framework == "torch" and at_least(speaks, "11.0"):
        family, last = ("cu126", "") if at_least(speaks, "12.0") else ("cu118", ", which 2.7.1 was the last to have,")
        yield Fix(f"Or a newer PyTorch in its {family} build{last} from PyTorch's own package index", safe=True)


def _old_for_image(case: Asked, cuda: str) -> Iterator[Fix]:
    """The image states the CUDA that the driver must speak by itself."""
    row = floor(cuda)
    least = f" to {row.native} or newer, which speaks CUDA {cuda}" if row and row.native else ""
    yield Fix(f"Update the host's driver{least}", "sudo ubuntu-drivers install", root=True, reboot=True)
    yield Fix(
        f"Or use an image of a CUDA older than {cuda}: at most the one that nvidia-smi on the host names", "nvidia-smi"
    )
    if row and row.minor_compatible:
        yield Fix(f"Or, where the host's driver is {row.driver} or newer, start it without that check: CUDA {cuda} runs on it",
                  "docker run --gpus all -e NVIDIA_DISABLE_REQUIRE=1 IMAGE")  # fmt: skip


def _other_gpu(case: Asked) -> Iterator[Fix]:
    arch = case.fields.get("arch") or case.fields.get("has", "")
    digits = "".join(c for c in arch if c.isdigit())
    capability = f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else ""
    row = archs.of(capability)
    if row is None:
        return
    code, project = f"sm_{digits}", _PROJECTS.get(case.framework, "")
    command = f"gpuwhy releases {project} --works-with gpu={code}" if project else ""
    index = ", from PyTorch's own package index" if case.framework == "torch" else ""
    if row.last_toolkit:
        yield Fix(
            f"Install a release of {case.title} with code for {code} ({row.name}): one built for CUDA {row.last_toolkit} or older{index}",
            command,
        )
    elif row.first_toolkit:
        yield Fix(
            f"Install a release of {case.title} with code for {code} ({row.name}): one built for CUDA {row.first_toolkit} or newer{index}",
            command,
        )


def _extension(case: Asked) -> Iterator[Fix]:
    lines = "\n".join(line for _, line, _ in case.behind)
    if any(signature == "jax.plugin_abi" for signature, _, _ in case.behind):
        yield _jax_together(case, lines)
    elif companion := re.search(r"torch(?:vision|audio|text)", lines, re.IGNORECASE):
        name, release = companion[0].lower(), case.version.split("+")[0]
        which = f"torch {release}" if release else "the newest torch, with it"
        text = f"Install the {name} that belongs to {which}; its own pins choose the release"
        torch = f'"torch=={release}"' if release else "torch"
        yield Fix(text, f"pip install --force-reinstall {torch} {name}", safe=True)
        yield Fix("See both versions", "pip list", safe=True, role="look")


def _jax_together(case: Asked, lines: str) -> Fix:
    """One requirement that sets jax, jaxlib and the plug-in to one release: that of jax, else of jaxlib."""
    named = re.search(r"\bjax version (\d[\w.]*\d)", lines) or re.search(r"\bjaxlib version (\d[\w.]*\d)", lines)
    major = re.search(r"cuda(\d\d)", lines)
    version = named[1] if named else case.version
    wanted = gpu_requirement("jax", "jax", version, int(major[1]) if major else None) if version else ""
    wanted = wanted or f"jax[cuda{13 if major and major[1] == '13' else 12}]"
    return Fix("Install jax, jaxlib and the plug-in of one release", f'pip install -U "{wanted}"', safe=True)


_OF_JAX = ("jax.plugin_abi", "pairs.jaxlib", "pairs.plugin", "pairs.jax_part")


def _inconsistent(case: Asked) -> Iterator[Fix]:
    if any(signature in _OF_JAX for signature, _, _ in case.behind):
        yield _jax_together(case, "\n".join(line for _, line, _ in case.behind))


def _conflict(case: Asked) -> Iterator[Fix]:
    if any(signature == "jax.plugin_abi" for signature, _, _ in case.behind):
        yield from _extension(case)


_MAKERS: dict[str, Callable[[Asked], Iterator[Fix]]] = {
    "cuda.missing_library": _missing_library,
    "cudnn.missing": _missing_cudnn,
    "cudnn.version_mismatch": _other_cudnn,
    "cuda.version_mismatch": _other_cuda,
    "env.path": _path,
    "driver.too_old": _old_driver,
    "framework.extension_abi": _extension,
    "framework.gpu_unsupported": _other_gpu,
    "install.conflict": _conflict,
    "install.inconsistent": _inconsistent,
}
