"""Which torch comes: PyTorch's own indexes, and what a later command puts in its place."""

import re
from collections.abc import Iterator

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import asked, images, torch_builds
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.mistakes import Edit, Mistake
from gpuwhy.lint.repository import TORCH_INDEX
from gpuwhy.lint.scope import ONE_BY_ONE, Scope, newest_said, told
from gpuwhy.lint.sheet import PYTORCH, Index, Pin, holds_only
from gpuwhy.lint.solve import solve
from gpuwhy.lint.versions import LINUX, allowed, allows, major, meets_one

_TOLD = re.compile(r"PIP_(EXTRA_)?INDEX_URL|PIP_FIND_LINKS|pip\.conf|pip config")
_AGAIN = {"-U", "--upgrade", "--force-reinstall", "-I", "--ignore-installed", "--target", "-t"}
_OLD = "2.6"
"""Indexes that ended before it have no code for Blackwell, and no torch for transformers 5."""


def local_version(scope: Scope) -> Iterator[Mistake]:
    """A build that is on another index alone, and nothing names that index."""
    stage = scope.environment
    there = scope.over_unknown or scope.base.family in ("ngc", "pytorch", "aws")
    for pin in scope.pins if not stage.other_index and not there else ():
        labelled = pin.name in PYTORCH and re.match(r"cu|cpu|rocm", pin.local)
        if not labelled or pin.indexes or not pin.installed or pin.backend:
            continue
        if not _is_told(scope):
            option = f"--extra-index-url https://download.pytorch.org/whl/{pin.local}"
            written = f"{pin.name}{pin.specifier}"
            listed = scope.kind == "requirements"
            edit = Edit(written, f"{option}\n{written}") if listed else None
            fix = f"list {option} under pip:" if scope.kind == "conda" else f"add {option}"
            yield told("local-version", pin, fix=fix, edit=edit)
            return


def _is_told(scope: Scope) -> bool:
    """Whether some file says where the build is; conda hands pip nothing but the file."""
    own = scope.read(scope.environment.path) or ""
    if scope.kind == "conda":
        return "download.pytorch.org" in own or scope.repository.says(_TOLD)
    return bool(TORCH_INDEX.search(own)) or scope.repository.says(TORCH_INDEX)


def ended(scope: Scope) -> Iterator[Mistake]:
    """torch without a limit from an index that ended years ago, asked instead of the default."""
    for pin in scope.pins:
        index = pin.indexes[0] if len(pin.indexes) == 1 else None
        if not index or index.role not in ("only", "first") or index.trial or pin.is_pinned:
            continue
        last = torch_builds.index_ends(index.backend) if pin.by_name and index.backend else ""
        patches = allowed("torch", f"=={last}.*") if last.count(".") == 1 else ()
        last = patches[-1].version if patches else last
        if pin.name != "torch" or not last or at_least(last, _OLD):
            continue
        # another package of the same command that asks for an older torch decides
        beside = (p for p in scope.pins if p.step == pin.step and p.version and p.origin == "pip")
        wishes = [scope.asks(other).get("torch", ()) for other in beside]
        decided = any(one and not meets_one(one, last) for one in wishes)
        if allows(pin.specifier, last) and not decided:
            lacks = " (no code for Blackwell GPUs)" if index.backend.startswith("cu") else ""
            values = {"index": index.backend, "last": last, "lacks": lacks}
            yield told("index-ended", pin, torch_builds.source("matrix"), values=values)
            return


def late(scope: Scope) -> Iterator[Mistake]:
    """torch by one command, and by a later one again, with an index and without a release."""
    if scope.kind not in ONE_BY_ONE or scope.base.framework == "torch":
        return
    for pin in scope.pins:
        own = any(holds_only(index.url) == "torch" for index in pin.indexes)
        if pin.name != "torch" or not own or pin.version or pin.reference or not pin.step:
            continue
        commands = scope.environment.commands[: pin.step]
        removed = any({"uninstall", "torch"} <= set(command.words) for command in commands)
        first = next((p for p in scope.pins if _is_first(scope, p, pin)), None)
        if first and not removed and not _AGAIN & set(commands[-1].words):
            values = {"line": first.place.line, "path": first.place.path}
            yield told("index-late", pin, values=values, url=pin.indexes[-1].url)
            return


def _is_first(scope: Scope, one: Pin, pin: Pin) -> bool:
    """Whether an earlier command installs a torch from elsewhere that satisfies this one."""
    if one.name != "torch" or not 0 < one.step < pin.step or one.origin != "pip":
        return False
    row = scope.taken(one)
    version = one.public or (row.version if row else "")
    fits = allows(pin.specifier, version) if version else one.reference and not pin.specifier
    return bool(fits) and one.backend != pin.backend and one.beside(pin)


