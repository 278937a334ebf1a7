"""driver.too_old in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.containers import read
from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.drivers import FAMILIES, cuda_of_driver, floor
from gpuwhy.knowledge.messages import BROKEN_OFF, NO_ANSWER, NO_CUDNN, NO_DRIVER, NO_GPU, NO_START
from gpuwhy.knowledge.releases import find
from gpuwhy.knowledge.windows import PLATFORM
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.release import Release
from gpuwhy.model.signature import echo, error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import at_least, dotted, major_minor, numbers
from gpuwhy.rooms.shared.builds import BUILDS
from gpuwhy.rooms.shared.commands import torch_with_cuda
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.common import OTHER_DRIVERS, SAID_TO_FAIL, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, any_of, field, line, no, with_
from gpuwhy.rooms.text.exactly import PROJECTS
from gpuwhy.rooms.text.installing import newer_ptx
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.pins import pin
from gpuwhy.rooms.text.retired import last_driver
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.versions import short_of, told_driver_older
from gpuwhy.rooms.text.ways import elsewhere, own_ways

_FREE = with_("tf.memory_usage")

_IMAGE = re.compile(r"cuda ?>=? ?(?P<cuda>\d+\.\d+)")


_NVENC = re.compile(r"nvenc API version\. Required: (?P<needs>[\d.]+\d)", re.IGNORECASE)
_NVENC_LEAST = re.compile(r"minimum required Nvidia driver for nvenc is (\d{3}\.\d+)", re.IGNORECASE)
_NVENC_DRIVERS = {"9.1": ("436.15", "435.21"), "10.0": ("445.87", "445.87"), "11.0": ("456.71", "455.28"), "11.1": ("471.41", "470.57"), "12.0": ("522.25", "520.56"), "12.1": ("531.61", "530.41"), "12.2": ("551.76", "550.54"), "13.0": ("570.0", "570.0")}  # fmt: skip
"""NVENC's API: the first driver for Windows and for Linux (the video codec SDK's release notes)."""


def _encoder(case: Asked, needs: str) -> Iterator[Fix]:
    """An encoder that asks for a newer API than the driver has."""
    said = _NVENC_LEAST.search(case.text)
    least = said[1] if said else _NVENC_DRIVERS.get(needs, ("", ""))[0 if case.windows else 1]
    which = f" {least} or newer" if least else " that is newer"
    if case.windows:
        yield Fix(f"Install driver{which}, which has NVENC's API {needs}: NVIDIA's for Windows (nvidia.com/drivers)", reboot=True)  # fmt: skip
    else:
        yield Fix(f"Install driver{which}, which has NVENC's API {needs}", NEWEST_DRIVER, root=True, reboot=True)
    yield Fix(f"Where the driver must stay (Colab, a cluster): use an older release of the program (FFmpeg, HandBrake, OBS), built with codec headers older than {needs}; or encode on the CPU (libx264)", "ffmpeg -i INPUT -c:v libx264 OUTPUT")  # fmt: skip


def _of_encoder(case: Asked) -> Iterator[Fix]:
    """An encoder that finds the driver too old, with or without the numbers."""
    if api := _NVENC.search(case.text):
        yield from _encoder(case, api["needs"])
    elif any(signature == "nvenc.driver" for signature, _, _ in case.behind):
        yield Fix("Install NVIDIA's newest driver, then restart: this program asks for a newer interface of the encoder than the driver has", "" if case.windows else NEWEST_DRIVER, root=not case.windows, reboot=True)  # fmt: skip
        yield Fix("Or use an older release of the program, or encode on the CPU (OBS: Settings, Output, Encoder x264)")


_OF_DRIVERS = 300
"""Numbers from here on are a driver's; those below, and 12020, are CUDA's."""


_NUMBERED = ("said.driver_older", "container.driver_release")  # messages that name the driver which they ask for


def _as_said(case: Asked) -> Iterator[Fix]:
    """The release that the message itself asks for: a driver's number, or the CUDA that it has to speak."""
    if all(signature not in _NUMBERED for signature, _, _ in case.behind):
        return
    needs, has = case.fields.get("needs", ""), case.fields.get("has", "") or case.driver
    first = next(iter(numbers(needs)), 0)
    cuda = f"{first // 1000}.{first % 1000 // 10}" if first >= 10000 else needs
    least = needs if _OF_DRIVERS <= first < 10000 else ""
    row = None if least else floor(cuda, "linux")
    least = least or (row.driver if row else "")
    if least:
        there = f": {has} is there" if has else ""
        yield Fix(f"Install driver {least} or newer, which is asked for{there}", NEWEST_DRIVER, root=True, reboot=True)


