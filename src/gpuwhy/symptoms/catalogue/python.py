"""Python itself: NumPy and protobuf ABI, imports, and the last line of a traceback when nothing better is known."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, echo, error, harmless

SIGNATURES: tuple[Signature, ...] = (
    error("python.protobuf", r"descriptors cannot (?:not )?be created directly|google\.protobuf[^\n]*(?:version|incompatible|gencode)|protobuf[^\n]*(?:gencode|version"
          r" mismatch)|cannot import name '?(?:builder|descriptor|message)'? from '?google\.protobuf|messagefactory' object has no attribute",
          "descriptors cannot", "protobuf", "messagefactory"),
    error("python.numpy_abi", r"numpy[\w.]*(?:multiarray|umath) failed to import|module compiled against api version|compiled using numpy 1|numpy\.\w+ size changed"
          r"|_array_api not found|numpy is not available|failed to initialize numpy|numpy[^\n]*has no attribute|implement_array_function",
          "multiarray", "umath failed", "compiled against api version", "compiled using numpy", "size changed", "_array_api", "numpy is not available",
          "'numpy' has no attribute"),
    error("python.glibc", r"glibc(?:xx)?_[\d.]+['’`]? not found", "glibc_2", "glibcxx_3", covers=("loader.version_missing",)),
    error("python.numba_numpy", r"numba needs numpy|autograph could not", "numba needs numpy", "autograph could not"),
    error("packages.partial", r"module '(?P<name>cupy|torch|jax|numba(?!' has no attribute 'cuda)|paddle|mxnet)' has no attribute '(?:__version__|version|cuda|tensor|nn|_c|device|random|n?d?array|zeros|asarray|show_config|core|numpy|jit|fluid|nd)'"
          r"|no module named '(?P<name2>(?:cupy|torch|jaxlib|onnxruntime|paddle|mxnet|tensorflow)\.[\w.]+)'", "has no attribute '", "no module named '", covers=("python.attribute", "python.module", "python.exception")),
    error("python.module", r"no module named ['\"]?(?P<name>[\w.]+)", "no module named"),
    error("python.import_name", r"cannot import name ['\"]?(?P<name>\w+)['\"]?", "cannot import name"),
    error("python.attribute", r"attributeerror: (?!function '\w+' not found)(?P<what>[^\n]*)", "attributeerror:"),
    error("python.keras", r"keras[^\n]*(?:attributeerror|importerror|unknown layer|get_config|has no attribute)|could not (?:locate|deserialize) (?:class|function)",
          "keras"),
    error("python.exception", r"^(?:[\w.]+\.)?(?P<name>TypeError|ValueError|KeyError|NameError|FileNotFoundError|SyntaxError|IndentationError|IndexError|NotImplementedError"
          r"|UnicodeDecodeError|ConnectionError|HTTPError|JSONDecodeError|PermissionError|ZeroDivisionError|RecursionError|ModuleNotFoundError)\b: ?(?P<what>[^\n]*)",
          "error: ", covers=("python.runtime",)),
    echo("python.runtime", r"^(?:[\w.]+\.)?(?P<name>RuntimeError|ImportError|OSError|AssertionError|InternalError|UnknownError|[A-Z]\w{2,40}Error|\w*Exception)\b:? ?(?P<what>[^\n]*)",
         "error: ", "error:", "exception"),
    harmless("python.warning", r"^(?:[\w./:<>\\-]+: )?(?:User|Future|Deprecation|PendingDeprecation|Resource|Syntax)Warning: ", "warning: "),
    context("python.tf_frames", r"file \"[^\"\n]*/(?:tensorflow|tensorflow_core|keras)/\S*\.py\", line \d+", "/tensorflow/", "/tensorflow_core/", "/keras/"),
    context("python.traceback", r"traceback \(most recent call last\)", "traceback (most recent call last)"),
    error("python.http", r"(?:sslerror|connectionerror|httperror|urlopen error|max retries exceeded|401 client error|403 forbidden|404 client error|gated repo|"
          r"repository not found|connection aborted)", "sslerror", "urlopen error", "max retries exceeded", "client error", "gated repo", "forbidden",
          "connection aborted"),
)  # fmt: skip