def outrun(scope: Scope) -> Iterator[Mistake]:
    """torch, and an index beside the default one whose last torch is older than what pip takes."""
    for pin in scope.pins if scope.base.framework != "torch" else ():
        extra = [one for one in pin.indexes if one.role in ("extra", "links") and one.backend]
        only = any(index.role == "only" for index in pin.indexes)
        if pin.name != "torch" or len({one.backend for one in extra}) != 1 or only:
            continue
        if not pin.by_name or pin.local or (pin.is_pinned and not pin.version):
            continue
        row = scope.taken(Pin("torch", pin.place, pin.specifier))
        last = torch_builds.index_ends(extra[0].backend)
        if last and row and not at_least(last, major_minor(row.version)):
            values = {"taken": row.version, "index": extra[0].backend, "last": last}
            values["wanted"] = f"=={last}.*" if len(numbers(last)) == 2 else f"=={last}"
            values["cuda"] = f" for CUDA {row.cuda}" if isinstance(row.cuda, str) else ""
            level, source = "warning" if pin.version else "", torch_builds.source("matrix")
            url = extra[0].url
            yield told("index-outrun", pin, source, severity=level, values=values, url=url)
            return


def replaced(scope: Scope) -> Iterator[Mistake]:
    """PyTorch's index in the place of the default one, for packages that it does not have."""
    lost: dict[Index, list[Pin]] = {}
    for pin in scope.pins:
        beside = any(index.role in ("extra", "first") for index in pin.indexes)
        only = [one for one in pin.indexes if one.role == "only" and holds_only(one.url) == "torch"]
        if only and not beside and pin.by_name and not torch_builds.is_mirrored(pin.name):
            lost.setdefault(only[0], []).append(pin)
    ours = [pin for pin in scope.pins if pin.name in PYTORCH and pin.by_name]
    for index, pins in lost.items():
        named = ", ".join(dict.fromkeys(pin.name for pin in pins[:4])) + " …" * (len(pins) > 4)
        own = [pin for pin in ours if index in pin.indexes]
        sure = own and all(pin.local for pin in own)
        new = f"--extra-index-url {index.url}"
        edit = Edit(f"--index-url {index.url}", new) if sure else None
        source = torch_builds.source("held")
        yield told("index-replaced", index.place, source, edit=edit, url=index.url, named=named)


def no_such_build(scope: Scope) -> Iterator[Mistake]:
    """torch==2.6.0+cu121; torch==1.13.0 with the index cu113."""
    if scope.environment.machine == "aarch64" or scope.environment.other_index:
        return
    for pin in scope.environment.pins:
        if pin.name != "torch" or not pin.by_name or not pin.version:
            continue
        if not at_least(pin.public, "1.13"):
            continue  # older releases have builds that the matrix does not list
        built = [variant.backend for variant in torch_builds.variants(pin.public)]
        named = [one for one in pin.indexes if holds_only(one.url) == "torch"]
        label = pin.local or pin.backend
        several = not pin.local and len({index.url for index in named}) > 1
        known = built and label.startswith("cu") and not any(one.trial for one in named)
        if known and label not in built and not several:
            beside = not pin.local and named and named[0].role != "only"
            values = {"version": pin.public, "build": label, "built": ", ".join(reversed(built))}
            values["ends"] = (
                "the build of the default index is taken" if beside else "pip finds none"
            )
            level, source = "warning" if beside else "", torch_builds.listed_in(pin.public)
            yield told("no-such-build", pin, source, severity=level, values=values)


_COMPANIONS = ("torchvision", "torchaudio", "xformers")
_INDEXES = {11: "cu118", 12: "cu126"}
"""Of each CUDA major an index of PyTorch's that many releases are on."""


def overwritten(scope: Scope) -> Iterator[Mistake]:
    """torch pinned by a command, conda or the image, and later a package that wants another."""
    limited = "PIP_CONSTRAINT" in scope.environment.variables
    limited = limited or any(pin.limits for pin in scope.environment.pins)
    one_by_one = scope.kind in (*ONE_BY_ONE, "conda")
    if not one_by_one or scope.environment.other_index or limited:
        return
    pins = [pin for pin in scope.pins if pin.name == "torch"]
    pin = next((pin for pin in pins if pin.version and pin.step), None)
    after = scope.pins
    version, said = _held_elsewhere(scope) if not pins else ("", "")
    if pin:
        after = [p for p in scope.pins if p.step > pin.step and pin.beside(p)]
        version, said = pin.public, pin.said
    for later in after if version else ():
        what, source = _wants_another(scope, later, version)
        if source:
            values = {"what": what, "said": said, "version": version}
            yield told("torch-replaced", later, source, values=values)
            return


def _held_elsewhere(scope: Scope) -> tuple[str, str]:
    """The release of conda's PyTorch or of the image's, and the words for it."""
    conda, base = scope.by_conda("pytorch"), scope.base
    found = re.fullmatch(r"==(\d+\.\d+(?:\.\d+)?)(\.\*)?", conda.specifier) if conda else None
    if conda and found:
        patches = allowed("torch", f"=={found[1]}.*") if found[1].count(".") == 1 else ()
        version = patches[-1].version if patches else found[1]
        return version, f"conda's pytorch {found[1]} (line {conda.place.line})"
    month = images.month(base.name.rpartition(":")[2])
    limited = base.family == "ngc" and month >= images.LIMITED  # keeps its packages by constraints
    if conda is None and base.framework == "torch" and base.version and not limited:
        return base.version, f"torch {base.version} of the image"
    return "", ""


