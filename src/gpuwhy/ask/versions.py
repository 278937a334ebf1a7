"""What the tables of releases say of the versions that a question states."""

from __future__ import annotations

import re
from functools import cache

import msgspec

from gpuwhy.ask.question import Point, Reply
from gpuwhy.ask.stated import TITLES, Stated
from gpuwhy.knowledge import archs, cudnn_rules, drivers, installs, platforms, releases

PROJECTS = {
    "tensorflow": ("tensorflow", "tensorflow-gpu"),
    "torch": ("torch",),
    "jax": ("jax-cuda12-plugin", "jaxlib"),
    "onnxruntime": ("onnxruntime-gpu",),
    "cupy": ("cupy-cuda12x", "cupy-cuda11x"),
}
SYSTEMS = {"": "Linux", "linux": "Linux", "windows": "Windows", "macos": "macOS", "wsl": "WSL 2"}
SOURCE = "the published files: gpuwhy releases"


class Build(msgspec.Struct, frozen=True):
    """A release with CUDA on one system."""

    framework: str
    project: str
    version: str  # 2.3.4
    cuda: str
    cudnn: str = ""  # "" where nobody read it
    sass: tuple[str, ...] = ()
    ptx: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()  # the libraries that it opens

    @property
    def series(self) -> str:
        """Its version without the last place: "2.3"."""
        return _series(self.version)

    @property
    def title(self) -> str:
        """TensorFlow 2.3."""
        return f"{TITLES[self.framework]} {self.series}"

    @property
    def brings(self) -> bool:
        """Whether its wheels bring CUDA and cuDNN."""
        return installs.brings_libraries(self.framework, self.version)

    def library(self, name: str) -> str:
        """The file that it opens for "cudart" or "cudnn"."""
        found = (one for one in self.opens if one.removeprefix("lib").startswith(name))
        return next(found, "")

    def runs_on(self, capability: str) -> bool | None:
        """Whether it has code for a GPU, and its CUDA libraries too; None where nobody read it."""
        if not self.sass and not self.ptx:
            return None
        how = archs.runs_on(self.sass, self.ptx, capability)
        first = archs.first_toolkit(capability) or "0"
        old = numbers(self.cuda)[:1] < numbers(first)[:1]
        return how == "sass" or (how == "ptx" and not old)


@cache
def builds(framework: str, os: str = "") -> tuple[Build, ...]:
    """Every final release with CUDA on a system, oldest first."""
    platform = "windows-x86_64" if os == "windows" else "linux-x86_64"
    found: dict[str, Build] = {}
    for project in PROJECTS.get(framework, ()):
        family = releases.family(project)
        for row in family.rows if family else ():
            final = re.fullmatch(r"[\d.]+(\.post\d+)?", row.version)
            if row.platform != platform or not isinstance(row.cuda, str) or not final or row.yanked:
                continue
            code = [part if isinstance(part, tuple) else () for part in (row.sass, row.ptx)]
            opens = row.opens if isinstance(row.opens, tuple) else ()
            cudnn = row.cudnn if isinstance(row.cudnn, str) else ""
            found.setdefault(
                row.version,
                Build(
                    framework,
                    project,
                    row.version,
                    row.cuda,
                    cudnn,
                    code[0],
                    code[1],
                    row.pythons,
                    opens,
                ),
            )
    return tuple(sorted(found.values(), key=lambda one: numbers(one.version)))


def build(framework: str, version: str, os: str = "") -> Build | None:
    """The newest release of a version as people write it ("2.3"); without one the newest."""
    rows = builds(framework, os) or builds(framework)
    wanted = numbers(version)
    kept = [one for one in rows if numbers(one.version)[: len(wanted)] == wanted]
    return kept[-1] if kept else None