def _made(case: Asked) -> Iterator[Fix]:
    if encoder := tuple(_of_encoder(case)):
        yield from encoder
        return
    if case.fields.get("ptx"):
        yield from newer_ptx(case)
        return
    if image := _IMAGE.search(case.fields.get("what", "")):
        yield from tuple(last_driver(case)) or _old_for_image(case, image["cuda"])
        return
    said = tuple(_as_said(case))
    yield from said
    there = case.fields.get("driver", "") or case.driver or case.reading.told.version("module") or _named_driver(case)
    if not said and (enough := _enough(case, there)):
        yield from _another_copy(case, there, enough)
        return
    if "jetson" in case.tools:
        yield from elsewhere(case)
    newer = () if said else (_newer(case, there),)
    yield from tuple(last_driver(case)) or (*newer, *_or_older(case, there))


def _or_older(case: Asked, there: str) -> Iterator[Fix]:
    """What the driver that is there runs."""
    found = dotted(case.fields.get("found", ""))
    yield from _perhaps_without(case)
    if "container" in case.tools and numbers(found):
        yield Fix(f"Or use an image for CUDA {found} or older, which this driver runs")
    speaks = found if numbers(found) else case.speaks or cuda_of_driver(there) or ""
    if numbers(speaks):
        yield from _older_build(case, speaks)
    else:
        yield from _unknown_driver(case, there)


def _enough(case: Asked, driver: str) -> str:
    """The CUDA of the framework's build, where the driver that is told runs it; else ""."""
    cuda = _wanted_cuda(case)
    least = floor(cuda, case.driver_system) if cuda else None
    first = (least.native if _PTX.search(case.lines) else least.driver) if least else ""
    return cuda if first and numbers(driver) and at_least(driver, first) else ""


_PACKAGED = re.compile(r"\bnvidia[-_ ](?:driver[-_ ])?(\d{3}(?:\.\d+)+)\b|\bdriver[-: ]{1,2}(\d{3}(?:\.\d+)+)", re.IGNORECASE)  # fmt: skip


def _named_driver(case: Asked) -> str:
    """A driver that a text names by its package: nvidia-384.98."""
    found = _PACKAGED.search(case.reading.excerpt)
    return (found[1] or found[2]) if found else ""


def _release(case: Asked, platform: str) -> Release | None:
    names = ("tensorflow-gpu", "tensorflow") if case.framework == "tensorflow" else (PROJECTS.get(case.framework, "-"),)
    return next((row for name in names if (row := find(name, case.version, platform))), None)


_LOCAL = re.compile(r"\+cu(\d\d)(\d)$")


