"""framework.extension_abi in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.companions import going_with
from gpuwhy.knowledge.extensions import BUILT_BY, package_of
from gpuwhy.knowledge.messages import UNRESOLVED
from gpuwhy.knowledge.variants import in_old_list, index_of
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.ending import PYTHON, USER
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.common import LACKS_ENTRY, SAID_TO_FAIL, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, asks, field, line, no, with_
from gpuwhy.rooms.text.exactly import of_old_list
from gpuwhy.rooms.text.installing import jax_together
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.package_ways import compiled_again
from gpuwhy.rooms.text.room import Text

_OWNER = re.compile(
    r"(?:site|dist)-packages/([a-z][a-z_]*?[a-z])(?:/|(?:_\d)?(?:_cuda|_C|_ext(?:ension)?s?|_ops|_kernels)?\.cpython)|(?<![\w./-])([a-z]\w+)/[\w./-]+\.so\b",
    re.IGNORECASE,
)
_ALONE = re.compile(r"(?:site|dist)-packages/(\w+?)\.cpython")
_PINNED = ("tensorflow-text",)  # packages whose own metadata names one minor release of TensorFlow
_CONDA = {"torch": "pytorch", "jaxlib": "jaxlib"}


def by_name(s: Symptom, r: Reading) -> bool:
    """Whether the program's own code asks a library for a function by its name, as ctypes does."""
    frames = r.ending.stack
    asked = bool(frames) and "ctypes" in frames[-1].file and r.ending.name == "AttributeError"
    return asked and s.within(r.ending) and all(one.owner in (USER, PYTHON) for one in frames)


def _made(case: Asked) -> Iterator[Fix]:
    lines = "\n".join(line for _, line, _ in case.behind)
    if any(signature == "jax.plugin_abi" for signature, _, _ in case.behind):
        yield jax_together(case, lines)
    elif companion := re.search(r"torch(?:vision|audio|text)", lines, re.IGNORECASE):
        yield _companion(companion[0].lower(), case.version)
        if not case.version:
            text = f"Or keep the torch that is there (pip show torch names its release) and take its {companion[0].lower()}: to torch 2.x belongs torchvision 0.(15+x), to 2.5 so 0.20"
            yield Fix(
                text, 'pip install --force-reinstall --no-deps "torchvision==0.20.*"    # for torch 2.5', safe=True
            )
        yield Fix("Check both versions", "pip list", safe=True, role="look")
    elif module := _module(lines):
        yield from _again(module, case)


def _module(lines: str) -> str:
    """The package whose file a line names; "" where the file is a bare module of nobody known, or is in the table."""
    if alone := _ALONE.search(lines):
        return package_of(alone[1])
    owner = _OWNER.search(lines)
    return (owner[1] or owner[2]) if owner else ""


def _companion(name: str, version: str) -> Fix:
    """The release of a package that belongs to this torch, of the same CUDA build."""
    release, _, build = version.partition("+")
    fits = going_with(name, release) if release else ""
    which = f"torch {version}" if version else "the newest torch, with it"
    text = f"Install the {name} that belongs to {which}"
    if fits and build.startswith("cu"):
        return Fix(text, _of_build(name, fits, release, build), safe=True)
    exactly = f'"{name}=={fits}"' if fits else name
    torch = f'"torch=={release}"' if release else "torch"
    return Fix(
        f"{text}; its own pins choose the release", f"pip install --force-reinstall {torch} {exactly}", safe=True
    )


def _of_build(name: str, fits: str, release: str, build: str) -> str:
    if in_old_list(release):
        return f"{of_old_list(release, build, (name,))} --force-reinstall"
    return f'pip install --force-reinstall "torch=={release}" "{name}=={fits}" --index-url {index_of(build)}'


