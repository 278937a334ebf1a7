"""Kinds: which reader a file is for, by its name and, where the name does not say, by what is in it."""

from __future__ import annotations

import posixpath
import re

from gpuwhy.lint import jinja

_NAMES: tuple[tuple[str, str], ...] = (
    (r"(.*[._-])?(requirements|constraints)([._-].*)?\.(txt|in)", "requirements"),
    (r"pyproject\.toml", "pyproject"),
    (r"(uv|poetry|pdm)\.lock|pylock(\.[\w-]+)?\.toml", "lock"),
    (r"Pipfile\.lock", "pipfile-lock"),
    (r"Pipfile", "pipfile"),
    (r"pixi\.toml", "pixi"),
    (r"(.*[.-])?conda-lock\.ya?ml", "conda-lock"),
    (r"(.*[._-])?(environment|conda[_-]?env(ironment)?)([._-].*)?\.ya?ml|conda\.ya?ml", "conda"),
    (r"(.*[._-])?(Docker|Container)file([._-].*)?", "dockerfile"),
    (r"(Singularity|Apptainer)([._-].*)?|.*[._-]singularity", "singularity"),
    (r"(docker-)?compose([._-].*)?\.ya?ml|docker-stack\.ya?ml", "compose"),
    (r"\.?devcontainer\.json", "devcontainer"),
    (r"cog\.ya?ml", "cog"),
    (r"setup\.py", "setup"),
    (r"setup\.cfg", "setup-config"),
    (r"\.gitlab-ci\.ya?ml", "gitlab"),
    (r".+\.(sh|bash|zsh|bat|cmd|ps1|slurm|sbatch|pbs|qsub|lsf|sge)", "script"),
    (r".+\.ipynb", "notebook"),
    (r"(GNU)?Makefile([._-].*)?|.+\.mk", "makefile"),
    (r"CMakeLists\.txt|.+\.cmake", "cmake"),
)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), kind) for pattern, kind in _NAMES)
_HELM_NAME = re.compile(r"(?:Chart|values(?:[._-].*)?|.*[._-]values)\.ya?ml", re.IGNORECASE)
_FROM = re.compile(r"\s*FROM\s+\S")
_LOOK = 20_000


def by_name(path: str) -> str:
    """The kind that a file's name says; '' where it does not."""
    path = jinja.plain(path.replace("\\", "/"))
    name, folder = posixpath.basename(path), posixpath.basename(posixpath.dirname(path))
    if name.lower().endswith((".dockerignore", ".md", ".bak")) or (name.endswith(".py") and name != "setup.py"):
        return ""
    if re.search(r"(^|/)\.github/workflows/[^/]+\.ya?ml$", path):
        return "workflow"
    if re.fullmatch(r"(pip[_-]?)?(requirements?|reqs?)", folder, re.IGNORECASE) and name.endswith((".txt", ".in")):
        return "requirements"
    return next((kind for pattern, kind in _COMPILED if pattern.fullmatch(name)), "")


def recognise(path: str, text: str) -> str:
    """The kind of a file; '' where neither its name nor its beginning says."""
    found = by_name(path) or _by_content(jinja.plain(path), text[:_LOOK]) or ("helm" if _of_chart(path) else "")
    listed = found == "requirements" and (_of_conda(path) or _is_conda_list(text[:_LOOK]))
    return "conda-list" if listed else found


def _of_conda(path: str) -> bool:
    """Whether a list of packages is conda's by its name: conda_requirements.txt."""
    name = posixpath.basename(path).lower()
    return bool(re.search(r"(^|[._-])(conda|mamba)([._-]|$)", name)) and name.endswith(".txt")


def _is_conda_list(text: str) -> bool:
    """What `conda list --export` writes: name=version=build."""
    lines = [line for line in text.splitlines()[:60] if line.strip() and not line.startswith("#")]
    exported = [line for line in lines if re.fullmatch(r"[\w.-]+=[\w.!+-]+=\w+\s*", line)]
    return len(exported) > len(lines) / 2


