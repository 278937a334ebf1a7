"""env.shadowed in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re

from gpuwhy.knowledge.messages import NO_IMPORT, UNRESOLVED
from gpuwhy.knowledge.modules import FRAMEWORK_MODULES
from gpuwhy.model import on
from gpuwhy.model.ending import USER
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.conditions import all_of, any_of, by_package, field, in_packages, no, whole
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text


def _installed(s: Symptom, r: Reading) -> bool:
    """The frame that complains is one of an installed package: no source tree took its place."""
    return r.ending.owner not in ("", USER)


def _elsewhere(s: Symptom, r: Reading) -> bool:
    """The program itself lies outside of the user's folder: a portable one, or with an environment of its own."""
    return bool(re.search(r"(?m)^\s*File \"(?![^\"\n]*AppData\\Roaming)[A-Z]:\\", r.excerpt))


_HOME_COPY = re.compile(
    r"/\.local/lib/python3\.\d+/site-packages/(?:torch|tensorflow|jax|jaxlib|numpy|cupy|numba|transformers|onnxruntime)/"
)
_WITH_HOME = re.compile(
    r"\b(?:apptainer|singularity|enroot|pyxis|shifter|charliecloud|udocker)\b|\.(?:sif|simg|sqsh)\b"
)
"""Engines that show the home folder inside the container."""


def _home_in_image(s: Symptom, r: Reading) -> bool:
    """In a container that sees the home folder, a framework was imported from the user's own packages there."""
    return bool(_WITH_HOME.search(r.excerpt) and _HOME_COPY.search(r.excerpt))


_TREE = re.compile(r"/(\w{3,40})/\1/[^\s'\"]{0,60}\.so\b")


def _in_checkout(s: Symptom, r: Reading) -> bool:
    """The file lies in a checkout of the package, a folder in one of the same name, outside of what is installed."""
    return bool(_TREE.search(s.text)) and not re.search(r"(?:site|dist)-packages", s.text)


_MODULES = re.compile(r"\bmodule\b|import name|circular|partially init|not a package", re.IGNORECASE)


def _while_importing(s: Symptom, r: Reading) -> bool:
    """The program ended while something was imported, or in what the import brought."""
    imports = any("import" in frame.code for frame in r.ending.stack)
    return imports or bool(r.ending.message and _MODULES.search(r.ending.message))


_NAMED = "|".join(
    sorted(
        FRAMEWORK_MODULES
        | {
            "tensorrt",
            "vllm",
            "transformers",
            "xformers",
            "flash_attn",
            "deepspeed",
            "cudf",
            "cuml",
            "pycuda",
            "diffusers",
            "accelerate",
            "bitsandbytes",
            "torchvision",
            "torchaudio",
            "flax",
            "optax",
            "random",
            "queue",
            "types",
            "logging",
            "typing",
            "select",
            "token",
            "copy",
            "code",
            "inspect",
            "io",
        }
    )
)
_PYTHONS = r"(?:which python|system (?:python|torch|tensorflow)|pythonpath|sys\.path|site-packages|dist-packages|user[- ]site|\.local\b|jupyter|kernel\b|checkout|source tree|\brepo\b|repository|git clone|\bimport\w*|\bmodule\b|\bcwd\b|current (?:dir|folder)|working (?:dir|folder))"
_TAKEN = r"(?:takes?|took|picks?(?: up)?|picked(?: up)?|uses|loads?|loaded|finds?|found|imports?|imported|gets|got|runs|wins|comes first|→|->)"
_RIGHT_ONE = r"(?:the one in|my|our|the|site-packages|those|venv|conda|env|/usr|/opt|/home)"