def _again(module: str, case: Asked) -> Iterator[Fix]:
    """The package whose own file lacks the symbol, by its folder."""
    if module in ("torch", "tensorflow", "jaxlib", "onnxruntime"):
        text = f"Remove every copy of {module} and install it again: its own files are of different releases"
        yield Fix(text, f"pip uninstall -y {module}\npip install --no-cache-dir {module}", safe=True)
        yield Fix("Or, where conda installed it", f"conda install --force-reinstall {_CONDA.get(module, module)}")
        return
    name = module.replace("_", "-")
    if module in BUILT_BY and not (case.windows and module == "flash_attn"):
        text = f"Build {name} again for the installed PyTorch, or install its build for that"
        yield Fix(text, on.linux(BUILT_BY[module]), safe=True)
        return
    if name in _PINNED:
        text = f"Install {name} and the TensorFlow that it is built for in one command; it names that release itself"
        yield Fix(text, f"pip install --upgrade tensorflow {name}", safe=True)
        return
    text = f"Install the build of {name} for {f'the installed {case.title}' if case.framework else 'the installed framework'}, or compile it against that"
    yield Fix(text, f"pip install --force-reinstall --no-cache-dir --no-build-isolation --no-deps {name}", safe=True)
    yield Fix("Check both versions against the table in its README", f"pip list | grep -i -e {name} -e {case.framework or 'torch'}", safe=True, role="look")  # fmt: skip


