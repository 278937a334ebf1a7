"""framework.cpu_only: the machine has a GPU, and the framework was installed in its build without CUDA."""

from __future__ import annotations

from gpuwhy.knowledge.flavours import MAIN, flavour, is_follower
from gpuwhy.knowledge.installs import gpu_flavour, gpu_requirement, sound
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, weak
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Fact, Known, Unknown, value_or
from gpuwhy.model.facts import Framework
from gpuwhy.model.version import numbers
from gpuwhy.rooms.framework.platform_dropped import is_narrow, no_build_here
from gpuwhy.rooms.shared.built_for import for_amd64, for_arm
from gpuwhy.rooms.shared.commands import change, python_of, torch_with_cuda
from gpuwhy.rooms.shared.needs import named, the
from gpuwhy.rooms.shared.rivals import flavours, module, names
from gpuwhy.rooms.shared.torch_builds import with_cuda
from gpuwhy.rooms.shared.windows import on_windows
from gpuwhy.rooms.shared.winner import in_image

ASKED = {
    "torch": ("torch.cpu_build", "torch.c_missing", "torch.version_none"),
    "jax": ("jax.cpu_build", "jax.unknown_backend"),
    "tensorflow": ("tf.built_cpu",),
    "onnxruntime": ("ort.not_available",),
    "paddle": ("paddle.cpu",),
    "mxnet": ("mxnet.cpu",),
    "ctranslate2": ("ct2.cpu",),
}
"""Framework → messages by which it says that it was asked for CUDA and was built without."""


def built_without_cuda(case: Case) -> Finding | None:
    """A CPU build on a machine with a GPU; beside a GPU framework it may be what somebody wanted."""
    framework = the(case)
    if is_follower(framework.name):
        return against(f"{framework.title} has no CPU build of its own", saw(named(case), framework.gpu_build))
    if framework.gpu_build.need() is not False:
        return against(f"{named(case)} is a build with CUDA", saw("GPU build", framework.gpu_build))
    if asked := _asked(case):
        return asked
    if blamed := _asked_of_another(case):
        text = f"the program asked {blamed.title} for CUDA"
        return against(text, saw(f"{blamed.title} {blamed.version}", blamed.gpu_build))
    present = _present(case)
    gpu = present.need()
    right = _rightly(case, present)
    if right or gpu is None:
        return right
    if rival := _overwritten(case):
        return against(f"{rival} wrote over it: install.conflict", saw("files shared", case.facts.target.conflicts))
    evidence = (
        saw(f"{framework.distribution} {framework.version} is built without CUDA", framework.gpu_build),
        saw(gpu, present),
    )
    other, arm = _on_the_gpu(case), for_arm(case.facts)
    if not other:
        where = f", and so is the image: {arm}" if arm else ""
        built = f" for {value_or(case.facts.surroundings.machine, '')}{where}" if arm else ""
        return proof(f"{named(case)} is a build without CUDA{built}, while {gpu} is here", *evidence)
    if _chosen(case):
        return against(
            f"{other} uses the GPU here, and {framework.distribution} is installed as its CPU build", *evidence
        )
    return weak(f"{named(case)} is a build without CUDA, while {other} here is one with it", *evidence)


def _rightly(case: Case, present: Fact[str]) -> Finding | None:
    """Where a build without CUDA is the right one: no GPU, another way to it, or no other build."""
    if isinstance(present, Absent):
        return against("this machine has no NVIDIA GPU, so a CPU build is right", saw("no NVIDIA GPU", present))
    if plugin := _by_plugin(case):
        return against(f"{plugin} brings the GPU to it, without CUDA", saw(plugin, case.facts.target.distributions))
    if why := _none_to_install(case):
        return against(f"there is no CUDA build to install here: {why}", saw("CPU build", the(case).gpu_build))
    return None


def _by_plugin(case: Case) -> str:
    """What has a CPU build compute on the GPU by DirectML; that is how it is installed."""
    wanted = _DIRECTML.get(the(case).name, "")
    there = (one for one in value_or(case.facts.target.distributions, ()) if one.name == wanted)
    return next((f"{one.name} {one.version}" for one in there), "")


_DIRECTML = {"tensorflow": "tensorflow-directml-plugin", "torch": "torch-directml"}


def _none_to_install(case: Case) -> str:
    """Why nobody builds it with CUDA for this system and this Python; "" where somebody does."""
    if on_windows(case.facts) and is_narrow(case):
        return "this Python is a 32-bit one"
    row = no_build_here(case)
    return row.text if row else ""


