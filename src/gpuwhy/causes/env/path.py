"""env.path: a library that the framework opens is on this machine, but no search path leads to it."""

from __future__ import annotations

from gpuwhy.causes import needs
from gpuwhy.causes.commands import word
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, proof, saw
from gpuwhy.model.fact import Known, Source, value_or

STEERS_THE_LOADER = ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH")


def outside_the_search(case: Case) -> Finding | None:
    """The right file exists; the loader never looks there."""
    found = needs.lost(case, needs.anything, "elsewhere")
    if not found:
        return None
    folders, what = needs.folders_of(case, found), "them" if len(found) > 1 else "it"
    holds = f"{folders[0]} holds {what}" if len(folders) == 1 else f"{folders[0]} and others hold {what}"
    return proof(
        f"{needs.named(case)} opens {needs.listed(found)}; {holds}, and the loader does not look there",
        *(needs.saw_copy(case, needs.usable(case, need)[0]) for need in found[:3]),
        needs.saw_search(found[0]),
        *_variables(case),
    )


def _variables(case: Case) -> list[Evidence]:
    """What is wrong with the variables that should have led there."""
    return [
        saw(f"{one.name}: {problem}", Source("env", one.name))
        for one in value_or(case.facts.environment.variables, ())
        if one.name in STEERS_THE_LOADER
        for problem in one.problems[:2]
    ]


def nothing_outside(case: Case) -> Finding | None:
    """What rules it out."""
    return needs.nothing_lost(case, needs.anything, "elsewhere")


def fixes(case: Case) -> tuple[Fix, ...]:
    """This shell first; then for good, where the folder belongs to the system or to conda."""
    folders = needs.folders_of(case, needs.lost(case, needs.anything, "elsewhere"))
    interpreter = case.facts.target.interpreter
    fix = [needs.export(folders)]
    if isinstance(interpreter, Known) and interpreter.value.kind == "conda":
        value = ":".join(word(folder) for folder in folders)
        command = f"conda env config vars set LD_LIBRARY_PATH={value}"
        fix.append(Fix("For good: keep it in the conda environment, and activate it again", command, safe=True))
    elif all(folder.startswith(("/usr/", "/opt/")) for folder in folders):
        lines = " ".join(word(folder) for folder in folders)
        command = f"printf '%s\\n' {lines} | sudo tee /etc/ld.so.conf.d/cuda-libraries.conf && sudo ldconfig"
        fix.append(Fix("For good: add the folder to the loader's cache", command, root=True))
    return tuple(fix)


CAUSE = Cause(
    id="env.path",
    title="a CUDA library is installed, but no search path leads to it",
    signs=(outside_the_search, nothing_outside),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
