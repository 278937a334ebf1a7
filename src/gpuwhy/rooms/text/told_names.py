"""Told names: words in capitals that a command leaves open, and folders and releases that it only guesses, as the text names them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, major_minor
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.own_words import program_again, run_again
from gpuwhy.rooms.text.where import told_release

_NAMES: tuple[tuple[str, Later], ...] = (
    ("IMAGE", Later(r"\b[Ii]mage:? +((?:[\w.-]+/)+[\w.-]+(?::[\w.-]+)?)", re.MULTILINE)),
    ("MODEL.gguf", Later(r"\s-(?:m|-model)[ =](\S+\.gguf)\b")),
    ("MODEL", Later(r"\bvllm serve (?!MODEL)([\w./-]+)|\bollama run ([\w.:/-]+)"
                    r"|--model(?:-path|-id)?[ =]([\w./-]*[A-Za-z][\w./-]*)|\bmodel:? ([a-z][\w.-]*:\d[\w.-]*)"
                    r"|\b((?:meta-llama|Qwen|mistralai|google|microsoft|deepseek-ai|tiiuae|bigscience"
                    r"|EleutherAI)/[\w.-]+)")),
    ("PROGRAM", Later(r"\bpython3? (?:-u |-m torch\.distributed\.\S+ )?([\w./-]+\.py)\b|torchrun [^\n]*?([\w./-]+\.py)\b|^  File \"([\w-]+\.py)\", line", re.MULTILINE)),
    ("IMAGE.sif", Later(r"\b(?:singularity|apptainer) (?:exec|run|shell)\b[^\n]*?\s([\w./-]+\.(?:sif|simg))\b")),
    ("JOB.sh", Later(r"\bsbatch (?:-\S+ )*([\w./-]+\.(?:sh|slurm|sbatch|job))\b")),
    ("DISTRIBUTION", Later(r"^\s*\*?\s*([\w.-]+)\s+(?:Running|Stopped)\s+1\s*$", re.MULTILINE)),
    ("NODE", Later(r"\broot@([\w.-]*node[\w.-]*):|kubectl describe nodes? ([\w.-]+)")),
    ("CONTAINER", Later(r"\bdocker (?:exec|logs|start|restart)(?: (?:--tail|--since|-n|-u|-w|-e|--user)[ =]\S+"
                        r"| -\S+)* ((?!(?:helps?|the|it|container|service|fixe[sd]|works?|and|does|is|a"
                        r"|after)\b)[A-Za-z][\w-]*)")),
)  # fmt: skip
"""A word that a command leaves open, and where a text names the thing."""

_TOOLKIT = Later(
    r"(/usr/local/cuda-\d+\.\d+|/opt/cuda(?:-\d[\d.]*)?|/usr/lib/cuda)(?=/|\s|$|:)|ls (?:-\S+ )?/usr/local/?:? *[^\n]*?\b(cuda-\d+\.\d+)"
)
_GUESSED = re.compile(r"/usr/local/cuda(?![-\w.*])")
_BUILT = Later(r"\+cu(1[12])(\d)\b")
_CONDA = re.compile(r"conda install -c nvidia (cuda-(?:toolkit|nvcc)\b)")
_AGAIN = re.compile(
    r"(pip install (?:--\S+ )*--force-reinstall (?:--\S+ )*)(tensorflow|torch|jax|onnxruntime-gpu)(?=$|\n)"
)
_ROOMY = Later(
    r"(?<![\w.])(/(?:scratch|work|data|mnt|lustre|gpfs|fast|local|projects?)/[\w.-]+)(?![\w.-]*/(?:site-packages|lib|envs))"
)
_FAILED = Later(r"(?:Failed building wheel for|Could not build wheels for) ([\w.-]+)")


def with_told_names(fixes: Sequence[Fix], case: Asked) -> Iterator[Fix]:
    """The fixes with what the text names in the places that are open, or guessed."""
    names = dict(_found(case.text))
    options, image = image_of(case.text)
    for fix in fixes:
        bare = run_again(_with_own_options(_with_kit(fix, case), options), case.text, image)
        bare = program_again(bare, case.text)
        command = _exact(_open(bare, names), case)
        command = _not_beyond(_of_one_release(command, case), case)
        yield _said(fix, command, case)


def _said(fix: Fix, command: str, case: Asked) -> Fix:
    if command == fix.command:
        return fix
    text = on.as_said(_not_beyond(str(fix.text), case), fix.text)
    typed = on.cmd(command) if case.windows and command.startswith(_OF_WINDOWS) else on.like(command, fix.command)
    return structs.replace(fix, text=text, command=typed)


_OF_WINDOWS = (".\\", "C:\\", "D:\\", "E:\\", "F:\\", "G:\\")
"""How a program's own start begins that was typed in Windows."""