def _another_copy(case: Asked, driver: str, cuda: str) -> Iterator[Fix]:
    """The driver that is told is new enough: what was loaded is another one's library."""
    if case.windows:
        yield Fix(f"Driver {driver} does run CUDA {cuda}: so an old nvcuda.dll is loaded before System32's. See which there are, and delete those outside C:\\Windows", on.cmd("where nvcuda.dll"))  # fmt: skip
        yield Fix("Else install the driver again, as a clean installation (that box in NVIDIA's installer), and restart", reboot=True)  # fmt: skip
    elif "container" in case.tools:
        yield from _perhaps_without(case)
        yield Fix(f"Driver {driver} does run CUDA {cuda}: an old libcuda in the image comes first (cuda-compat, a baked one); see which", on.linux("ldconfig -p | grep libcuda; echo $LD_LIBRARY_PATH"), role="look")  # fmt: skip
    else:
        yield Fix(f"Driver {driver} does run CUDA {cuda}: after its update restart the machine, as the old kernel module is still loaded", on.host("sudo reboot"), root=True, reboot=True)  # fmt: skip
        branch = numbers(driver)[0]
        package = f"libnvidia-compute-{branch}" if branch >= 390 else f"libcuda1-{branch}"
        yield Fix("Where that does not do: the driver's own libcuda.so.1 is missing, or an older one comes first (LD_LIBRARY_PATH): install the one of this driver again", on.host(f"sudo apt install --reinstall {package} && sudo ldconfig && ldconfig -p | grep libcuda.so.1"), root=True)  # fmt: skip


def _unknown_driver(case: Asked, there: str) -> Iterator[Fix]:
    """An older build where the text does not tell what the driver runs: uv asks it, for PyTorch."""
    if case.framework == "torch":
        text = "Or install the build of PyTorch that this driver runs: uv asks the driver for its CUDA"
        yield Fix(text, torch_with_cuda().replace(" torch ", " torch torchvision "), safe=True)
    elif any(one.name in ("openmm", "cryosparc", "rapids") for one in case.programs):
        yield from own_ways(case, "newest")
    elif case.framework:
        yield Fix(f"Or install a build of {case.title} for an older CUDA: nvidia-smi names the one that the driver runs", _listing(case, there) or "nvidia-smi")  # fmt: skip
    else:
        yield Fix("Or use a build of the program for an older CUDA, or compile it with an older toolkit: nvidia-smi names the newest CUDA that the driver runs", "nvidia-smi")  # fmt: skip


def _newer(case: Asked, there: str) -> Fix:
    cuda = _wanted_cuda(case)
    row = floor(cuda, case.driver_system) if "." in cuda else None
    first = (row.native if _PTX.search(case.lines) else row.driver) if row else ""
    enough = first and not (numbers(there) and at_least(there, first))
    least = f" ({first} or newer, which CUDA {cuda} needs)" if enough else _above(there, case)
    if case.windows:
        return Fix(f"Install a newer driver from NVIDIA{least}, then restart", reboot=True)
    return Fix(f"Install a newer driver{least}", NEWEST_DRIVER, root=True, reboot=True)


_PTX = re.compile(r"PTX|unsupported toolchain", re.IGNORECASE)
"""What the driver compiles itself: a later minor release's is beyond it, though it runs that release's machine code."""
_RUNTIME = re.compile(r"CUDA runtime(?: version| library)?:? ?(?:is )?v?(\d+\.\d+)|runtime version:? ?(\d+\.\d+)|\bcuda(\d\d)(\d)?_py|built (?:for|with|against) CUDA (\d+\.\d+)", re.IGNORECASE)  # fmt: skip


def _wanted_cuda(case: Asked) -> str:
    """The CUDA of what was built: a build's label, the image that it runs in, the framework's own, what the text calls the runtime, nvcc's."""
    built = _LOCAL.search(case.version)
    if built:
        return f"{built[1]}.{built[2]}"
    if image := _image_cuda(case):
        return image
    platform = PLATFORM if case.windows else "linux-x86_64"
    row = _release(case, platform) if case.version else None
    if row and isinstance(row.cuda, str):
        return row.cuda
    if said := _RUNTIME.search(case.reading.excerpt):
        return said[1] or said[2] or said[5] or f"{said[3]}.{said[4] or 0}"
    nvcc = case.reading.told.version("nvcc")
    own = major_minor(nvcc) if nvcc and not case.framework else ""
    return own or case.cuda