def numbers(version: str) -> tuple[int, ...]:
    """10.1 → (10, 1)."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:4])


def _series(version: str) -> str:
    return ".".join(map(str, numbers(version)[:2]))


def driver(cuda: str, os: str) -> str:
    """The oldest driver for a CUDA on a system; on both where none is named."""
    linux, windows = (drivers.floor(cuda, one) for one in ("linux", "windows"))
    if os in ("windows", "wsl"):
        return f"{windows.driver} or newer" if windows else ""
    if os or not windows:
        return f"{linux.driver} or newer" if linux else ""
    return f"{linux.driver} or newer on Linux, {windows.driver} on Windows" if linux else ""


def names(stated: Stated, release: str = "") -> dict[str, str]:
    """What a sentence may name of a question: what it states, and what its release needs."""
    framework, version = stated.framework, stated.version
    if release and not (framework and version):
        framework, version = release.split(" ", 1)
    found = build(framework, version, stated.os) if framework else None
    out = {
        "framework": TITLES.get(stated.framework, ""),
        "version": stated.version,
        "gpu": stated.gpu or (f"a GPU of compute capability {stated.capability}"),
        "sm": f"sm_{stated.capability.replace('.', '')}" if stated.capability else "",
        "stated_cuda": stated.cuda,
        "stated_cudnn": stated.cudnn,
        "system": SYSTEMS[stated.os],
    }
    if found:
        out |= {
            "release": found.title,
            "cuda": _series(found.cuda),
            "cudnn": _series(found.cudnn),
            "cudnn_major": found.cudnn.split(".")[0],
            "built_cudnn": found.cudnn,
            "cuda_library": found.library("cudart"),
            "cudnn_library": found.library("cudnn"),
            "driver": driver(found.cuda, stated.os),
            "pythons": _span(found.pythons),
        }
    if stated.capability:
        toolkit = archs.first_toolkit(stated.capability)
        out |= {"gpu_cuda": toolkit or "", "gpu_driver": _branch(stated)}
    return {name: value for name, value in out.items() if value}


def _branch(stated: Stated) -> str:
    branch = archs.first_driver_branch(stated.capability, stated.os)
    return f"{branch} or newer" if branch else ""


def _span(values: tuple[str, ...]) -> str:
    """3.5 to 3.8."""
    plain = [one for one in values if re.fullmatch(r"\d\.\d+", one)]
    return f"{plain[0]} to {plain[-1]}" if len(plain) > 1 else plain[0] if plain else ""


def requires(stated: Stated) -> Reply | None:
    """Which versions go with what is stated."""
    if stated.framework:
        return _of_release(stated) if stated.version else _of_framework(stated)
    if stated.capability:
        return _of_gpu(stated)
    if stated.cuda:
        return _of_cuda(stated)
    return _of_driver(stated) if stated.driver else _of_cudnn(stated) if stated.cudnn else None


def _of_release(stated: Stated) -> Reply | None:
    found = build(stated.framework, stated.version, stated.os)
    if found is None:
        return _unknown_release(stated)
    where = f" on {SYSTEMS[stated.os]}" if stated.os else ""
    built = f"cuDNN {_series(found.cudnn)}" if found.cudnn else ""
    needs = f"CUDA {_series(found.cuda)}{f' and {built}' if built else ''}"
    verb = "brings" if found.brings else "needs"
    points = (
        Point("Exactly", _built_with(found, stated)),
        Point("Library", " and ".join(filter(None, map(found.library, ("cudart", "cudnn"))))),
        Point("Driver", driver(found.cuda, stated.os)),
        Point("Python", _span(found.pythons)),
        *_instead(found, stated),
        Point("Install", command=_plan(found.framework, found.series, stated)),
    )
    return Reply(
        "requires.release",
        f"{found.title}{where} {verb} {needs}{_or_not(found, stated)}",
        points=_said(points),
        source=f"{found.project} {found.version}",
    )


def _built_with(found: Build, stated: Stated) -> str:
    """The exact cuDNN, on both systems where the question names none."""
    if found.brings or numbers(found.cudnn)[2:] == ():
        return ""
    other = build(found.framework, found.version, "windows") if not stated.os else None
    if other and other.cudnn and other.cudnn != found.cudnn:
        return f"cuDNN {found.cudnn} on Linux, {other.cudnn} on Windows"
    return f"cuDNN {found.cudnn}; a later {numbers(found.cudnn)[0]}.x works too"


def _or_not(found: Build, stated: Stated) -> str:
    """ "10.0 or 10.1?" is answered in the headline."""
    wrong = [one for one in stated.cudas if len(stated.cudas) > 1 and not _fits_cuda(found, one)]
    return f", not CUDA {wrong[0]}" if wrong else ""


def _instead(found: Build, stated: Stated) -> tuple[Point, ...]:
    """Where the release's own project has another name."""
    if found.project == "tensorflow-gpu":
        return (Point("Package", "tensorflow-gpu; tensorflow of this release is a CPU build"),)
    return ()