_CONDAS_CUDA = re.compile(r"(?<=\bcuda-version=)1[1-3]\.\d+")


def _not_beyond(said: str, case: Asked) -> str:
    """No CUDA of conda's that is newer than what the driver runs, where nvidia-smi tells that."""
    return _CONDAS_CUDA.sub(lambda one: one[0] if at_least(case.speaks, one[0]) else case.speaks, said) if case.speaks else said  # fmt: skip


_RUN = Later(r"\b(?:nvidia-)?(?:docker|podman)(?:\.exe)?(?: container)? (?:run|create) ((?:[^\n]*\\\n)*[^\n]*)")
_SWITCH = re.compile(
    r"-[itdPq]+$|-[vpewuhmlc][^=]"
    r"|--(?:rm|privileged|init|interactive|tty|detach|publish-all|read-only|no-healthcheck|oom-kill-disable|quiet"
    r"|disable-content-trust|sig-proxy|replace|rmi|tls-verify)$"
)
"""Options of `docker run` that no value follows."""
_IS_IMAGE = re.compile(r"(?:[\w.-]+(?::\d+)?/)*[a-z\d][\w.-]*(?::[A-Za-z_][\w.-]*|:\d[\w.-]*|@sha256:\w+)?$")


_PLAIN = re.compile(r"[\w./:=,@+-]+$")
_OF_GPUS = re.compile(r"--(?:gpus|runtime|device)\b")


_GLUED = re.compile(r"(?<=[\d])[A-Z][a-z]{3,}$")
"""The first word of the next line, where a paste lost the break between them."""


def image_of(text: str) -> tuple[list[str], str]:
    """The options and the image of the first `docker run` that names one by a path or a tag; else by a plain name behind options."""
    plain: tuple[list[str], str] = ([], "")
    for run in _RUN.finditer(text):
        words = _SHELLS.sub("VALUE", run[1].replace("\\\n", " ")).split()
        at = _first_free(words)
        if at < len(words) and _IS_IMAGE.match(words[at]) and re.search("[/:]", words[at]):
            return words[:at], _GLUED.sub("", words[at])
        typed = _PROMPT.search(text[: run.start()].rpartition("\n")[2])
        if typed and 0 < at < len(words) and _OWN_IMAGE.fullmatch(words[at]) and not plain[1]:
            plain = [one for one in words[:at] if "VALUE" not in "".join(words[:at])], words[at]
    return plain


_SHELLS = re.compile(r"\$\([^()\n]*\)|`[^`\n]*`")
_PROMPT = re.compile(r"^\s*$|[$#>%] *(?:sudo )?$")
_OWN_IMAGE = re.compile(
    r"(?!(?:image|images|container|command|with|and|the|your|my|bash|sh)$)[a-z][a-z0-9]+(?:[._-][a-z0-9]+)*"
)
"""An image of one's own, which no registry has."""


def _first_free(words: Sequence[str]) -> int:
    """The place of the first word that is no option and no option's value."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 1 if "=" in words[at] or _SWITCH.match(words[at]) else 2
    return at


def _with_own_options(command: str, options: Sequence[str]) -> str:
    """The user's own options in a bare start with the GPU, where they are plain words."""
    if not options or not all(map(_PLAIN.match, options)) or any(map(_OF_GPUS.match, options)):
        return command
    return re.sub(r"^docker run --gpus all IMAGE$", f"docker run --gpus all {' '.join(options)} IMAGE", command)


def _found(text: str) -> Iterator[tuple[str, str]]:
    for name, words in _NAMES:
        if found := words.search(text):
            yield name, next(filter(None, found.groups())).rstrip(".")  # dots that a sentence ends with
    if image := image_of(text)[1]:
        yield "IMAGE", image