def _wants_another(scope: Scope, pin: Pin, version: str) -> tuple[str, Source | None]:
    """What a later package, as pip takes it, brings in the place of that torch."""
    own_index = any(holds_only(index.url) == "torch" for index in pin.indexes)
    named = any(p.name == "torch" and p.step == pin.step for p in scope.pins)
    if not pin.installed or own_index or named or scope.is_bare(pin.step):
        return "", None
    if pin.name not in _COMPANIONS:
        what = f"{pin.name}{pin.specifier or ' without a version'} asks for another torch"
        return what, asked.SOURCE if _excludes(scope, pin, version) else None
    lifted = {"-U", "--upgrade", "--force-reinstall"} & set(scope.environment.words_of(pin.step))
    earlier = any(p.name == pin.name and p.step < pin.step for p in scope.pins)
    stays = earlier and not lifted
    row = scope.taken(pin) if not pin.specifier and not stays else None
    wanted = row.pairs.get("torch", "") if row and isinstance(row.pairs, dict) else ""
    if not row or row.platform != LINUX or not wanted or allows(wanted, version):
        return "", None  # with a version, pair-mismatch compares
    what = f"{pin.name} without a version takes {row.version}, which brings torch{wanted}"
    return what, evidence_of(row, "pairs")


def _excludes(scope: Scope, pin: Pin, version: str) -> bool:
    """Whether what pip takes for a pin, or what that brings, asks for another torch everywhere."""
    found = [solve([pin], python) for python in scope.pythons]
    known = [one.releases for one in found if not one.clash and pin.name in one.releases]
    for chosen in known:
        own = asked.asks(pin.name, chosen[pin.name])
        wishes = [own.get("torch", ())]
        if not wishes[0]:
            wishes = [asked.asks(one, chosen[one]).get("torch", ()) for one in own if one in chosen]
        if not any(wish and not meets_one(wish, version) for wish in wishes):
            return False
    return bool(known)


def image_outrun(scope: Scope) -> Iterator[Mistake]:
    """torch of the default index in an nvidia/cuda image of an older major."""
    base, stage = scope.base, scope.environment
    gone = any(re.search(r"\buninstall\b.*\btorch\b", one.text) for one in stage.commands)
    if base.family != "cuda" or not base.cuda or scope.named_otherwise or gone:
        return
    named = [pin for pin in scope.pins if pin.name in ("torch", "pytorch")]
    pin = named[0] if len(named) == 1 and stage.runs and not stage.other_index else None
    if not pin or pin.variant or pin.indexes or not pin.by_name:
        return
    row = scope.taken(pin)
    if not row or not isinstance(row.cuda, str) or major(row.cuda) <= major(base.cuda):
        return
    needs, admits, number = floor(row.cuda), floor(base.cuda), major(base.cuda)
    bringing = (p for p in scope.pins if p.name != "torch" and "torch" in scope.asks(p))
    exact = next((one for one in bringing if one.version), None)
    label = _INDEXES.get(number, f"cu{''.join(map(str, numbers(base.cuda)[:2]))}")
    fix = f"take torch from PyTorch's index for CUDA {number} (such as {label}), "
    fix += "or a newer image"
    if exact:
        fix = f"take a newer image: {exact.name} {exact.version} wants this torch"
    if needs and admits:
        values = {"said": newest_said(pin, row), "cuda": row.cuda, "needs": needs.driver}
        values |= {"image": base.name, "held": base.cuda, "admits": admits.driver}
        yield told("image-outrun", pin, evidence_of(row, "cuda"), fix=fix, values=values)


def image_overridden(scope: Scope) -> Iterator[Mistake]:
    """Another build of the framework that the image was made for."""
    base, ngc = scope.base, scope.base.family == "ngc"
    if base.family not in ("ngc", "pytorch", "tensorflow", "aws") or not base.framework:
        return
    for pin in scope.pins:
        gone = any("uninstall" in one.words for one in scope.environment.commands[: pin.step])
        if pin.name != base.framework or pin.origin != "pip" or gone:
            continue
        if ngc and ("a0+" in pin.version or pin.local.startswith("nv")):
            continue
        same = pin.local in ("", "cu" + base.cuda.replace(".", ""))
        if base.version and allows(pin.specifier.split("+")[0], base.version) and same:
            continue
        if pin.specifier if ngc else base.version:  # of NVIDIA's every release is another build
            own = f"{base.framework} {base.version}" if base.version else f"a {base.framework}"
            keeps = " (pip install --constraint keeps the image's build)" if ngc else ""
            yield told("image-overridden", pin, image=base.name, own=own, keeps=keeps)