_IMAGES = re.compile(r"(?:nvcr\.io/[\w./-]+|(?:docker\.io/)?(?:nvidia/cuda|pytorch/pytorch|tensorflow/tensorflow)):[\w.-]+")  # fmt: skip
_DEEPSTREAM = {"6.0": "11.4", "6.1": "11.6", "6.2": "11.8", "6.3": "12.1", "6.4": "12.2", "7.0": "12.2", "7.1": "12.6"}
"""The CUDA of DeepStream's releases (its release notes); the other images tell theirs by their tag."""


def _image_cuda(case: Asked) -> str:
    """The CUDA in the image that a text names."""
    for name in _IMAGES.findall(case.reading.excerpt):
        stream = re.search(r"deepstream\w*:(\d\.\d)", name)
        cuda = _DEEPSTREAM.get(stream[1], "") if stream else read(name).cuda
        if cuda:
            return major_minor(cuda)
    return ""


def _above(driver: str, case: Asked) -> str:
    """A driver that knows more than the one that is told: the first of the next major release of CUDA that is in use."""
    if not numbers(driver):
        return ""
    major = 13 if _PTX.search(case.lines) or at_least(cuda_of_driver(driver) or "13", "12") else 12
    linux, other = FAMILIES[major]
    least = (other or linux.split(".")[0]) if case.driver_system == "windows" else linux
    return f" than {driver}: {least} or newer, which runs every build for CUDA {major}"


def _listing(case: Asked, driver: str) -> str:
    known = case.framework in PROJECTS and numbers(driver)
    return f"gpuwhy releases {PROJECTS[case.framework]} --works-with driver={driver}" if known else ""


def _perhaps_without(case: Asked) -> Iterator[Fix]:
    """A container that was started without the GPU gives the same error as an old driver."""
    if "container" not in case.tools or "found" in case.fields or _PTX.search(case.lines):  # who compiles code has one
        return
    if "kubernetes" in case.tools:
        text = "Where nvidia-smi on the node names a driver that is new enough: the pod got no GPU; let it use NVIDIA's runtime, in its manifest, and ask for one"
        yield Fix(text, on.code("runtimeClassName: nvidia\nresources: {limits: {nvidia.com/gpu: 1}}"))
    else:
        yield Fix("Where nvidia-smi on the host names a driver that is new enough: the container got no GPU; start it with one", "docker run --gpus all IMAGE")  # fmt: skip


_ONCE = {"9.0": "pytorch=1.1 torchvision cudatoolkit=9.0", "8.0": "pytorch=1.0 torchvision cuda80"}


def _older_build(case: Asked, speaks: str) -> Iterator[Fix]:
    """Builds of the framework that a driver which speaks this CUDA runs."""
    build = next((one for one in BUILDS.get(case.framework, ()) if at_least(speaks, one.oldest)), None)
    once = next((old for cuda, old in _ONCE.items() if at_least(speaks, cuda)), "")
    if own := tuple(own_ways(case, "release", cuda=speaks, **_builds_for(speaks))):
        yield from own
    elif found := pin(case, speaks=speaks):
        yield found.fix(f"which this driver, of CUDA {speaks}, runs")
    elif build and not build.removing and not (case.windows and case.framework in ("torch", "tensorflow")):
        text = f"Or install a build of {case.title} for {build.what}, which this driver, of CUDA {speaks}, runs"
        yield Fix(text, build.command, safe=True)
    elif once and case.framework == "torch":
        text = f"Or install the last PyTorch for that CUDA, from conda, in an environment with Python 3.7: this driver speaks CUDA {speaks}"
        yield Fix(text, f"conda install -c pytorch {once}", safe=True)
    elif not case.framework:
        yield from _older_toolkit(speaks)
    else:
        yield Fix(f"Or install a build of {case.title} for CUDA {speaks} or older, which is what this driver runs")


def _builds_for(speaks: str) -> dict[str, str]:
    """What programs call their builds for a driver: every release of CUDA 11 runs on a driver of CUDA 11, of 12 on one of 12."""
    eleven = not at_least(speaks, "12")
    return {"runs": "11.8" if eleven else speaks, "cu": "cu118" if eleven else "cu126", "rapids": "24.12" if eleven else "25.10"}  # fmt: skip


