"""What was seen to work beats what was predicted: the live stages among the findings."""

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from gpuwhy.facts.fact import Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Finding, Weight, saw

LATENT = (
    *("cuda.mixed_libraries", "cuda.version_mismatch", "cudnn.mixed_libraries"),
    *("cudnn.version_mismatch", "install.conflict", "install.corrupted"),
)
"""What can work in one convolution and fail in the next operation."""
UNTESTED = ("memory", "device", "program", "distributed", "other")
"""Causes that a small test says nothing of, by the first part of their id."""
NOT_TRIED = ("cuda.compiler_missing", "framework.extension_abi")
BELOW = ("driver", "container", "wsl")
"""Causes without which no context can be made."""
_SOURCE = Source("call", "probe")


def observed(
    findings: Sequence[Finding], facts: Facts, working: Collection[str], reached: bool
) -> tuple[Finding, ...]:
    """The findings, where the probe saw work what they say cannot. `working` are the frameworks
    that did what was asked of them; `reached`: a context was made on every GPU.
    """
    if not working and not reached:
        return tuple(findings)
    installed = value_or(facts.frameworks.installed, ())
    wanted = [one for one in installed if value_or(one.gpu_build, True)]
    all_work = bool(working) and all(one.name in working for one in wanted)
    by_subject = {f"{one.title} {one.version}": one for one in installed}
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.cause, one.subject), []).append(one)
    out: list[Finding] = []
    for (cause, subject), group in groups.items():
        layer, named = cause.partition(".")[0], by_subject.get(subject)
        good = named.name in working if named else all_work or layer in BELOW
        stops = any(one.effect in (Effect.STOPS, Effect.PREVENTS_START) for one in group)
        tested = layer not in UNTESTED and cause not in NOT_TRIED
        said = any(one.weight is not Weight.AGAINST for one in group)
        out += _beaten(cause, subject, group) if good and tested and stops and said else group
    return tuple(out)


def _beaten(cause: str, subject: str, group: Sequence[Finding]) -> Iterator[Finding]:
    """What remains of a cause that stopped nothing."""
    what = f"a matmul and a convolution with {subject}" if subject else "work"
    seen = saw(f"the probe ran {what} on the GPU", _SOURCE)
    if cause in LATENT:
        yield from (replace(one, effect=Effect.SLOWS) for one in group)
        text = f"{seen.text}; another operation may fail"
        yield Finding(cause, Weight.WEAK, text, {}, (seen,), subject, Effect.SLOWS)
    else:
        yield Finding(cause, Weight.AGAINST, seen.text, {}, (seen,), subject)
