"""People: whose folder a path goes through, by the folders that systems and sites give to people.

A name below `/home` or `/Users` is a person. Below `/scratch` and its kind it is one unless all its words name things
(`conda`, `shared-data`): a name that merely holds such a word (`mlabonte`, `devika`) is a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_KINDS = "students?|staff|faculty|employees|phd|grads?|undergrads?|people|guests?|external|alumni|members|[a-z]"
_GROUPS = f"{_KINDS}|users?|homes?|gpfs|lustre|nfs|beegfs|ceph|weka|local|sd|\\d"
"""Folders between such a root and the people: kept, the next is whose it is."""
_INSIDE = """
    conda mamba miniforge python torch tensor nvidia cuda cudnn nccl dataset checkpoint ckpt software project
    result models cache slurm venv virtualenv wheel huggingface container singularity apptainer docker
    experiment workspace training download archive backup module package
"""
_PARTS = tuple(_INSIDE.split())
"""What names a thing wherever it stands in a name."""
_ALONE = """
    env data model tmp temp job proj share shared run log work train test eval exp code repo src lib bin build
    soft app group team lab dev llm gpu gpus jax tf hf xla out output input common public scratch system site
    opt usr etc var root global general base main default new old my the for and of v ver version release stable
    nightly latest user users home mnt fs disk store storage pool node rank cluster hpc batch queue spool stage
    staging prod production ml ai dl nlp cv rl db images image img file files dir folder script scripts tool
    tools util utils config conf doc docs book notebook weights bench benchmark perf debug trace profile
    inference serve server client api web demo example examples sample samples trash core nvme ssd variable fast
    local
"""
_THINGS = frozenset(_ALONE.split())
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])")

_NAME = r"[^\W\d_][\w.-]{1,31}"
_DOMAIN = re.compile(rf"(/home/)([A-Z][A-Z0-9-]{{1,15}})/({_NAME})(?=/)")
_HOMES = re.compile(rf"(/home/|/[Uu]sers/)((?:(?:{_KINDS})/){{0,2}})([^/\s:;,'\"()<>|*?]+)")
_SITES = re.compile(
    rf"(/homes/|/home\d{{1,3}}/|/[a-z]{{0,8}}scratch[\w-]{{0,16}}/|(?<!/home)/user/|/people/)((?:(?:{_GROUPS})/){{0,2}})({_NAME})(?=/)"
)
_WINDOWS = re.compile(
    r"((?:^|(?<=\W))(?:(?:[A-Za-z]:|\\{2,4}[\w.-]{1,64})[\\/]+(?:Users|Profiles|Homes?|People|Documents and Settings)"
    r"\$?[\\/]+|/(?:mnt/)?[a-z]/Users/))"
    r"([^\\/:;,\"<>|*?\r\n]+(?=[\\/])|[^\\/\s:;,'\"()<>|*?]+)",
    re.IGNORECASE,
)
_MARKS = ("/home", "sers", "SERS", "/user/", "/people/", "scratch", "rofiles", "ROFILES", "\\")
Named = Callable[[str, str], str]
"""What stands for a name behind a root."""


def names_a_thing(name: str) -> bool:
    """Whether a folder's name is made of words for things alone, or holds one that no person is called by."""
    low = name.lower()
    if any(part in low for part in _PARTS):
        return True
    words = [word.lower() for word in _WORD.findall(name)]
    return all(word in _THINGS or word.removesuffix("s") in _THINGS for word in words if len(word) > 1)


def hidden(text: str, named: Named) -> str:
    """A text whose paths go through nobody's folder: `named(root, name)` stands for each name."""
    if not any(mark in text for mark in _MARKS):
        return text

    def below(found: re.Match[str]) -> str:
        return found[1] + found[2] + named(found[1], found[3])

    def of_site(found: re.Match[str]) -> str:
        return found[0] if names_a_thing(found[3]) else below(found)

    def of_home(found: re.Match[str]) -> str:
        return of_site(found) if found[2] else below(found)

    def of_domain(found: re.Match[str]) -> str:
        return f"{found[1]}{named(found[1], found[2])}/{named(found[1], found[3])}"

    def of_windows(found: re.Match[str]) -> str:
        kept = "sers" not in found[1].lower() and names_a_thing(found[2])
        return found[0] if kept else found[1] + named(found[1], found[2])

    text = _WINDOWS.sub(of_windows, text)
    text = _DOMAIN.sub(lambda found: found[0] if names_a_thing(found[3]) else of_domain(found), text)
    return _SITES.sub(of_site, _HOMES.sub(of_home, text))
