"""The dynamic loader of Linux, and those who pass its words on (TensorFlow's dso_loader, cuDNN's shim, CuPy …)."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error, harmless

_LIB = r"(?P<library>lib[\w.+-]*?\.so(?:\.\d+)*)"
_CANNOT = ("loader.cannot_open", "loader.asked")

SIGNATURES: tuple[Signature, ...] = (
    error(
        "loader.tensorrt",
        r"(?:dynamic library|library|error:)? ?'?(?P<library>libnv(?:infer|onnxparser|parsers)\w*\.so(?:\.\d+)*)'?[;:]? ?"
        r".*cannot open shared object file",
        "libnvinfer",
        "libnvonnxparser",
        "libnvparsers",
        covers=(*_CANNOT, "loader.tf_dso"),
    ),
    error(
        "loader.cudarc",
        r"unable to (?:find|dynamically load)[^\n]{0,60}names:? \[\"(?P<library>\w+)\"|unable to dynamically load the \"(?P<library2>\w+)\" shared library",
        "unable to find cuda lib", "unable to dynamically load",
        covers=("else.foreign", "title."),
    ),
    error(
        "loader.tf_dso",
        r"(?:could not|couldn't) (?:load dynamic|open cuda) library '?(?P<library>[\w.+-]+\.(?:so(?:\.\d+)*|dll|dylib))'?",
        "load dynamic library",
        "open cuda library",
        covers=(*_CANNOT, "windows.dll_not_found", "windows.could_not_find", "title.library"),
    ),
    error(
        "loader.cudnn_sub",
        r"could not load library (?P<library>libcudnn\w*\.so(?:\.\d+)*|cudnn\w*\.dll)[.,]? *error:? *"
        r"(?P<dlerror>(?P<wanted>[\w./+-]+?): (?:cannot open|undefined|file too short|version|invalid|failed)[^\n]*)",
        "could not load library",
        covers=(*_CANNOT, "loader.cudnn_load", "loader.find_failed", "loader.undefined_symbol", "loader.version_missing"),
    ),
    error(
        "loader.cudnn_windows",
        r"could not load library (?P<library>cudnn\w*\.dll)\W+error code:? (?P<number>\d+)",
        "could not load library cudnn",
        covers=("loader.cudnn_load", "loader.find_failed", "windows.error", "windows.could_not_find"),
    ),
    error(
        "loader.cudnn_path",
        r"^(?!.*could not lo)[^\n]*make sure (?P<library>cudnn\w*\.dll|libcudnn\w*\.so(?:\.\d+)*) is in your library path",
        "is in your library path",
        covers=("windows.dll_not_found",),
    ),
    error(
        "loader.cudnn_by_path",
        r"could not load library ['\"](?P<path>[a-z]:[\\/][^'\"\n]*?(?P<library>cudnn\w*\.dll))",
        "could not load library",
        covers=("loader.cudnn_load", "loader.find_failed", "windows.could_not_find"),
    ),
    error(
        "loader.cudnn_dlsym",
        r"could not load symbol (?P<symbol>cudnn\w+)",
        "could not load symbol cudnn",
        covers=("loader.undefined_symbol", "loader.cudnn_load"),
    ),
    error(
        "loader.cudnn_dso",
        r"could not find (?P<symbol>cudnn\w+) in cudnn dso",
        "in cudnn dso",
        covers=("loader.undefined_symbol", "title.cudnn_missing", "build.cmake_find"),
    ),
    error(
        "loader.cudnn_load",
        r"could not load (?:library|symbol) (?P<library>libcudnn\w*\.so(?:\.\d+)*|cudnn\w*\.dll)",
        "could not load library",
        "could not load symbol",
        covers=(*_CANNOT, "loader.find_failed"),
    ),
    error(
        "loader.cudnn_unable",
        r"unable to load any of \{(?P<library>libcudnn\w*\.so(?:\.\d+)*)",
        "unable to load any of {",
        covers=_CANNOT,
    ),
    error(
        "loader.cudnn_symbol",
        r"invalid handle\. cannot load symbol (?P<symbol>cudnn\w+)",
        "cannot load symbol",
    ),
    error("loader.cudnn_locate", r"could not locate (?P<library>cudnn\w*\.dll)", "could not locate cudnn"),
    harmless(
        "loader.libtpu",
        r"libtpu\.so[:\w ]*cannot open shared object file",
        "libtpu.so",
        covers=_CANNOT,
    ),
    error(
        "loader.wrong_class",
        rf"{_LIB}: (?:wrong elf class: (?P<elf>\w+)|cannot open shared object file: exec format error)",
        "wrong elf class",
        "exec format error",
        covers=_CANNOT,
    ),
    error(
        "loader.no_permission",
        rf"{_LIB}: cannot open shared object file: (?:permission denied|operation not permitted)",
        "cannot open shared object file: permission",
        "cannot open shared object file: operation",
        covers=_CANNOT,
    ),
    error(
        "loader.cannot_open",
        rf"{_LIB}: cannot open (?:shared object file|the shared)",
        "cannot open shared object file",
        "cannot open the shared",
        covers=("loader.asked",),
    ),
    error(
        "loader.asked",
        r"(?:library|dynamic library|shared library|lib|load|find|dlopen|open|locate|missing)\W+(?:library )?"
        r"(?P<library>lib(?:cu|nv)[\w.+-]*?\.so(?:\.\d+)*)\W+(?:is not found|not found|could not be (?:found|loaded)"
        r"|cannot be (?:found|loaded)|is missing|cannot open)",
        "not found", "could not be found", "could not be loaded", "cannot be found", "cannot be loaded", "is missing",
    ),
    error(
        "loader.find_failed",
        r"(?:could not|couldn't|cannot|can't|unable to|failed to) (?:find|load|open|dlopen|locate)(?: the)?(?: shared)?"
        r"(?: object)?(?: library| file)?[ :'\"`]+(?P<library>lib(?:cu|nv)[\w.+-]*?\.so(?:\.\d+)*)(?! due to lib)",
        " libcu", "'libcu", "\"libcu", "`libcu", " libnv", "'libnv", "\"libnv",
        covers=("loader.asked",),
    ),
    error(
        "loader.ldd_missing",
        r"^\s*(?P<library>lib[\w.+-]+\.so(?:\.\d+)*) => not found",
        "=> not found",
    ),
    error(
        "loader.undefined_symbol",
        r"(?P<object>[^\s:'\"]*)?:? *undefined symbol: *(?P<symbol>[\w@.]+)(?:,? *version *(?P<version>[\w.]+))?",
        "undefined symbol",
        covers=("loader.symbol_lookup",),
    ),
    error(
        "loader.not_defined",
        r"version (?P<version>[\w.]+) not defined in file (?P<library>[\w.+-]+)",
        "not defined in file",
        covers=("loader.symbol_lookup",),
    ),
    error(
        "loader.version_missing",
        r"(?P<library>[\w./+-]*\.so(?:\.\d+)*): version [`'‘]?(?P<version>[\w.+]+)['’]? not found",
        "not found (required by",
        ": version `",
        ": version '",
        ": version ‘",
    ),
    error(
        "loader.corrupt",
        r"(?P<library>[\w./+-]*\.so(?:\.\d+)*)?:? *(?:file too short|invalid elf header|elf load command past end of file"
        r"|elf file's phentsize|object file has no (?:dynamic|loadable)|cannot read file data"
        r"|only et_dyn and et_exec|elf load command alignment|elf load command address"
        r"|unsupported version \d+ of ver(?:need|def) record|version lookup error|elf file (?:os abi|abi version) invalid"
        r"|elf file version (?:ident )?does not match|nonzero padding in e_ident|unexpected (?:plt )?reloc(?:ation)? type"
        r"|cannot handle tls data|inconsistency detected by ld\.so)",
        "unsupported version", "version lookup error", "elf file ", "nonzero padding in", "unexpected reloc",
        "unexpected plt reloc", "cannot handle tls data", "inconsistency detected by ld.so", "file too short",
        "invalid elf header", "elf load command", "phentsize", "object file has no",
        "cannot read file data", "only et_dyn",
        covers=("loader.cannot_open",),
    ),
    error(
        "loader.static_tls",
        rf"{_LIB}.*cannot allocate memory in static tls block",
        "static tls block",
        covers=(*_CANNOT, "memory.cpu_allocator"),
    ),
    error(
        "loader.no_map",
        r"(?<![^\s:'\"])(?P<library>[^\s:'\"]{1,300}): (?:failed to map segment|cannot (?:allocate memory|map)|cannot change memory protections)",
        "failed to map segment",
        "cannot change memory protections",
        "cannot map zero-fill",
    ),
    error(
        "loader.prose",
        r"(?P<library>(?:lib)?(?:cu(?:dnn|dart|blas|fft|rand|solver|sparse|da)|nvrtc)\w*\.so(?:\.\d+)*)['\"`]?(?: and [\w.]+)? (?:don'?t|doesn'?t|does not|do not|won'?t|"
        r"will not|is not|isn'?t|are not|can ?not|could not|was not|not|failed to|fails to|being not)(?: be)?(?:ing)? (?:load|exist|open|found|find|being found|be found)",
        ".so", covers=("loader.asked", "loader.cannot_open", "loader.tf_dso", "loader.find_failed"),
    ),
    error("loader.mac_library", r"library not loaded: \S*?(?P<library>lib[\w.+-]+\.dylib)", "library not loaded:"),
    error("loader.mac_symbol", r"symbol not found(?: in flat namespace)?:? \(?'?(?P<symbol>_\w+)", "symbol not found"),
    error("loader.native", r"fail\w* loading (?:dependency )?'?[^'\n]{0,200}[\\/]cuda\w*[\\/][\w.-]+\.(?:dll|so)"
          r"|native library cannot be (?:found|correctly loaded|loaded)", "loading", "native library cannot", covers=("title.",
        "python.")),
    error("loader.tf_skip", r"cannot dlopen some gpu libraries", "cannot dlopen some gpu libraries"),
    context("loader.path_told", r"LD_LIBRARY_PATH[=:] ?(?P<path>[/~][^\s]+|$)", "ld_library_path"),
    context(
        "loader.resolved",
        r"^\s*(?P<library>lib[\w.+-]+\.so(?:\.\d+)*) => (?P<path>/\S+)",
        " => /",
    ),
)  # fmt: skip
