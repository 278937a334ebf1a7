"""Variables: what their readers say of a value that they do not take."""

from __future__ import annotations

from gpuwhy.symptoms.signature import Signature, context, echo, error, harmless

_HEADS = (
    r"CUDA|CUDNN|CUBLAS|CUBLASLT|NVIDIA|NCCL|XLA|TF|TF2|PYTORCH|TORCH|TORCHINDUCTOR|TORCHDYNAMO|TORCHELASTIC|JAX|CUPY|ORT|TRITON"
    r"|NUMBA|KERAS|OMP|MKL|KMP|GOMP|ATEN|GLOO|UCC|UCX|PADDLE|MXNET|DNNL|ONEDNN|KINETO|MLIR|LLVM|PTXAS"
)
_OTHERS = r"(?:VISIBLE_DEVICES|HOME|PATH|ROOT|DIR|LIBRARY)\b|\w*(?:STATUS|ERROR|RESULT|SUCCESS|FAILURE|FAILED)"
"""What follows names that are no options: devices, places, statuses."""
VARIABLE = rf"(?P<variable>(?-i:(?:{_HEADS})_(?!{_OTHERS})[A-Z0-9_]*[A-Z0-9]))"
_BAD = (
    r"(?:(?:invalid|unknown|unrecogni[sz]ed|unsupported|unexpected|illegal|malformed|bad|wrong) [^\n]{0,30}?(?:value|setting|option|flag|variable|argument|mode|type|choice|format|entry|key)s?"
    r"|(?:cannot|could not|failed to|unable to|couldn't|error) pars(?:e|ing)|couldn't interpret|unable to (?:read|use))"
)
_DEMAND = r"(?:must be|must have|must match|isn't of|: expected|should be|has to be|needs to be|must contain|must start|is not (?:a )?(?:valid|supported|recogni[sz]ed|an? integer|a number)|is invalid|(?:cannot|could not|can't) be (?:parsed|interpreted|read|converted)|can only be|expects?|only supports|got an? invalid)"

_EVERYBODY = tuple(
    f"{name}."
    for name in ("build", "cublas", "cuda", "cudnn", "jax", "loader", "memory", "nccl", "nvrtc", "program", "python", "report",
                 "signal", "tf", "title", "torch", "triton", "kernel", "container", "packages", "nvidia", "windows")
)  # fmt: skip