def _open(command: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        if name in command:
            said = word(value).replace("\\", r"\\")
            command = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", said, command)
    return command


_TRITON = re.compile(r"(pip install (?:-\S+ )*)triton-windows(?=$|\n| )")
_NEXT_TRITON = {"2.4": "3.2", "2.5": "3.2", "2.6": "3.3", "2.7": "3.4", "2.8": "3.5", "2.9": "3.6"}
"""By PyTorch's release: the first Triton that is too new for it."""
_TORCH_ALONE = re.compile(r"^(?P<install>[^\n]*\bpip install (?![^\n]*\btorchvision)[^\n]*?\"torch>=?[\d.]+[^\"\n]*\")(?P<rest>[^\n]*)$", re.MULTILINE)  # fmt: skip


def _of_one_release(command: str, case: Asked) -> str:
    """What goes with one release of PyTorch alone: the Triton for it; and its companions, where it is raised."""
    if _TRITON.search(command) and (beyond := _NEXT_TRITON.get(major_minor(told_release(case.reading, "torch")))):
        command = _TRITON.sub(rf'\1"triton-windows<{beyond}"', command)
    return _TORCH_ALONE.sub(r"\g<install> torchvision torchaudio\g<rest>", command)


def _with_kit(fix: Fix, case: Asked) -> str:
    """A toolkit's folder that is guessed, by the one that is told; one that the fix itself is about, or installs, stays."""
    if not _GUESSED_KIT.search(fix.command) or not (kit := windows_toolkit(case)):
        return str(fix.command)
    own = {*re.findall(r"\bCUDA (\d+\.\d)", fix.text), *re.findall(r"--version (\d+\.\d)", fix.command)}
    return _GUESSED_KIT.sub(lambda found: found[0] if found[2] in own else f"{found[1]}{kit}", fix.command)


def _exact(command: str, case: Asked) -> str:
    """Folders and releases that are guessed, by those that are told."""
    if not case.windows and _GUESSED.search(command) and (folder := _folder(case.text)):
        command = _GUESSED.sub(folder, command)
    if built := _BUILT.search(case.text):
        command = _CONDA.sub(rf"conda install -c nvidia/label/cuda-{built[1]}.{built[2]}.0 \1", command)
    if (
        re.match(r"[0-2]\.\d", case.version)
        and (again := _AGAIN.search(command))
        and again[2].startswith(case.framework)
    ):
        command = _AGAIN.sub(rf'\1"\2=={case.version.partition("+")[0]}"', command)
    if "/BIG/" in command and (roomy := _ROOMY.search(case.text)):
        command = command.replace("/BIG/", f"{roomy[1]}/")
    if failed := _FAILED.search(case.text):
        command = re.sub(r"(pip install (?:--\S+ )*-v) \.(?=$|\n)", rf"\1 {failed[1]}", command)
    return command


def toolkits(text: str) -> tuple[str, ...]:
    """The releases of CUDA whose folders below /usr/local a text names."""
    return tuple(dict.fromkeys(re.findall(r"/usr/local/cuda-(\d+\.\d+)", text)))


_WINDOWS_KIT = Later(r"\\CUDA\\(v\d+\.\d)\b", re.IGNORECASE)
_LISTED_KIT = Later(r"^\s*(?:\S+ +\S+ +(?:AM|PM)? *<DIR> +)?(v(?:8|9|1[0-3])\.\d)\s*$", re.MULTILINE | re.IGNORECASE)
_GUESSED_KIT = re.compile(r"(\\CUDA\\)v(1[0-3]\.\d)")
_OF_DLL = Later(r"\b(?:nvrtc-builtins|cudart|nvrtc|cublas|cufft|curand|cusolver|cusparse)64_(8|9|10|11|12)(\d)(?:_0)?\.dll", re.IGNORECASE)  # fmt: skip


_EXAMPLE = re.compile(
    r"\b(?:for (?:instance|example)|e\.g\.)[^\n]*(?:\n[^\n]*\b(?:unzip|copy|download)\b[^\n]*)?", re.IGNORECASE
)
"""What a message shows how it is done by, which is not what is there."""


def listed_kit(case: Asked) -> str:
    """The one toolkit's folder under Windows that a text names or lists: v11.1."""
    told = _EXAMPLE.sub("", case.text)
    named = {one[1].lower() for words in (_WINDOWS_KIT, _LISTED_KIT) for one in words.finditer(told)}
    return named.pop() if len(named) == 1 else ""


def windows_toolkit(case: Asked) -> str:
    """The same, else that of the DLL that is asked for."""
    found = _OF_DLL.search(case.lines) or _OF_DLL.search(case.text)
    of_its_own = found is not None and found[1] in (
        "8",
        "9",
        "10",
    )  # before CUDA 11 each minor release has names of its own
    if (named := listed_kit(case)) and not of_its_own:
        return named
    if found and (found[1], found[2]) == ("11", "0") and case.framework == "tensorflow":  # of every CUDA 11
        return "v11.0" if case.version.startswith("2.4") else "v11.2"
    return f"v{found[1]}.{found[2]}" if found else ""


def _folder(text: str) -> str:
    """The one toolkit's folder that a text names."""
    found = {one[1] or f"/usr/local/{one[2]}" for one in _TOOLKIT.finditer(text)}
    return found.pop() if len(found) == 1 else ""