TEXT = Text(
    "framework.extension_abi",
    signatures=(
        error("loader.symbol_lookup", r"symbol lookup error: (?P<object>[^\s:]+)", "symbol lookup error"),
    ),
    clues=(
        ("windows.procedure_missing", 3.6, "the compiled module was built for another release of the framework", line(r"importing (?!_driver\b|cupy|_C\b|cudart|nvrtc|runtime\b)\w+:")),
        ("windows.procedure_missing", 4.6, "Lantern and LibTorch are of two releases", line(r"lantern")),
        ("windows.procedure_missing", 4.6,
         "a function of PyTorch's own is missing: the module was built for another release", line(r"@c10@|@at@@|@torch@@|site-packages[\\/]torch(?:codec|vision|audio)")),
        *((said, weight, "a compiled extension may be of another release ({number})", field("number", "127$"))
          for said, weight in (("windows.load_library", 1.4), ("windows.error", 0.6))),
        ("ntstatus.heap_corruption", 1.8, "native code writes past its memory (0xC0000374); this happens when built for another release"),
        ("tf.addons", 3.2, "the add-on was built for another TensorFlow"),
        ("tf.op_library", 3.0, "{library} is not there for this TensorFlow"),
        ("torch.xformers_unbuilt", 3.8, "the compiled part of xFormers was not loaded: it was built for another PyTorch"),
        ("loader.mac_symbol", 4.2, "a compiled package needs {symbol}, which the installed version does not have",
         field("symbol", r"_+(?:ZN?\w*(?:10tensorflow|4absl|3tsl|3xla|3c10|2at|5torch)|TF_|TFE_|Py)")),
        ("loader.mac_symbol", 2.4, "{symbol} is missing in what was loaded"),
        ("torch.namespace", 3.4, "the operators of {name} were not loaded"),
        ("windows.dll_load_failed", 3.2, "an extension was built for another PyTorch", all_of(LACKS_ENTRY, line(r"importing \w*(?:cuda|_C|_ext|ops|kernels)\b"))),
        ("loader.undefined_symbol", 4.8, "a compiled package needs {symbol}, which this PyTorch version does not have",
         field("symbol",
               r"_ZN?K?(?:2at|3c10|5torch|St\d*.*(?:at|c10))|_ZN?[KTIV]*N(?:2at|3c10|5torch)|THC|TH[A-Z]|PyInit"
               r"|aoti_|torch")),
        ("loader.undefined_symbol", 4.8,
         "a compiled package needs {symbol}, which this TensorFlow version does not have", field("symbol",
            r"_Z\w*(?:10tensorflow|4absl|3tsl|3xla|6tflite|6google8protobuf|4mlir|5Eigen)|TF_|TFE_")),
        ("loader.undefined_symbol", 5.2, "the program asks {object} by name for {symbol}, which this release does not have", by_name),
        ("loader.undefined_symbol", 3.2, "{symbol} is missing: the extension was built for another release", all_of(field("symbol", r"_Z"), no(line("cudnn|nvrtc|cublas")))),
        ("loader.undefined_symbol", 2.4, "{symbol} is missing in what the extension was built for", field("object", r"(?!.*libtorch).*(?:cpython|_cuda|_C\b|ops).*\.so")),
        ("loader.cannot_open", 3.6, "{library} is of the release that the extension was built for", all_of(asks("framework"), no(with_("torch.own_import")))),
        ("loader.asked", 3.0, "{library} is of the release that the extension was built for", asks("framework")),
        ("torch.extension_versions", 4.2, "the extension was built for another PyTorch"),
        ("torch.different_cuda", 3.6, "PyTorch and {what} were compiled with different CUDA versions"),
        ("build.ext_module", 2.6, "{name} was not built for this PyTorch"),
        ("torch.backend_missing", 3.0, "the extension has no CUDA code for this PyTorch"),
        ("ext.not_installed", 2.4, "the extension was not built for this PyTorch"),
        ("torch.no_operator", 2.6, "the extension has no operator for this PyTorch"),
        ("jax.plugin_abi", 3.0, "the plug-in was built for another jaxlib"),
        ("torch.image_extension", 1.2, "torchvision's extension is of another release"),
        ("build.gcc_new", 3.2, "the C++ ABI flag is in play"),
        ("pairs.cython", 2.6, "a compiled package calls another by a signature that it no longer has"),
        ("tensorrt.mismatch", 1.8, "the engine was made by another release"),
        ("windows.procedure_missing", 1.8, "the extension was built for another release"),
        ("windows.dll_load_failed", 2.0, "the extension was built for another release", LACKS_ENTRY),
        ("python.attribute", 0.8, "an extension and the framework do not fit", line("jax|torch|tensorflow")),
        ("loader.symbol_lookup", 1.6, "a function is missing in what was loaded"),
        ("cuda.no_binary_for_gpu", 0.8, "an extension may lack code for this GPU"),
        ("title.undefined_symbol", 2.8, "a library lacks a symbol that is asked for", no(field("object", r".*lib(?:cu|nv)"))),
        ("title.undefined_symbol", 1.2, "a library lacks a symbol that is asked for"),
        ("title.trouble", 0.8, "the text says that an extension fails", said_of("extension")),
        ("title.trouble", 0.3, SAID_TO_FAIL, nothing_else),
    ),
    ladder=compiled_again,
    remedies=(
        meant("Build the operation anew with the flags of the installed TensorFlow, its library linked in", on.linux("g++ -std=c++17 -shared -fPIC OP.cc -o OP.so $(python -c 'import tensorflow as tf; print(*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags())')"),
              said="loader.undefined_symbol title.undefined", line=r"tensorflow|_ZT?[INV]*10tensorflow", safe=True),
        meant("Import torch before the extension: the symbol is in PyTorch's own libraries, which are loaded by that",
              on.code("import torch    # first, then the extension"), said="loader.cannot_open", line=r"libc10|libtorch",
              safe=True, more=True),
        meant(on.in_macos("install Apple's pair in one command: tensorflow-metal goes with tensorflow-macos, not with another wheel"),
              "pip uninstall -y tensorflow tensorflow-metal\npip install tensorflow-macos tensorflow-metal", said="loader. tf. python. title. packages.",
              line=r"metal_plugin|tensorflow-metal", safe=True),
        meant("Install the extension's build for the installed framework, or build it", "pip install --force-reinstall --no-cache-dir --no-build-isolation EXTENSION", safe=True),
        meant("Check both versions", "pip list", safe=True, look=True),
    ),
    admitted_by=UNRESOLVED,
    made=_made,
)  # fmt: skip