SIGNATURES: tuple[Signature, ...] = (
    error("setting.jax_platform", r"unable to initialize backend '(?P<value>[^']*)': backend '[^']*' is not in the list of known backends",
          "list of known backends", covers=("jax.other_backend", "jax.backend", "jax.tpu", "python.runtime")),
    error("setting.jax_other", r"unable to initialize backend '(?P<value>tpu|rocm|metal)'[^\n]*\(set jax_platforms='' to", "set jax_platforms='' to",
          covers=("jax.other_backend", "jax.tpu", "loader.cannot_open", "loader.libtpu", "python.runtime")),
    error("setting.jax_chosen", r"unable to initialize backend '(?P<value>cuda|gpu)': *\(set jax_platforms='' to|backend '(?P<value2>cuda|gpu)' failed to initialize: *\. available",
          "set jax_platforms='' to", "' failed to initialize", covers=("jax.backend", "python.runtime")),
    error("setting.jax_backend", r"unknown backend:? '?(?!gpu|cuda|tpu|rocm)(?P<value>\w+)'?(?:\. available| requested)", "unknown backend", covers=("python.runtime",)),
    error("setting.jax_none", r"assert _default_backend is not none", "_default_backend is not none"),
    error("setting.jax_truth", r"invalid truth value '(?P<value>[^'\n]*)' for environment '(?P<variable>\w+)'", "invalid truth value",
          covers=("python.exception", "setting.refused")),
    error("setting.jax_value", r"invalid value \"(?P<value>[^\"\n]*)\" for jax flag (?P<variable>jax_\w+)", "for jax flag",
          covers=("python.exception",)),
    error("setting.jax_device", r"jax\.default_device must be passed either a device object[^\n]*got: '?(?P<value>[^'\n]*)", "jax.default_device must be passed",
          covers=("python.exception",)),
    error("setting.jax_allocator", r"(?P<variable>xla_python_client_allocator) env var must be[^\n]*got \"?(?P<value>[^\"\n]*)", "xla_python_client_allocator",
          covers=("python.exception", "setting.refused")),
    error("setting.xla_unknown", r"unknown flags? in (?P<variable>\w*xla_flags): ?(?P<value>[^\n]{0,120})", "unknown flag", covers=("setting.refused",)),
    error("setting.xla_file", r"could not open file \"(?P<value>[^\"\n]*)\" to read flags for environment variable \"(?P<variable>\w+)\"",
          "to read flags for environment variable"),
    error("setting.xla_value", r"couldn't interpret value (?P<value>\S*) for flag (?P<flag>\w+)", "couldn't interpret value", covers=("setting.refused",)),
    echo("setting.xla_parse", r"check failed: tsl::flags::parse|flag parsing failed", "flag parsing failed", "flags::parse"),
    error("setting.tf_env", r"check failed: [^\n]*failed to parse the env-var \$\{(?P<variable>\w+)\} into (?P<type>\w+): (?P<value>[^.\n]*)", "failed to parse the env-var",
          covers=("setting.refused",)),
    error("setting.torch_logs", r"invalid log settings: (?P<value>[^,\n]*)", "invalid log settings"),
    error("setting.allocator", r"unknown allocator backend|in configtokenizer(?: but got '?(?P<value>[^'\n]*))?|(?:cachingallocator|allocator) option (?P<option>\w+) (?:too small|is invalid|must)"
          r"|garbage_collect\w*_threshold[ is]* (?:is )?(?:invalid|too)|for roundups, the divisions|(?:expected|invalid) [^\n]{0,40}(?:true/false|argument) for (?P<option2>expandable_segments|\w*host_register\w*)",
          "configtokenizer", "unknown allocator backend", "allocator option", "garbage_collect", "for roundups, the", "for expandable_segments", "host_register",
          covers=("memory.allocator_option", "python.exception", "python.runtime")),
    error("setting.number", r"^(?:valueerror|std::invalid_argument|what\(\))\b:? *(?:std::)?(?P<what>sto(?:ull|ul|ll|l|i|d|f))\b", "sto", covers=("python.exception",)),
    error("setting.arch", r"unknown cuda arch \((?P<value>[^)\n]*)\)", "unknown cuda arch", covers=("python.exception",)),
    error("setting.numba", r"the threading layer requested '(?P<value>[^'\n]*)' is unknown to numba|number of threads specified must be > 0|no threading layer could be loaded",
          "unknown to numba", "number of threads specified must", "no threading layer could", covers=("python.exception",)),
    context("setting.usage", r"^\s*--\w+=[^\n]*?\s(?:bool|int32|int64|uint64|string|float|double)\s", "--xla_", "--tf_xla_", covers=_EVERYBODY),
    error("setting.cupy", r"unknown accelerator: (?P<value>\S+)", "unknown accelerator", covers=("python.exception",)),
    error("setting.keras", r"unable to import backend ?: ?(?P<value>\S+)", "unable to import backend", covers=("python.exception",)),
    error("setting.unknown", rf"unknown setting of {VARIABLE}", "unknown setting of", covers=("python.exception", "setting.refused")),
    harmless("setting.ignored", rf"ignoring invalid value for (?:boolean flag )?{VARIABLE}|libgomp: invalid value for environment variable (?P<variable2>\w+)"
             r"|`(?P<variable3>TORCH_CPP_LOG_LEVEL)` environment variable cannot be parsed"
             r"|(?P<variable5>TF_\w+) is not set to either|^(?!.*check failed)[^\n]*failed to parse the env-var \$\{(?P<variable6>\w+)"
             r"|environment variable '(?P<variable4>\w+)' is defined but its associated value", "is defined but its associated value", "ignoring invalid value", "libgomp: invalid value", "environment variable cannot be parsed",
             "is not set to either", "failed to parse the env-var", covers=("setting.refused", "python.warning")),
    error("setting.refused", rf"{_BAD}\b[^\n]{{0,90}}?(?<![\w/$]){VARIABLE}(?!\w)|(?<![\w/$]){VARIABLE.replace('variable', 'variable2')}(?!\w)[^\n]{{0,90}}?{_DEMAND}",
          "invalid", "unknown", "unrecogni", "unsupported", "unexpected", "illegal", "malformed", "parse", "couldn't interpret", "must be", "should be",
          "has to be", "is not a", "is not valid", "is not supported", "can only be", "must have", "must match", "isn't of", ": expected", "unable to read", "unable to use", "cannot be", "could not be", "expects", covers=("python.exception", "python.runtime")),
)  # fmt: skip
