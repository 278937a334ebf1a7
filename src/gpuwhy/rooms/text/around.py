"""Around: who speaks in a text besides the framework, and what it tells of the surroundings: system, tools, other cards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from gpuwhy.knowledge.programs import edges
from gpuwhy.model.symptom import Reading, Symptom

_WORDS = {
    "bitsandbytes": r"bitsandbytes", "vllm": r"\bvllm\b", "triton": r"\btriton[/.]", "slurm": r"slurm|\bStepId=|#SBATCH|\bsbatch\b|\bsrun\b",
    "kubernetes": r"kubelet|kubectl|kubernetes|\bk3s\b|(?<!/)\bk8s\b(?!/)|gpu-operator|nvidia\.com/gpu(?!=)|\bpods?\b"
    r"|\bopenshift\b|(?:^|[$#] ?)oc (?:get|exec|describe|logs|adm|project|apply|set|rollout|rsh)\b",
    "compose": r"docker[- ]compose|compose\.ya?ml|^services:|^Attaching to |\[\+\] Running|^[\w-]+-\d+ +\| "
    r"|^(?P<service>[a-z][\w.-]{1,40}) +\| [^\n]*\n(?:(?P=service) +\| [^\n]*\n){2}", "lightning": r"lightning",
    "docker": r"\bdocker(?:\.exe)? (?:container )?run\b|^docker: |nvidia-container-toolkit \d", "numba": r"\bnumba\b|nvvmsupporterror", "cupy": r"\bcupy\b",
    "dotnet": r"Microsoft\.ML|nuget|\bnet\d\.0", "llama": r"llama_cpp", "ggml": r"\bggml|llama_cpp|\bollama\b", "podman": r"\bpodman\b|nvidia\.com/gpu=",
    "ray": r"^\((?:\w+ )?pid=\d+(?:, ip=[\d.]+)?\)|\bray[./](?:get|init|remote|tune|util|_private|worker)",
    "singularity": r"singularity|apptainer|\.sif\b", "plugin": r"device[- ]plug-?in",
    "containerd": r"(?<![./\w])containerd(?![./\w])|\bk3s\b|\brke2\b|microk8s|crictl|pod sandbox|runtime ?class|gpu-operator",
    "image": r"^\s*(?:#\d+ )?(?:RUN|FROM) |\bdocker build|=> ERROR \[|^Step \d+/\d+ :|failed to solve: |returned a non-zero code: ",
    "jetson": r"\bjetson\b|\b(?:the|my) nano\b|(?<!non-)\btegra(?! platform: \S+ file not found)|\bjetpack\b|\bl4t\b"
    r"|aarch64-linux-gnu/(?:tegra|nvidia)/|\borin\b|\bxavier\b|\bnvmap|^# R3\d \(release\)|nv_tegra|libnvdla"
    r"|\bnvgpu\b|NvMapMem", "rocm": r"\+rocm\d|No HIP GPUs|\bhipError\w+|\bgfx\d{3,4}\b|hsa_status",
    "tcc": r"\bTCC\b|data ?cent(?:er|re) mode",
    "wsl1": r"\bWSL ?1\b(?!/)|\b4\.4\.0-\d+-Microsoft\b|Version 10\.0\.1(?:[0-8]\d{3}|904[0-3])\b|Windows 10[^\n]{0,12}\b1[5-9]0[39]\b",
    "two_tf": r"(?s)\A(?=.*tensorflow-directml)(?=.*libcudart\.so)", "directml": r"directml|\btfdml|(?:libd3d12|libdxcore)\.so: cannot open",
    "old_windows": r"^10 +0 +1(?:[0-8]\d{3}|904[0-3]) +\d+\s*$|10\.0\.1(?:[0-8]\d{3}|904[0-3])\b[^\0]{0,4000}\bwsl"
    r"|\bwsl[^\0]{0,4000}?10\.0\.1(?:[0-8]\d{3}|904[0-3])\b|\b(?:4\.19|5\.4)\.\d+(?:\.\d+)?-microsoft"
    r"|WSL 2?[^\n]{0,30}kernel\W{1,3}(?:version\W{1,3})?(?:4\.19|5\.4)\.\d",
    "usersite": r"AppData\\Roaming\\Python\\|/\.local/lib/python3",
    "native":
    r"\bC(?:\+\+|#)?[ -]api\b|onnxruntime_(?:c|cxx)_api|Microsoft\.ML|\.cpp\b.{0,80}onnxruntime|Module loaded: "
    r"|\\(?:Release|Debug|net\d\.0)\\+onnxruntime_providers|\(C\+\+\)",
    "whisper": r"faster[-_ ]?whisper|ctranslate2|whisperx",
    "bits32": r"32[- ]bit (?:python|runtime|\(Intel\))|\[MSC v\.\d+ 32 bit",
}  # fmt: skip
"""By words of the deciding lines or of the text's beginning and end."""
_OTHER_CARD = re.compile(r"\bRadeon\b|\b(?:gpu|graphics(?: card)?|video card)\??\W{1,8}(?:\w+ )?AMD\b|\bAMD RX ?\d|\bRX ?[5-9]\d{3}(?: ?XT)?\b|\bAMD (?:GPU|graphics|card)|\bIntel\W{0,3}R?\W{0,2} ?(?:Iris|UHD|HD Graphics|Arc)\b", re.IGNORECASE)  # fmt: skip
_LISTED = re.compile(
    r"AMD GPUs on (?:Linux|Windows) require|NVIDIA(?: or |/| and |, )AMD|AMD(?: or |/| and )NVIDIA", re.IGNORECASE
)  # what a program would take
_NVIDIA = re.compile(r"geforce|\b[gr]tx ?\d|quadro|\btesla\b|\btitan\b|nvidia-smi", re.IGNORECASE)
_HINT = re.compile(r"\buse ['\"`]", re.IGNORECASE)  # how an image tells people to start it
AROUND = frozenset((*_WORDS, "container", "given", "linker", "windows", "wsl", "linux", "macos", "other_card"))
"""Whom or where a remedy may be for; the last by other signs than words."""