def _unknown_release(stated: Stated) -> Reply | None:
    dropped = platforms.dropped(stated.framework, stated.version, stated.os, "", "")
    if dropped:
        return Reply(
            "requires.dropped",
            f"{dropped.text}: {TITLES[stated.framework]} {stated.version} has none",
            points=(Point("Instead", dropped.instead),),
            source=dropped.source.where,
        )
    rows = builds(stated.framework, stated.os) or builds(stated.framework)
    if not rows:
        return None
    return Reply(
        "requires.unknown_release",
        f"No build with CUDA of {TITLES[stated.framework]} {stated.version} is known",
        points=(Point("Known", f"{rows[0].version} to {rows[-1].version}"),),
        source=SOURCE,
    )


def _of_framework(stated: Stated) -> Reply | None:
    """Without a release: those for this card or CUDA, else the newest."""
    title, rows = TITLES[stated.framework], _for_machine(stated)
    if not rows:
        return None
    newest = rows[-1]
    if stated.capability or stated.cuda:
        what = f"{_gpu(stated)}" if stated.capability else f"CUDA {stated.cuda}"
        return Reply(
            "requires.releases",
            f"{title} {_releases(rows)} {'run on' if stated.capability else 'were built for'} {what}",
            points=_said(
                (
                    Point("Newest", f"{newest.title} with CUDA {newest.cuda}"),
                    Point("Driver", driver(newest.cuda, stated.os)),
                    Point("Install", command=_plan(stated.framework, "", stated)),
                )
            ),
            source=SOURCE,
        )
    with_version = msgspec.structs.replace(stated, version=newest.version)
    reply = _of_release(with_version)
    which = Point("Which", f"{newest.title} is the newest; name a release for another")
    return reply and msgspec.structs.replace(reply, points=(*reply.points[:3], which))


def _for_machine(stated: Stated) -> list[Build]:
    rows = builds(stated.framework, stated.os) or builds(stated.framework)
    if stated.capability:
        return [one for one in rows if one.runs_on(stated.capability)]
    if stated.cuda:
        return [one for one in rows if _series(one.cuda).startswith(stated.cuda.split(".0")[0])]
    return list(rows)


def _releases(rows: list[Build] | tuple[Build, ...]) -> str:
    """2.4 to 2.10."""
    first, last = rows[0].series, rows[-1].series
    return first if first == last else f"{first} to {last}"


def _of_gpu(stated: Stated) -> Reply | None:
    toolkit = archs.first_toolkit(stated.capability)
    last, branch = archs.last_toolkit(stated.capability), _branch(stated)
    if not toolkit:
        return None
    until = f" to {last}" if last else " or newer"
    points = [Point("Driver", branch)]
    for framework in ("tensorflow", "torch", "jax"):
        rows = [one for one in builds(framework, stated.os) if one.runs_on(stated.capability)]
        points.append(Point(TITLES[framework], _releases(rows) if rows else ""))
    points.append(Point("Install", command=f'gpuwhy plan torch --gpu "{stated.gpu}"'))
    return Reply(
        "requires.gpu",
        f"{_gpu(stated, True)} needs CUDA {toolkit}{until}",
        points=_said(points),
        source="NVIDIA's tables of toolkits and architectures",
    )


def _gpu(stated: Stated, begins: bool = False) -> str:
    sm = f"sm_{stated.capability.replace('.', '')}"
    name = f"{'The' if begins else 'the'} {stated.gpu} ({sm})" if stated.gpu else ""
    return name or f"{'A' if begins else 'a'} GPU of compute capability {stated.capability}"