def _present(case: Case) -> Fact[str]:
    """The GPU; of a Windows disk, which tells of none, the driver that somebody installed for one."""
    present, driver = gpu_present(case.facts), case.facts.driver.module_version
    disk = on_windows(case.facts) and isinstance(case.facts.surroundings.offline, Known)
    if isinstance(present, Unknown) and disk and isinstance(driver, Known):
        return Known(f"NVIDIA's driver {driver.value}", driver.source)
    return present


def _asked(case: Case) -> Finding | None:
    """The program itself said that it got a build without CUDA, and the files say so too."""
    said = next((s for s in case.symptoms if s.signature in ASKED.get(the(case).name, ())), None)
    if said is None or no_build_here(case) or _overwritten(case):
        return None
    present, build = gpu_present(case.facts), the(case).gpu_build
    none = isinstance(present, Absent)
    note = "; this machine has no NVIDIA GPU, so a build with CUDA alone will not help here" if none else ""
    return proof(
        f"{named(case)} is a build without CUDA, and the program asked it for CUDA{note}",
        saw(f"{the(case).distribution} {the(case).version} is built without CUDA", build),
        *((saw("no NVIDIA GPU", present),) if none else ()),
    )


def _asked_of_another(case: Case) -> Framework | None:
    """The framework without CUDA that the program complains of, where that is not this one."""
    said = {s.signature for s in case.symptoms}
    blamed = [f for f in value_or(case.facts.target.frameworks, ()) if said & set(ASKED.get(f.name, ()))]
    return next((f for f in blamed if value_or(f.gpu_build, True) is False), None)


def _on_the_gpu(case: Case) -> str:
    """Another framework of this environment that is a GPU build; its absence must have been seen."""
    rest = [
        f for f in case.facts.target.frameworks.need() or () if f.name != the(case).name and not is_follower(f.name)
    ]
    return next((f"{f.title} {f.version}" for f in rest if f.gpu_build.need()), "")


def _overwritten(case: Case) -> str:
    """A flavour without CUDA that shares this framework's files with one that has it."""
    if not isinstance(case.facts.target.conflicts, Known):
        return ""
    mine = [names(one) for one in flavours(case.facts) if module(one) == the(case).name]
    return next((name for owners in mine if gpu_flavour(owners) for name in owners if _says_cpu(name)), "")


def _says_cpu(distribution: str) -> bool:
    kind = flavour(distribution)
    return kind is not None and not kind.cuda


def _chosen(case: Case) -> bool:
    """A helper that others bring along, or a distribution whose name says CPU."""
    return the(case).name not in MAIN or _says_cpu(the(case).distribution)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Replace the build by the one with CUDA; where there is no GPU, that is not enough."""
    none = isinstance(gpu_present(case.facts), Absent)
    text = "There is no NVIDIA GPU here: let the program use the CPU, or run it on a machine that has one"
    return (*((Fix(text),) if none else ()), *for_amd64(case.facts), *_with_cuda(case))


def _with_cuda(case: Case) -> tuple[Fix, ...]:
    framework, facts = the(case), case.facts
    cuda = numbers(value_or(facts.driver.driver_cuda, ""))
    major = cuda[0] if cuda else None
    version = sound(framework.name, framework.version)
    wanted = gpu_requirement(framework.name, framework.distribution, version, major, python_of(facts))
    if framework.name == "torch":
        return _torch(case, wanted)
    if not wanted and for_arm(facts):
        return ()
    if not wanted:
        return (Fix(f"Install the build of {framework.title} with CUDA, as its installation guide says"),)
    removing = () if framework.name == "jax" else (framework.distribution,)
    text = "Install the build with CUDA instead"
    return (change(facts, text, wanted, because_of=framework.distribution, removing=removing),)


def _torch(case: Case, wanted: str) -> tuple[Fix, ...]:
    """The default index has CUDA builds for Linux only; elsewhere PyTorch's own index has them."""
    choose = Fix(
        "Install its build with CUDA: uv asks the driver which one fits (or choose it on pytorch.org/get-started)",
        torch_with_cuda(the(case).version.split("+")[0]),
        safe=True,
    )
    if value_or(case.facts.surroundings.system, "") != "linux":
        return (choose,)
    return (*with_cuda(case.facts, the(case), wanted), *((choose,) if not in_image(case.facts) else ()))


CAUSE = Cause(
    id="framework.cpu_only",
    title="the installed framework is a CPU-only build",
    signs=(built_without_cuda,),
    fixes=fixes,
    scope="framework",
    effect="{subject} cannot use the GPU: it is a CPU build",
)
