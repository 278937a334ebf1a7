"""An address that gives nothing, or a page in the place of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("dead-address", "error", "an address that gives nothing, or a page in the place of a file")

_BINTRAY = source("JFrog: sunsetting Bintray", "switched off on 1 May 2021")
_PAGE = source("GitHub", "/blob/ is the page that shows a file; /raw/ is the file")
_KUBERNETES = source("Kubernetes blog, August 2023 and January 2024", "apt.kubernetes.io is frozen, then gone")
_PPA = source("the pages of these PPAs on Launchpad", "discontinued in April 2019; private since 2019")
_RUNWAY = source(
    "huggingface/diffusers issue 9307 and its kin, August 2024", "the account runwayml took its models away"
)
_SKS = source("the notice of sks-keyservers.net, June 2021", "the pool of key servers is switched off")
_MERCURIAL = source("Bitbucket: sunsetting Mercurial support", "deleted on 26 August 2020")
_POETRY = source("python-poetry/poetry, release 1.2 and the announcement of its installer", "get-poetry.py is deleted")
_CATS = source("Microsoft's download centre", "kagglecatsanddogs_3367a.zip was replaced by kagglecatsanddogs_5340.zip")
_MAMBA = source("conda-forge: sunsetting Mambaforge; cbg-ethz/V-pipe issue 170", "404 since miniforge 24.11.3")
_DEAD: tuple[tuple[re.Pattern[str], str, str, Source], ...] = (
    (re.compile(r"https?://(?:dl\.)?bintray\.com/\S*|https?://[\w.-]+\.bintray\.com/\S*"),
     "Bintray was switched off in 2021", "take it from the project's own releases", _BINTRAY),
    (re.compile(r"https?://github\.com/[\w.-]+/[\w.-]+/blob/[^\s\"']+(?<!raw=true)(?=[\s\"']|$)"),
     "that is the page about the file, not the file", "write /raw/ for /blob/", _PAGE),
    (re.compile(r"https?://(?:apt\.kubernetes\.io|packages\.cloud\.google\.com/apt/? kubernetes)\S*"),
     "that repository is gone since 2024", "use pkgs.k8s.io", _KUBERNETES),
    (re.compile(r"ppa:(?:webupd8team/java|jonathonf/python-3\.\d+)\b"),
     "that PPA holds nothing any more", "take openjdk, or Python from deadsnakes or uv", _PPA),
    (re.compile(r"https?://github\.com/conda-forge/miniforge/releases/latest/download/Mambaforge-[^\s\"']*"),
     "the newest release has no Mambaforge any more", "write Miniforge3 for Mambaforge", _MAMBA),
    (re.compile(r"https?://huggingface\.co/runwayml/stable-diffusion-(?:v1-5|inpainting)\b\S*"),
     "its makers took that model away in 2024", "take stable-diffusion-v1-5/stable-diffusion-v1-5", _RUNWAY),
    (re.compile(r"(?:hkps?://|https?://)?(?:\w+\.)*(?:pool\.sks-keyservers\.net|keys\.gnupg\.net)(?::\d+)?"),
     "that pool of key servers is switched off since 2021", "ask keyserver.ubuntu.com", _SKS),
    (re.compile(r"https?://bitbucket\.org/(?:eigen/eigen/\S*|[\w.-]+/[\w.-]+/(?:raw|get|src)/default\b\S*)"),
     "Bitbucket deleted its Mercurial repositories in 2020", "take it from where the project is now", _MERCURIAL),
    (re.compile(r"https?://raw\.githubusercontent\.com/(?:python-poetry|sdispater)/poetry/(?:master|main)/get-poetry\.py"),
     "that installer is deleted", "curl -sSL https://install.python-poetry.org | python3 -", _POETRY),
    (re.compile(r"https?://download\.microsoft\.com/\S*kagglecatsanddogs_3367a\.zip"),
     "that file is gone", "take kagglecatsanddogs_5340.zip", _CATS),
)  # fmt: skip
_FETCH = re.compile(
    r"^(?!\s*#).*?\b(wget|curl|ADD|aria2c|deb|gdown|requests\.get|pip3?|add-apt-repository|git|apt-key|gpg|recv-keys?)\b",
    re.IGNORECASE,
)


def check(scope: Scope) -> Iterator[Mistake]:
    """Each line of a Dockerfile, a script or a notebook that fetches from such an address."""
    if scope.kind not in ("dockerfile", "script", "singularity", "makefile", "workflow") or not _is_ours(scope):
        return
    lines = (scope.read(scope.environment.path) or "").split("\n")
    for number, line in enumerate(lines, 1):
        before = lines[number - 2] if number > 1 and lines[number - 2].rstrip().endswith("\\") else ""
        if line.lstrip().startswith("#") or not (_FETCH.match(line) or _FETCH.match(before)):
            continue
        for pattern, why, fix, know in _DEAD:
            found = pattern.search(line)
            if found:
                yield RULE.mistake(Place(scope.environment.path, number), f"{found[0][:70]}: {why}", know, fix)


def _is_ours(scope: Scope) -> bool:
    text = scope.read(scope.environment.path) or ""
    return scope.for_gpus or bool(re.search(r"cuda|nvidia|torch|tensorflow", text, re.IGNORECASE))