def _of_cuda(stated: Stated) -> Reply | None:
    need = driver(stated.cuda, stated.os)
    if not need:
        return None
    minor = stated.cuda if "." in stated.cuda else f"{stated.cuda}.0"
    fitting = [str(major) for major in (5, 6, 7, 8, 9) if cudnn_rules.has_minor(major, minor)]
    native = drivers.floor(stated.cuda, "windows" if stated.os == "windows" else "linux")
    own = native.native if native and native.minor_compatible else ""
    points = (
        Point("All of it", f"{own} or newer" if own else ""),
        Point("cuDNN", f"{' or '.join(fitting)} exists for it" if fitting else ""),
        Point("To see", "nvidia-smi shows the driver and the newest CUDA that it supports"),
    )
    return Reply(
        "requires.cuda",
        f"CUDA {stated.cuda} needs NVIDIA driver {need}",
        points=_said(points),
        source="NVIDIA CUDA Toolkit release notes",
    )


def _of_driver(stated: Stated) -> Reply | None:
    cuda = drivers.cuda_of_driver(stated.driver)
    if not cuda:
        return None
    return Reply(
        "requires.driver",
        f"Driver {stated.driver} supports CUDA up to {cuda}",
        points=(Point("Newer", f"programs built for a later {cuda.split('.')[0]}.x mostly run"),)
        if numbers(cuda)[0] >= 11
        else (),
        source="NVIDIA CUDA Toolkit release notes",
    )


def _of_cudnn(stated: Stated) -> Reply | None:
    major = numbers(stated.cudnn)[0]
    known = cudnn_rules.CUDA_OF.get(major)
    if not known:
        return None
    low, high = (".".join(map(str, one)) for one in known)
    return Reply(
        "requires.cudnn",
        f"cuDNN {major} exists for CUDA {low} to {high}",
        points=(Point("Which", "the framework's release decides: name it for its versions"),),
        source="NVIDIA's archive of cuDNN",
    )


def runs_on(stated: Stated) -> Reply | None:
    """Whether a release runs on a card, a driver, a system, a Python."""
    if not stated.framework or not stated.version:
        return fits(stated) or (_of_framework(stated) if stated.framework and stated.capability else None)
    found = build(stated.framework, stated.version, stated.os)
    gone = platforms.dropped(stated.framework, stated.version, stated.os, "", "")
    if found is None or (gone and stated.os):
        return _unknown_release(stated)
    for refuse in (_no_gpu, _no_cuda, _no_cudnn, _no_driver, _no_python):
        if reply := refuse(found, stated):
            return reply
    with_what = [_gpu(stated) if stated.capability else "", _versions(stated)]
    what = " with ".join(filter(None, with_what)) or SYSTEMS[stated.os]
    branch = Point("Driver", _branch(stated) if stated.capability else driver(found.cuda, stated.os))
    points = (
        Point("Needs", f"CUDA {_series(found.cuda)}, cuDNN {_series(found.cudnn)}"),
        branch,
        Point("Python", _span(found.pythons)),
        Point("Install", command=_plan(found.framework, found.series, stated)),
    )
    verb = "runs on" if stated.capability else "fits"
    return Reply("runs_on.yes", f"Yes: {found.title} {verb} {what}", points=_said(points), source=SOURCE)


def _versions(stated: Stated) -> str:
    """The versions that a question states, in words."""
    rows = (
        ("CUDA", stated.cuda),
        ("cuDNN", " and ".join(stated.cudnns)),
        ("driver", stated.driver),
        ("Python", stated.python),
    )
    return ", ".join(f"{name} {version}" for name, version in rows if version)


