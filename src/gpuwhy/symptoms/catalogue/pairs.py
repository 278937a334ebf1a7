"""Releases that do not fit each other, and modules that stand in for others: what Python and the packages say then."""

from __future__ import annotations

from gpuwhy.knowledge.modules import FRAMEWORK_MODULES, STANDARD_MODULES
from gpuwhy.model.signature import Signature, context, error
from gpuwhy.rooms.text.fragments import PAIR_COVERS

_FILES = sorted(FRAMEWORK_MODULES | STANDARD_MODULES)
_OUTSIDE = (
    r"(?![^\"\n]{0,400}(?:(?:site|dist)-packages|lib(?:64)?[/\\]python\d|[/\\]Lib[/\\]|python\d\d?\.zip|<frozen))"
)

SIGNATURES: tuple[Signature, ...] = (
    error("pairs.cython", r"\bc (?:function|variable) [\w.]{3,120} has wrong (?:signature|type)"
          r"|does not export expected c (?:function|variable) (?P<name>\w+)", "has wrong signature", "has wrong type",
          "not export expected c", covers=("python.", "title.")),
    error("pairs.plugin",
          r"jax plugin (?P<name>\w+) version (?P<installed>\d[\d.]*\d) is installed, but it is not compatible with the installed jaxlib version (?P<wanted>\d[\d.]*\d)",
          "with the installed jaxlib", covers=PAIR_COVERS),
    error("pairs.pip", r"(?P<by>[\w.-]{1,60}) (?P<by_version>\d[\w.+]{0,30}) (?:requires"
          r"|has requirement) (?P<name>[\w-][\w.-]{0,60}?)(?P<wants>\(?[<>=!~][^\n;]{0,80}?),? but you(?:'ll)? have "
          r"(?P<found>\S{1,60} ?\d?\S{0,40})", "but you have", "but you'll have", covers=PAIR_COVERS),
    error("shadow.circular",
          r"(?:partially initialized module '(?P<name>[\w.]{1,80})'(?: from '(?P<path>[^'\n]{1,300})')?[^\n]{0,120}circular import(?:\) \((?P<path2>[^)\n]{1,300})\))?)",
          "partially initialized module", covers=("python.", "packages.partial", "pairs.", "tf.old_api", "tf.partial")),
    context("shadow.frame", rf"file \"{_OUTSIDE}(?P<path>[^\"\n]{{0,300}}[/\\](?P<name>{'|'.join(_FILES)})\.py)\", line \d+", *(f"/{name}.py\"" for name in _FILES)),
    context("shadow.script", rf"file \"(?:\./)?(?P<path>(?P<name>{'|'.join(_FILES)})\.py)\", line \d+", *(f"\"{name}.py\"" for name in _FILES),
            *(f"\"./{name}.py\"" for name in _FILES)),
    error("shadow.said",
          rf"(?:file (?:named|called)|renam\w+|remov\w+|delet\w+|named my (?:file|script)) [`'\"]?(?P<name>{'|'.join(_FILES)})\.py\b",
          *(f"{name}.py" for name in _FILES), covers=("title.",)),
    context("shadow.frame", rf"file \"{_OUTSIDE}(?P<path>[^\"\n]{{0,300}}[/\\](?P<name>{'|'.join(sorted(FRAMEWORK_MODULES))})[/\\]__init__\.py)\", line \d+",
            *(f"/{name}/__init__.py\"" for name in sorted(FRAMEWORK_MODULES))),
)  # fmt: skip