_RECORD = re.compile(r"(^|/)wandb/(latest-run|(offline-)?run-[\w-]+)/files/")


def is_record(path: str) -> bool:
    """Whether a file is what Weights & Biases wrote down of a run: nobody installs it."""
    return bool(_RECORD.search(path.replace("\\", "/")))


def worth_opening(path: str) -> bool:
    """Whether a file found in a folder may be one of ours: by name, YAML that may be a manifest, reqs.txt."""
    plain = jinja.plain(path)
    if re.search(r"(^|[/._-])req(?!uires\.txt)\w*[^/]*\.txt$", plain, re.IGNORECASE):
        return True
    told = plain.endswith(".py") and bool(re.search(r"modal|sagemaker", plain))
    return bool(by_name(path)) or plain.endswith((".yaml", ".yml", ".def")) or told


def _of_chart(path: str) -> bool:
    """Whether a file's place says that it is part of a Helm chart."""
    folder, _, name = path.lower().rpartition("/")
    below = "templates" in folder.split("/")
    return bool(_HELM_NAME.fullmatch(name)) or (below and name.endswith((".tpl", ".yml", ".yaml")))


def speaks_of_packages(kind: str, text: str) -> bool:
    """Whether a file that was found, not named, is worth checking: most scripts and notebooks install nothing."""
    if kind == "cmake":
        return bool(re.search(r"cuda|torch|nvcc", text, re.IGNORECASE))
    if kind == "dockerfile" and not text.strip():
        return False  # nothing is written yet
    return kind not in ("script", "notebook", "workflow", "setup", "makefile") or bool(
        re.search(r"install|docker run|nvidia-docker|\b(sm|compute)_\d\d", text)
    )


def _by_content(path: str, text: str) -> str:
    if path.endswith(".py"):
        found = re.search(r"^\s*(?:import|from) (modal|sagemaker)\b", text, re.M)
        return found[1] if found else ""
    if path.endswith((".yaml", ".yml", ".tpl", "")):
        for kind, first, second in _KEYS:
            if re.search(first, text, re.M) and re.search(second, text, re.M):
                return kind
    if path.endswith(".def") and re.search(r"^\s*bootstrap:", text, re.IGNORECASE | re.MULTILINE):
        return "singularity"
    plain = path.endswith(".txt")
    if plain or "." not in posixpath.basename(path):
        if _FROM.match(_first_word(text)):
            return "dockerfile"
        return "requirements" if plain and _lists_requirements(text) else ""
    return ""


def _first_word(text: str) -> str:
    """The first line that is neither empty, a comment nor an ARG, with what follows it on two more."""
    lines = text.split("\n")
    skipped = (not line.strip() or line.lstrip().startswith("#") or re.match(r"ARG\s", line) for line in lines)
    start = next((place for place, skip in enumerate(skipped) if not skip), len(lines))
    return "\n".join(lines[start : start + 3])


_KEYS = (
    ("kubernetes", r"^apiVersion:\s*\S", r"^kind:\s*\S"),
    ("compose", r"^services:\s*$", r"^ +(image|build):"),
    ("skypilot", r"^resources:\s*$", r"^(setup|run):"),
    ("conda", r"^dependencies:\s*$", r"^(channels|name):"),
)
"""Kinds of YAML, each by two keys that only it has together."""


def _lists_requirements(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and all(re.match(r"[\w.\[\],-]+\s*(==|>=|~=|<|$)|-", line) for line in lines)


def is_template(text: str) -> int:
    """The line of the first template expression outside comments and quoted scalars; 0 where there is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if "{{" in line and not line.lstrip().startswith("#") and re.search(r"(^|[\s:\-\"'])\{\{[-\s.]*[\w.\"]", line):
            return number
    return 0