@lru_cache(maxsize=8)
def _named(text: str) -> frozenset[str]:
    """Those whose words stand in a text; kept, as every cause of an answer asks about the same one."""
    return frozenset(name for name, words in _WORDS.items() if re.search(words, text, re.IGNORECASE | re.MULTILINE))


def around(symptoms: Sequence[Symptom], reading: Reading) -> frozenset[str]:
    """Which of them a text tells of."""
    found = {*_named("\n".join(one.text for one in symptoms)), *_named(edges(reading.excerpt))}
    if reading.told.container:
        found.add("container")
    if reading.service:  # whose name compose wrote before the lines
        found.add("compose")
    if handed_over(symptoms[0] if symptoms else None, reading):
        found.add("given")  # the GPU was handed over already
    if any(one.signature == "build.undefined_reference" for one in symptoms):
        found.add("linker")
    if other_card(reading) and not _LISTED.search(reading.excerpt):
        found.add("other_card")
    return frozenset(found | ({reading.told.os} if reading.told.os else set()))


_RUN = re.compile(r"\b(?:nvidia-)?(?:docker|podman)(?:\.exe)?(?: container)? run\b(?:[^\n]*\\\n)*[^\n]*")
_FLAG = re.compile(r"--gpus[= ]|--runtime[= ]nvidia|nvidia-docker|--device[= ](?:/dev/nvidia|nvidia\.com)")


def handed_over(deciding: Symptom | None, reading: Reading) -> bool:
    """Whether the GPU was given to the container that fails: by the last `docker run` before the message, else by any."""
    if all(_HINT.search(one.text) for one in reading.all("container.gpus_flag")):
        return False
    place = reading.excerpt.find(deciding.text[:60]) if deciding else -1
    before = [run[0] for run in _RUN.finditer(reading.excerpt[:place])] if place > 0 else []
    return bool(_FLAG.search(before[-1])) if before and len(before[-1].split()) > 2 else True


def started_bare(deciding: Symptom, reading: Reading) -> bool:
    """Whether a `docker run` stands before the message, and the last one passes no GPU."""
    place = reading.excerpt.find(deciding.text[:60])
    before = [run[0] for run in _RUN.finditer(reading.excerpt[:place])] if place > 0 else []
    return bool(before) and len(before[-1].split()) > 2 and not _FLAG.search(before[-1])


def other_card(reading: Reading) -> bool:
    """Whether the text names a GPU of AMD or Intel, and none of NVIDIA."""
    return (
        bool(_OTHER_CARD.search(_LISTED.sub("", reading.excerpt)))
        and not _NVIDIA.search(reading.excerpt)
        and not reading.told.gpus
    )