def _older_toolkit(speaks: str) -> Iterator[Fix]:
    """A program of the user's own, or one that is not known: the toolkit that the driver runs."""
    package = f"cuda-toolkit={speaks}" if at_least(speaks, "12") else f"cudatoolkit={speaks} cudatoolkit-dev={speaks}"
    yield Fix(f"Or build the program with CUDA {speaks} or older, which this driver runs", f"conda install -c conda-forge {package}", safe=True)  # fmt: skip


def _old_for_image(case: Asked, cuda: str) -> Iterator[Fix]:
    """The image states the CUDA that the driver must speak by itself."""
    row = floor(cuda, case.driver_system)
    least = f" to {row.native} or newer, which speaks CUDA {cuda}" if row and row.native else ""
    yield Fix(f"Update the host's driver{least}", NEWEST_DRIVER, root=True, reboot=True)
    speaks = case.speaks or cuda_of_driver(case.driver) or ""
    if speaks and not at_least(speaks, cuda):
        yield Fix(f"Or use a tag of the image for CUDA {speaks} or older, which the host's driver speaks", f"docker run --gpus all nvidia/cuda:{speaks}.0-base-ubuntu{'22.04' if at_least(speaks, '11.7') else '20.04'} nvidia-smi    # this one must work")  # fmt: skip
    else:
        yield Fix(f"Or use a tag of the image for a CUDA older than {cuda}: at most the one that nvidia-smi on the host names", "nvidia-smi")  # fmt: skip
    if row and row.minor_compatible:
        yield Fix(f"Or, where the host's driver is {row.driver} or newer, start it without that check: CUDA {cuda} runs on it",
                  "docker run --gpus all -e NVIDIA_DISABLE_REQUIRE=1 IMAGE")  # fmt: skip


_CODEC = re.compile(r"libnvidia-encode|libnvcuvid", re.IGNORECASE)


def _no_codec(s: Symptom, r: Reading) -> bool:
    """The driver's video library itself is not found."""
    return any(_CODEC.search(one.get("library")) for one in r.symptoms)


