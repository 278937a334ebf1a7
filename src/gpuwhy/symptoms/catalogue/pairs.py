"""Releases that do not fit each other, and modules that stand in for others: what Python and the packages say then."""

from __future__ import annotations

from gpuwhy.knowledge.modules import FRAMEWORK_MODULES, STANDARD_MODULES
from gpuwhy.symptoms.signature import Signature, context, error

_PLAIN = ("python.", "jax.plugin_abi", "packages.partial", "packages.conflict")

_FILES = sorted(FRAMEWORK_MODULES | STANDARD_MODULES)
_OUTSIDE = (
    r"(?![^\"\n]{0,400}(?:(?:site|dist)-packages|lib(?:64)?[/\\]python\d|[/\\]Lib[/\\]|python\d\d?\.zip|<frozen))"
)

SIGNATURES: tuple[Signature, ...] = (
    error("pairs.jaxlib", r"jaxlib (?:is )?version (?P<installed>\d[\d.]*\d)[^\n]{0,60}(?:requires version|incompatible with jax version) ?[<>=]* ?(?P<wanted>\d[\d.]*\d)",
          "jaxlib is version", "incompatible with jax version", covers=_PLAIN),
    error("pairs.plugin", r"jax plugin (?P<name>\w+) version (?P<installed>\d[\d.]*\d) is installed, but it is not compatible with the installed jaxlib version (?P<wanted>\d[\d.]*\d)",
          "with the installed jaxlib", covers=_PLAIN),
    error("pairs.jax_part", r"module '(?P<name>jax_cuda\d+_plugin\.\w+|jaxlib\.\w+|jax\._src\.lib[\w.]*)' has no attribute '(?P<what>\w+)'"
          r"|cannot import name '(?P<what2>\w+)' from '(?P<name2>jaxlib[\w.]*|jax\._src\.lib[\w.]*|jax_cuda\d+_plugin[\w.]*)'",
          "has no attribute '", "cannot import name '", covers=_PLAIN),
    error("pairs.required", r"(?P<name>[\w.-]{1,60})(?P<wants>[<>=!~][\w.,<>=!~*]{0,60}) is required for a normal functioning of this module, but found (?P<found>\S{1,80})",
          "for a normal functioning", covers=_PLAIN),
    error("pairs.pip", r"(?P<by>[\w.-]{1,60}) (?P<by_version>\d[\w.+]{0,30}) (?:requires|has requirement) (?P<name>[\w-][\w.-]{0,60}?)(?P<wants>\(?[<>=!~][^\n;]{0,80}?),? but you(?:'ll)? have "
          r"(?P<found>\S{1,60} ?\d?\S{0,40})", "but you have", "but you'll have", covers=_PLAIN),
    error("pairs.pip_missing", r"(?P<by>[\w.-]{1,60}) (?P<by_version>\d[\w.+]{0,30}) requires (?P<name>[\w-][\w.-]{0,60}), which is not installed", "which is not installed", covers=_PLAIN),
    error("pairs.keras", r"no module named '?keras\.src\.engine|keras cannot be imported\. check that it is installed|__internal__' has no attribute 'register_\w+'"
          r"|installed version of keras is keras 3, but|no module named '?(?:tensorflow\.)?keras\.(?:engine|utils\.generic_utils|layers\.experimental)",
          "keras.src.engine", "keras cannot be imported", "register_load_context", "keras is keras 3", "keras.engine", "keras.utils.generic", "keras.layers.exp", covers=_PLAIN),
    error("pairs.scipy", r"module 'scipy[\w.]{0,60}' has no attribute '(?P<what>\w{1,60})'|cannot import name '(?P<what2>\w{1,60})' from 'scipy\.", "'scipy", covers=_PLAIN),
    error("pairs.tf_numpy", r"unable to convert function return value to a python type! the signature was", "unable to convert function return", covers=_PLAIN),
    error("pairs.between", r"cannot import name '(?P<what>\w{1,80})' from '(?P<name>[\w.]{1,120})' \((?P<path>[^)\n]{0,200}[/\\](?:site|dist)-packages[/\\][^)\n]{1,200})\)", "cannot import name '", covers=("python.import_name", "python.exception")),
    error("shadow.renaming", r"\(consider renaming '(?P<path>[^'\n]{1,300})' (?:since it has the same name as the (?:standard library|third-party) module named '(?P<name>[\w.]{1,60})'|if it has the same name as a)",
          "consider renaming '", covers=("python.", "packages.partial", "pairs.", "shadow.circular")),
    error("shadow.circular", r"(?:partially initialized module '(?P<name>[\w.]{1,80})'(?: from '(?P<path>[^'\n]{1,300})')?[^\n]{0,120}circular import(?:\) \((?P<path2>[^)\n]{1,300})\))?)", "partially initialized module", covers=("python.", "packages.partial", "pairs.")),
    error("shadow.not_package", r"no module named '(?P<part>(?P<name>torch\w*|tensorflow|jax\w*|numpy|keras|scipy|pandas|onnxruntime|cupy|numba|triton|transformers|google|flax|random|types|queue|logging|typing|copy|select|token|code|email|json|io)\.[\w.]{1,80})'; '[\w.]{1,80}' is not a package",
          "is not a package", covers=("python.", "packages.partial", "build.ext_module")),
    error("shadow.from_file", r"cannot import name '(?P<what>\w{1,80})' from '(?P<name>torch|tensorflow|jax|numpy|keras|scipy|onnxruntime|cupy|numba|triton|transformers)' \((?P<path>(?![^)\n]{0,300}(?:site|dist)-packages)[^)\n]{1,300})\)",
          "cannot import name '", covers=("python.", "packages.partial", "pairs.")),
    error("shadow.source_tree", r"has loaded the `?torch/_c`? folder of the pytorch repository|you should not try to import (?P<name>numpy|scipy|torch|tensorflow) from\s*(?:its )?source|please exit the (?P<name2>numpy|scipy|pytorch|tensorflow) source tree",
          "folder of the pytorch repository", "you should not try to import", "source tree, and relaunch", "source tree", covers=("python.",)),
    context("shadow.frame", rf"file \"{_OUTSIDE}(?P<path>[^\"\n]{{0,300}}[/\\](?P<name>{'|'.join(_FILES)})\.py)\", line \d+", *(f"/{name}.py\"" for name in _FILES)),
    context("shadow.frame", rf"file \"{_OUTSIDE}(?P<path>[^\"\n]{{0,300}}[/\\](?P<name>{'|'.join(sorted(FRAMEWORK_MODULES))})[/\\]__init__\.py)\", line \d+",
            *(f"/{name}/__init__.py\"" for name in sorted(FRAMEWORK_MODULES))),
)  # fmt: skip