def _no_gpu(found: Build, stated: Stated) -> Reply | None:
    if not stated.capability or found.runs_on(stated.capability) is not False:
        return None
    rows = [
        one for one in builds(found.framework, stated.os) if one.runs_on(stated.capability)
    ]
    later = [one for one in rows if numbers(one.version) > numbers(found.version)]
    near = later or rows
    toolkit = archs.first_toolkit(stated.capability) or ""
    enough = later and numbers(later[0].cuda) < numbers(toolkit)
    first = numbers(toolkit)[0] if enough else toolkit
    need = f"CUDA {first} or newer" if later else f"CUDA {_last(stated)} or older"
    choice = f"{TITLES[found.framework]} {_releases(near)} ({_cudas(near)})" if near else ""
    points = (
        Point("Instead", choice),
        Point("Driver", _branch(stated)),
        Point("Install", command=_plan(found.framework, near[-1].series if near else "", stated)),
    )
    return Reply(
        "runs_on.no_code",
        f"No: {found.title} (CUDA {_series(found.cuda)}) has no code for {_gpu(stated)},"
        f" which needs {need}",
        points=_said(points),
        source=SOURCE,
    )


def _cudas(rows: list[Build]) -> str:
    first, last = rows[0].cuda, rows[-1].cuda
    return f"CUDA {first}" if first == last else f"CUDA {first} to {last}"


def _last(stated: Stated) -> str:
    return archs.last_toolkit(stated.capability) or ""


def _fits_cuda(found: Build, cuda: str) -> bool:
    """Up to CUDA 10 the very release; from 11 on a later minor of the same major serves too."""
    have, need = numbers(cuda), numbers(found.cuda)
    if have[:1] != need[:1]:
        return False
    return len(have) < 2 or have[:2] == need[:2] or (need[0] >= 11 and have[:2] > need[:2])


def _no_cuda(found: Build, stated: Stated) -> Reply | None:
    if not stated.cuda or any(_fits_cuda(found, one) for one in stated.cudas):
        return None
    return _wrong(found, stated, f"CUDA {_series(found.cuda)}, not CUDA {stated.cuda}")


def _no_cudnn(found: Build, stated: Stated) -> Reply | None:
    rule = cudnn_rules.rule(found.framework, found.version)
    for cudnn in stated.cudnns:
        if not found.cudnn:
            return None
        need = rule.needs if rule else "same major"
        fits = cudnn_rules.fits(need, found.cudnn, cudnn)
        if fits is False:
            return _wrong(found, stated, f"cuDNN {_series(found.cudnn)}, not cuDNN {cudnn}")
    return None


def _wrong(found: Build, stated: Stated, what: str) -> Reply:
    verb = "brings" if found.brings else "needs"
    fitting = [one for one in builds(found.framework, stated.os) if _all_fit(one, stated)]
    points = (
        Point("Needs", f"CUDA {_series(found.cuda)} and cuDNN {_series(found.cudnn)}"),
        Point("Driver", driver(found.cuda, stated.os)),
        Point("Or", f"{TITLES[found.framework]} {_releases(fitting)} for yours" if fitting else ""),
        Point("Install", command=_plan(found.framework, found.series, stated)),
    )
    return Reply(
        "fits.no",
        f"No: {found.title} {verb} {what}",
        points=_said(points),
        source=f"{found.project} {found.version}",
    )


def _all_fit(one: Build, stated: Stated) -> bool:
    rule = cudnn_rules.rule(one.framework, one.version)
    need = rule.needs if rule else "same major"
    cudnn = all(
        bool(one.cudnn) and cudnn_rules.fits(need, one.cudnn, have) is True
        for have in stated.cudnns
    )
    return cudnn and all(_fits_cuda(one, have) for have in stated.cudas)


def _no_driver(found: Build, stated: Stated) -> Reply | None:
    system = "windows" if stated.os in ("windows", "wsl") else "linux"
    floor = drivers.floor(found.cuda, system)
    if not stated.driver or not floor:
        return None
    places = len(numbers(stated.driver))
    if numbers(stated.driver) >= numbers(floor.driver)[:places]:
        return None
    return Reply(
        "runs_on.driver",
        f"No: {found.title} (CUDA {_series(found.cuda)}) needs driver {floor.driver} or newer,"
        f" not {stated.driver}",
        points=(Point("Do this", "install a newer NVIDIA driver"),),
        source="NVIDIA CUDA Toolkit release notes",
    )