TEXT = Text(
    "driver.too_old",
    signatures=(
        error("driver.out_of_date", r"\b(?:graphics|gpu|nvidia|video|display|cuda) (?:card )?drivers?(?: version)? (?:is|are|seems?|appears?)(?: to be)? (?:too old|out[- ]of[- ]date|outdated|obsolete)\b", "out of date", "out-of-date", "too old", "outdated", "obsolete", covers=("title.", "python.", "generic.")),
        error("driver.cuda_below", r"\bdrivers? for cuda (?P<needs>\d+\.\d+)[^\n]{0,30}\b(?:yours?|this|it|driver)(?: one)? is(?: only)?(?: for)?(?: cuda)? (?P<has>\d+\.\d+)"
              r"|\bdriver\b[^\n\d]{0,40}supports?(?: only)?(?: up to)? cuda (?P<has2>\d+\.\d+)[^\n\d]{0,30}(?:at least|requires?|needs?|but)[^\n\d]{0,20}(?P<needs2>\d+\.\d+)", "for cuda", "support", covers=("title.", "julia.driver", "said.driver_older")),
        error("container.driver_release", r"this container was built for nvidia driver release (?P<needs>[\d.]+) or later, but"
              r"(?: version (?P<has>\d+\.[\d.]*\d))?", "built for nvidia driver release", covers=("title.driver",)),
        error(
            "loader.driver_symbol",
            r"symbol lookup for (?P<symbol>cu[a-z]\w+) failed|cannot load (?P<symbol2>(?:cuvid|nvencodeapi|cu)(?-i:[A-Z])\w+)\s*$",
            "symbol lookup for cu", "cannot load cu", "cannot load nvencodeapi",
            covers=("loader.undefined_symbol", "title."),
        ),
        error("optix.abi", r"driver does not support abi version|optix[^\n]{0,60}(?:requires?|needs?) (?:a )?newer driver", "abi version", "newer driver", covers=("title.",)),
        error("nvenc.driver", r"minimum required nvidia driver|driver does not support the required nvenc|nv_enc_err_invalid_version|nvencodeapi\w*[^\n]{0,60}invalid[_ ]version", "required nvidia driver", "required nvenc", "invalid_version", covers=("nvenc.session",)),
        error("julia.driver", r"^(?![^\n]*cuda-bindings was built)[^\n]*(?:driver on this system only supports up to cuda (?P<has>[\d.]+)|nvidia driver[^\n]{0,40}only supports[^\n]{0,20}cuda)", "only supports up to cuda", "only supports cuda"),
        error("title.driver_needed", r"requires? (?:at least )?(?:an? )?(?:nvidia )?drivers? (?:version )?(?:>=?|v?\d|or newer)|needs? (?:at least )?(?:nvidia )?driver (?:version )?(?:>=?|\d)|requires? an? (?:\w+ )?driver of|incompatib\w+ between (?:the )?(?:cuda |nvidia )?driver|driver (?:and|is|version)[^\n]{0,30}incompatib",
              "incompatib", "requires driver", "require driver", "requires nvidia driver", "requires a driver", "require a driver", "requires at least", "needs driver", "needs nvidia driver"),
        echo("tf.insufficient", r"possibly insufficient driver version:? ?(?P<driver>[\d.]+)?", "possibly insufficient driver"),
        error(
            "torch.driver_too_old",
            r"nvidia driver on your system is too old(?:[^\n]*found version (?P<found>\d+))?",
            "driver on your system is too old",
        ),
    ),
    clues=(
        ("nvidia.kernel_ptx", 4.4, "the program says that the driver is older than its code, or asks for a newer one"),
        ("cuda.invalid_ptx", 3.2, "the driver does not understand the code of a program that others compiled", line(r"blender|luxcore|cycles|octane|redshift|plotoptix|renderer")),
        ("driver.out_of_date", 4.6, "the program says that the driver is too old for it"),
        ("driver.cuda_below", 5.2, "the driver is for CUDA {has}, and {needs} is the least that the program takes"),
        ("said.driver_older", 4.6, "the driver is of {has}, and {needs} is asked for"),
        ("jax.falls_back", 1.2, "JAX sees no GPU; this happens with a driver older than its CUDA needs"),
        ("numba.versions", 1.8, "the driver may be older than the runtime"),
        ("torch.unavailable", 3.4, "the driver runs an older CUDA than this build needs", told_driver_older),
        ("title.gpu_unseen", 3.2, "the driver runs an older CUDA than this build needs", told_driver_older),
        ("title.empty_devices", 3.2, "the driver runs an older CUDA than this build needs", told_driver_older),
        ("title.bare_false", 3.2, "the driver runs an older CUDA than this build needs", told_driver_older),
        ("cuda.unknown", 2.4, "the driver runs an older CUDA than this build needs", told_driver_older),
        ("tf.malloc_async", 2.6, "the driver is too old for the asynchronous allocator"),
        ("julia.driver", 4.4, "the driver runs CUDA {has} at most"),
        ("xla.old_driver", 2.6, "the driver's CUDA {has} is older than the {what} {needs}"),
        ("container.old_image", 4.4, "the driver runs CUDA {has}, the image needs {needs}", no(field("has", r"0\."))),
        ("torch.driver_too_old", 5.2, "the driver runs CUDA {found:dotted} at most, and this PyTorch needs newer"),
        ("cuda.insufficient_driver", 3.6, "the driver is older than the CUDA runtime needs (error 35)"),
        ("cuda.unsupported_ptx_version", 4.0, "the driver is older than the compiler that made the code (error 222)"),
        ("cuda.call_requires_newer_driver", 4.4, "the call needs a newer driver (error 36)"),
        ("cuda.insufficient_loader_version", 3.6, "the code was made for a newer driver (error 227)"),
        ("cuda.shared_object_symbol_not_found", 2.0, "libcuda lacks a function (error 302)"),
        ("cuda.invalid_ptx", 1.4, "the driver could not compile the PTX"),
        ("cudnn.not_supported_incompatible_cuda_driver", 4.2, "cuDNN says that the driver is too old"),
        ("container.requirement", 4.8, "the image asks for {what}, and the host's driver has less"),
        ("container.driver_release", 4.8, "the image needs driver {needs}, and {has} is there", field("has", r"\d")),
        ("container.driver_release", 4.8, "the image needs driver {needs} or newer", no(field("has", r"\d"))),
        ("packages.virtual_cuda", 2.6, "conda sees a driver that is too old for the package"),
        ("loader.undefined_symbol", 4.2, "the driver's own library lacks {symbol}", field("object", r"(?!.*/stubs/).*libcuda\.so")),
        ("said.too_new", 4.4, "the driver is for CUDA {has}, and {least} or newer is supported", all_of(short_of, line("driver"))),
        ("optix.abi", 4.2, "OptiX says that the driver is older than it needs"),
        ("kin.older", 4.0, "{library} says that the driver is older than it needs ({name})"),
        ("nvenc.driver", 4.6, "the encoder needs a newer driver", no(any_of(line(r"\(unknown\)"), _no_codec))),
        ("nvenc.driver", 1.6, "the encoder may need a newer driver"),
        ("said.video", 2.2, "the driver's video library answers as one of another release"),
        ("tf.insufficient", 1.8, "TensorFlow suspects the driver {driver}"),
        ("cuda.compat_not_supported_on_device", 2.0, "the host's driver is older than the image's CUDA"),
        ("loader.driver_symbol", 4.2, "libcuda lacks {symbol}: the driver is too old"),
        ("tf.cudnn_handle", 1.6, "cuDNN did not start although memory was free: the driver may be too old", _FREE),
        ("torch.webui", 1.2, "PyTorch cannot use the GPU"),
        ("numba.unsupported_ptx", 4.2, "PTX {ptx} meets the driver's own compiler, which knows {knows}", line("application ptx input")),
        ("numba.unsupported_ptx", 3.0, "PTX {ptx} meets a driver that knows {knows}", no(line("ptxas exited"))),
        ("title.driver", 2.0, "the text says that the driver is too old", all_of(line("old|outdated|insufficient|update|upgrade|newer"), no(OTHER_DRIVERS))),
        ("loader.undefined_symbol", 2.6, "libcuda lacks {symbol}", field("symbol", r"cu(?-i:[A-Z])\w+(_v\d)?$")),
        ("kernel.unknown_card", 5.0, "the driver says that it does not know this card: it is older than the card, or newer than its last branch"),
        ("kernel.legacy", 1.4, "the driver branch does not know this card"),
        ("title.driver_needed", 2.5, "the text says that a newer driver is needed"),
        ("title.trouble", 1.7, "the text says that the driver fails", said_of("driver")),
        ("title.trouble", 0.5, SAID_TO_FAIL, nothing_else),
        ("cudnn.execution_failed_cuda_driver", 1.4),
        ("cufft.setup_failed", 2.2),
        ("nvml.function_not_found", 2.0),
        ("nvml.argument_version_mismatch", 2.0),
    ),
    remedies=(
        meant("conda asks the driver for its CUDA, and sees none here (a build, a login node, a container): tell it the CUDA of the machine that will run it", on.linux("CONDA_OVERRIDE_CUDA=12.6 conda install PACKAGE"), said="packages.virtual_cuda", line="__cuda"),
        meant("Install a newer driver", NEWEST_DRIVER, root=True, reboot=True),
        meant("Or install a build of the framework for an older CUDA (CUDA 11 runs on driver 450 and newer)"),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN, *NO_START, *NO_ANSWER, *NO_DRIVER, *BROKEN_OFF),
    made=_made,
)  # fmt: skip