TEXT = Text(
    "env.shadowed",
    signatures=(
        error("shadow.halted", r"import of (?P<name>[\w.]{1,80}) halted; None in sys\.modules", "halted; none in sys.modules"),
        error("shadow.torch_tree", r"loaded the `?torch/_c`? folder\b"
              r"|do not import (?P<name>\w{2,30}) from its source (?:directory|tree|folder)"
              r"|change directory to outside the \w{2,20} source tree", "torch/_c", "source directory", "source tree",
              "source folder", covers=("python.", "packages.partial", "shadow.source_tree")),
        error("shadow.hollow_folder",
              rf"_namespacepath\(\['(?P<path>(?![^'\n]{{0,200}}(?:site|dist)-packages)[^'\n]{{1,200}})'|\b(?P<name>{_NAMED})\.__file__ (?:is|=|==|→|->|prints|gives) ?none\b",
              "_namespacepath", ".__file__", covers=("python.", "shadow.hollow", "packages.partial")),
        error("remark.user_site",
              rf"^\S{{0,80}}/\.local/lib/python3\.\d+/site-packages/(?P<name>{_NAMED})/__init__\.pyc?\b|\b(?:comes|is loaded|loaded|imported|taken|is) from \S{{0,40}}\.local\b|\buser[- ]site (?:comes |is )?before\b",
              "/.local/lib/python3", ".local", "user site", "user-site"),
        error("remark.own_file",
              rf"\b(?P<name>{_NAMED})\.__file__\W{{0,12}}(?:is |prints? |gives |says |shows |returns )?['\"]?(?P<path>(?![^\n]{{0,200}}(?:site|dist)-packages)[^\s'\"]{{0,200}}\b(?P=name)(?:\.py|/__init__\.py))|\b(?P<name2>{_NAMED})\.py (?:file )?(?:in|beside|next to|inside) (?:the |my |this |same )?(?:same |current |working |project |own )?(?:cwd|dir\w*|folder|project|script|repo\w*|root)"
              rf"|(?:named|called|saved|renamed)\b[^\n]{{0,30}}?\b(?P<name3>{_NAMED})\.py\b|(?:folder|directory|package|file)(?: named| called)? ['\"]?(?P<name4>{_NAMED})(?:/|\.py)?['\"]? ?(?:\([^)\n]{{0,40}}\) )?(?:beside|next to|in the (?:same|working|current)|in cwd)|\b(?P<name5>{_NAMED}) is a (?:folder|file|directory|script) (?:in|of) (?:my|the|our)\b",
              ".__file__", ".py in", ".py file", ".py beside", ".py next", ".py inside", "named ", "called ", "saved ",
              "renamed ", "folder", "directory", "package", "file ", " is a "),
        error("remark.instead",
              rf"\bpythonpath\b ?=[^\n]{{0,160}}\b(?:brings?|gives?|has|holds?|puts?|contains?)\b[^\n]{{0,30}}\b(?:{_NAMED})\b|(?:\.local/\S{{0,80}}|user[- ]site|/usr/lib/python\S{{0,60}}|cwd|working folder)[^\n]{{0,60}}\b(?:wins over|comes before|takes precedence over|is preferred (?:over|to)|hides|shadows|overrides)\b|\bis imported instead of (?:the )?(?:package|installed|wheel|one)|{_PYTHONS}[^\n]{{0,160}}\b{_TAKEN}\b[^\n]{{0,100}}\b(?:instead of|rather than|and not|but not) {_RIGHT_ONE}|{_TAKEN}[^\n]{{0,100}}(?:site-packages|dist-packages|\.local)[^\n]{{0,100}}\b(?:instead of|rather than|and not) {_RIGHT_ONE}|\.__version__\W[^\n]{{0,40}}\b(?:gives|says|prints|shows|is)\b[^\n]{{0,30}}\bfrom \S{{0,60}}(?:\.local|/usr/lib)|\.__file__[^\n]{{0,160}}\b(?:but|while|though) (?:my|the) (?:venv|env|conda|wheel|installed)|\bimport\b[^\n]{{0,30}}(?:→|->)[^\n]{{0,120}}\binstead of\b|(?:user[- ]site|\.local|/usr/bin/python\S*)[^\n]{{0,80}}\binstead of {_RIGHT_ONE}[^\n]{{0,30}}\b(?:env|venv|conda)"
              r"|\b(?:hidden|shadowed|masked) by (?:the |my |a )?(?:local |\./|checkout|source|repo|folder|clone"
              r"|file|script|user[- ]site|pythonpath)"
              r"|(?:\./\w+|local \w+ (?:folder|package|dir\w*)|source (?:tree|checkout)|checkout"
              r"|\.local)[^\n]{0,40}\b(?:hides|shadows|masks)\b|\b(?:is|are) never reached\b"
              r"|(?:site-packages|\.local|pythonpath)[^\n]{0,60}\b(?:first"
              r"|before (?:the|my) (?:env|venv))\b[^\n]{0,120}\b(?:env|venv|conda)",
              ".__file__", ".__version__", "instead of", "rather than", "and not", "but not", "hidden by",
              "shadowed by", "masked by", "hides", "shadows", "masks", "never reached", "first", "before the env",
              "before my"),
        error("shadow.renaming",
              r"\(consider renaming '(?P<path>[^'\n]{1,300})' (?:since it has the same name as the (?:standard library"
              r"|third-party) module named '(?P<name>[\w.]{1,60})'|if it has the same name as a)",
              "consider renaming '", covers=("python.", "packages.partial", "pairs.", "shadow.circular")),
        error("shadow.not_package",
              r"no module named '(?P<part>(?P<name>torch\w*|tensorflow|jax\w*|numpy|keras|scipy|pandas|onnxruntime"
              r"|cupy|numba|triton|transformers|google|flax|random|types|queue|logging|typing|copy|select|token|code"
              r"|email|json|io)\.[\w.]{1,80})'; '[\w.]{1,80}' is not a package",
              "is not a package", covers=("python.", "packages.partial", "build.ext_module")),
        error("shadow.from_file",
              r"cannot import name '(?P<what>\w{1,80})' from '(?P<name>torch|torchvision|torchaudio|tensorflow|jax"
              r"|jaxlib|flax|numpy|keras|scipy|onnxruntime|cupy|numba|triton|transformers|apex|xformers|flash_attn"
              r"|bitsandbytes|deepspeed|vllm|diffusers|accelerate"
              r"|tensorrt)' \((?P<path>(?![^)\n]{0,300}(?:site|dist)-packages)[^)\n]{1,300})\)",
              "cannot import name '", covers=("python.", "packages.partial", "pairs.")),
        error("shadow.source_tree", r"has loaded the `?torch/_c`? folder of the pytorch repository"
              r"|you should not try to import (?P<name>numpy|scipy|torch|tensorflow) from\s*(?:its )?source"
              r"|please exit the (?P<name2>numpy|scipy|pytorch|tensorflow) source tree",
              "folder of the pytorch repository", "you should not try to import", "source tree, and relaunch", "source tree", covers=("python.",)),
    ),
    clues=(
        ("shadow.halted", 4.6, "something that Python runs at its start (sitecustomize, a .pth line, the program) keeps {name} from being imported"),
        ("shadow.torch_tree", 4.6, "the source tree in the working folder is imported instead of the installed package"),
        ("shadow.hollow_folder", 4.8, "a folder without code has the module's name, and Python imports it instead"),
        ("remark.user_site", 4.4, "the copy in the user's own folder (~/.local) comes before the environment's", whole(r"conda|venv|\benvs?\b|sys\.path|user[- ]site")),
        *((one, 4.6,
           "the container sees the home folder, and Python takes the copy in ~/.local before the image's own",
           _home_in_image) for one in ("loader.undefined_symbol", "loader.cannot_open", "python.import_name",
                                       "python.attribute", "torch.driver_too_old", "cudnn.")),
        ("bnb.no_version", 4.4, "bitsandbytes is imported from a source folder that has no compiled library", _in_checkout),
        ("loader.cannot_open", 4.0, "the library is looked for in a source folder, which has none: it is imported in place of the installed package", _in_checkout),
        ("shadow.script", 4.6, "your script {path} has the name of a module: whatever imports {name} gets the script", _while_importing),
        ("shadow.said", 3.8, "the text says that a file {name}.py is there: whatever imports {name} gets that file"),
        ("remark.own_file", 5.2, "a file of your own has the name of the module {name}: Python imports it instead"),
        ("remark.instead", 5.2, "another copy of the module is found first: by PYTHONPATH, the user's folder, the working folder or another Python"),
        ("windows.torch_dll", 4.6,
         "the PyTorch of your own user folder is loaded in place of the environment's: {path}", all_of(field("path",
            r".*AppData\\Roaming\\Python\\"), _elsewhere)),
        ("shadow.renaming", 5.6, "{path} shadows the module of the same name: Python imports this file instead"),
        ("shadow.source_tree", 4.6, "the source tree in the working folder is imported instead of the installed package", no(_installed)),
        ("shadow.not_package", 4.4, "{name} is a single file here, not the package: another file of that name is imported"),
        ("shadow.from_file", 4.6, "{path} is imported as {name}, and is not the installed package"),
        ("shadow.circular", 4.4, "{path} shadows the module of the same name, and imports itself", all_of(field("path", "."), no(in_packages))),
        ("shadow.circular", 3.4,
         "{name} is imported while it is being imported; this happens when a file has its name", no(any_of(field("path",
            "."), all_of(field("name", r"\w+\."), by_package)))),
        ("shadow.attribute", 4.4, "{name} has no {what} here, which Python's own {name} has: another file of that name shadows it"),
        ("shadow.hollow", 4.0, "{name} has no {what} here, which every {name} has: another file of that name shadows it", field("by", "user")),
        ("shadow.hollow", 2.4, "{name} has no {what} here, which every {name} has: another folder of that name may shadow it"),
        ("shadow.in_part", 4.8, "{path} is imported as {name} and lacks {part}: it is not the installed package"),
        ("packages.in_part", 2.6, "{name} lacks {part}; another, smaller copy of it may come first"),
        ("shadow.frame", 4.2, "your file {path} shadows an installed module of the same name: Python imports yours instead"),
        ("shadow.circular", 1.2, "{name} is imported while it is being imported", in_packages),
    ),
    remedies=(
        meant("Keep Python from looking into your user folder, in this window, and start the program again", "export PYTHONNOUSERSITE=1", said="windows.torch_dll", safe=True),
        meant("Or remove the copy there, with the Python that installed it; then install PyTorch once, in the environment of the program",
              "python -m pip uninstall -y torch torchvision torchaudio", said="windows.torch_dll"),
        meant("Rename {path}, which has the name of the module {name}, and remove what was compiled of it", on.linux("mv {path} my_{name}.py && rm -rf __pycache__ {name}.pyc"),
              said="shadow.script shadow.frame", more=True),
        meant(on.in_windows("rename {path}, which has the name of the module {name}, and delete the folder __pycache__ beside it"),
              on.cmd('ren "{path}" my_{name}.py'), said="shadow.script shadow.frame shadow.circular shadow.renaming",
              more=True),
        meant("Rename the file {name}.py: whatever imports the module {name} gets this file; remove what was compiled of it too",
              on.linux("mv {name}.py my_{name}.py && rm -rf __pycache__ {name}.pyc"), said="shadow.said shadow.attribute shadow.hollow",
              more=True),
        meant("The source folder in which the program is started is imported instead of the installed package, and it has no compiled library: start from another folder, and install the package",
              on.linux("cd ~ && pip install --force-reinstall bitsandbytes"), said="bnb.no_version", safe=True),
        meant("Or build it where it lies, and install that", on.linux("cmake -DCOMPUTE_BACKEND=cuda -S . && make && pip install -e ."), said="bnb.no_version", safe=True),
        meant("Start the program from another folder than the package's own sources, and take them out of PYTHONPATH: there nothing is compiled",
              on.linux("unset PYTHONPATH && cd ~"), said="loader.cannot_open", safe=True),
        meant("Rename the file or folder that has the module's name, and remove the __pycache__ beside it", said="shadow."),
        meant("Check which file Python imports", "python -c 'import torch; print(torch.__file__)'    # the module of the message", safe=True, look=True),
        meant("Check where Python looks first: the script's folder, PYTHONPATH, then the environment",
              "python -c 'import sys; print(*sys.path, sep=chr(10))'", safe=True, look=True),
    ),
    admitted_by=(*UNRESOLVED, *NO_IMPORT),
)  # fmt: skip