def _no_python(found: Build, stated: Stated) -> Reply | None:
    if not stated.python or not found.pythons or stated.python in found.pythons:
        return None
    if any(one.endswith("+") or one == "3" for one in found.pythons):
        return None
    return Reply(
        "runs_on.python",
        f"No: {found.title} has wheels for Python {_span(found.pythons)}, not {stated.python}",
        points=(Point("Install", command=_plan(found.framework, found.series, stated)),),
        source=f"{found.project} {found.version}",
    )


def _gpu_and_cuda(stated: Stated) -> Reply | None:
    """A card and a CUDA, without a framework."""
    toolkit, last = archs.first_toolkit(stated.capability), archs.last_toolkit(stated.capability)
    if not toolkit:
        return None
    early = numbers(stated.cuda)[:1] < numbers(toolkit)[:1]
    late = bool(last) and numbers(stated.cuda)[:2] > numbers(last or "")[:2]
    word = "No" if early or late else "Yes"
    need = f"CUDA {toolkit}{f' to {last}' if last else ' or newer'}"
    return Reply(
        "runs_on.gpu_cuda",
        f"{word}: {_gpu(stated)} needs {need}; CUDA {stated.cuda} is"
        f" {'too old' if early else 'too new' if late else 'right'}",
        points=_said((Point("Driver", _branch(stated)),)),
        source="NVIDIA's tables of toolkits and architectures",
    )


def fits(stated: Stated) -> Reply | None:
    """Whether the stated versions go together."""
    if stated.framework and stated.version:
        return runs_on(stated)
    if stated.driver and stated.cuda:
        return _driver_for(stated)
    if not (stated.cuda and stated.cudnn):
        return _gpu_and_cuda(stated) if stated.capability and stated.cuda else None
    major, minor = numbers(stated.cudnn)[0], stated.cuda
    known = cudnn_rules.CUDA_OF.get(major)
    if not known:
        return None
    right = cudnn_rules.has_minor(major, minor if "." in minor else f"{minor}.0")
    low, high = (".".join(map(str, one)) for one in known)
    return Reply(
        "fits.cudnn",
        f"{'Yes' if right else 'No'}: cuDNN {major} exists for CUDA {low} to {high}",
        points=(Point("Which", "the framework's release decides: name it for its versions"),),
        source="NVIDIA's archive of cuDNN",
    )


def stated_alone(stated: Stated) -> Reply | None:
    """The answer where versions stand there, and no word says what is asked of them."""
    beside = stated.cuda or stated.cudnn or stated.capability or stated.driver or stated.python
    if stated.framework and stated.version:
        return runs_on(stated) if beside else requires(stated)
    return fits(stated) or (requires(stated) if beside else None)


def _driver_for(stated: Stated) -> Reply | None:
    system = "windows" if stated.os in ("windows", "wsl") else "linux"
    floor = drivers.floor(stated.cuda, system)
    if not floor:
        return None
    enough = numbers(stated.driver) >= numbers(floor.driver)[: len(numbers(stated.driver))]
    return Reply(
        "fits.driver",
        f"{'Yes' if enough else 'No'}: CUDA {stated.cuda} needs driver {floor.driver} or newer"
        f" on {SYSTEMS[stated.os]}",
        source="NVIDIA CUDA Toolkit release notes",
    )


def fit_of(stated: Stated) -> str:
    """Whether the stated CUDA and cuDNN are right, in words; "" where neither is stated."""
    found = build(stated.framework, stated.version, stated.os) if stated.framework else None
    if not found or not (stated.cuda or stated.cudnn):
        return ""
    wrong = _no_cuda(found, stated) or _no_cudnn(found, stated)
    return f"{_versions(stated)} {'does not fit' if wrong else 'fits'}"


def _plan(framework: str, series: str, stated: Stated) -> str:
    """The command that makes a plan of it."""
    project = framework if framework != "onnxruntime" else "onnxruntime-gpu"
    wish = f'"{project}=={series}.*"' if series else project
    system = " --os windows" if stated.os == "windows" else ""
    return f"gpuwhy plan {wish}{system}" + (f' --gpu "{stated.gpu}"' if stated.gpu else "")


def _said(points: tuple[Point, ...] | list[Point]) -> tuple[Point, ...]:
    return tuple(one for one in points if one.text or one.command)
