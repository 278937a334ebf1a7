"""env.setting in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.messages import NO_GPU
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.ending import PYTHON, Frame
from gpuwhy.model.signature import echo, error, told
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.text.conditions import all_of, alone_beside, field, no, whole
from gpuwhy.rooms.text.fragments import VARIABLE
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.setting_ways import by_its_name

_CONVERSION = re.compile(
    r"invalid literal for int|could not convert string to float|not a valid|invalid (?:start|truth|value)|unknown|must be|stoi|stoull"
    r"|expecting (?:value|property|','|':')|extra data|not in list|assert|must be",
    re.IGNORECASE,
)

_NUMBER = r"invalid literal for int|could not convert string to float"

_CONFIG = re.compile(r"(?:^|[\\/])(?:\w*config|knobs|_?environment|tfconfig_cluster_resolver)\.py$")

_READERS = frozenset({"torch", "jax", "jaxlib", "triton", "cupy", "cupy_backends", "numba", "keras", "tensorflow"})

_STEERS = field(
    "variable",
    "(?:CUDA|CUDNN|CUBLAS|NCCL|XLA|TF|PYTORCH|TORCH|TORCHINDUCTOR|TORCHDYNAMO|JAX|CUPY|ORT|TRITON|NUMBA|KERAS|MLIR|LLVM)_",
)

_ENDS = ("ending.inside", "ending.own", "python.exception", "python.runtime")

_ELSEWHERE = ("rocm", "cuda", "gpu", "tpu")


def _unread(s: Symptom, r: Reading) -> bool:
    """The error is one of a text that was to be a number or one of a few words."""
    return bool(_CONVERSION.search(s.get("what") or s.text))


def _inner(r: Reading) -> tuple[Frame, ...]:
    """The innermost places of the ending, Python's own left out."""
    return tuple(f for f in r.ending.stack if f.owner != PYTHON)[-2:]


def _of_reader(frame: Frame) -> bool:
    """Whether a place is a framework's: by its package, or as compiled modules name their source, cupy/_util.pyx."""
    return frame.owner in _READERS or frame.file.split("/", 1)[0] in _READERS


def _at_import(s: Symptom, r: Reading) -> bool:
    """It was raised in a module of a framework that was just being imported."""
    last = _inner(r)[-1:]
    return bool(last) and _of_reader(last[0]) and last[0].function.startswith(("<module>", "init "))


def _configures(s: Symptom, r: Reading) -> bool:
    """It was raised where a framework reads its configuration."""
    return any(_of_reader(f) and _CONFIG.search(f.file) for f in _inner(r))


_PLAIN = no(field("value", "^(?:" + "|".join(_ELSEWHERE) + ")$"))

_MISPLACED = all_of(field("variable", "tf_xla_flags"), field("value", "--xla_"))

_BAD = (
    r"(?:(?:invalid|unknown|unrecogni[sz]ed|unsupported|unexpected|illegal|malformed|bad|wrong) [^\n]{0,30}?(?:value"
    r"|setting|option|flag|variable|argument|mode|type|choice|format|entry|key)s?"
    r"|(?:cannot|could not|failed to|unable to|couldn't|error) pars(?:e|ing)|couldn't interpret|unable to (?:read|use))"
)
_NO_GOOD = r"(?:invalid|unknown|unrecogni[sz]ed|unsupported|illegal|malformed|bad)"
_AMONG = r"(?:valid|allowed|supported|possible|known|available|accepted) (?:\w+ )?(?:are|is|values?|options?|choices?|backends?|algorithms?|modes?|levels?|types?|names?)"
_REFUSED = r"\b(?:must|not one of|is not among|expected|could not convert|invalid|unknown|unrecogni[sz]ed|unsupported|not (?:recogni[sz]ed|supported|understood|accepted|a valid))\b"
_DEMAND = r"(?:must be|must have|must match|isn't of|: expected|should be|has to be|needs to be|must contain|must start|is not (?:a )?(?:valid|supported|recogni[sz]ed|an? integer|a number)|is invalid|(?:cannot|could not|can't) be (?:parsed|interpreted|read|converted)|can only be|\bexpects?\b|only supports|got an? invalid)"


def _in_two(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """A variable in front of a program, as Unix shells take it: Windows sets it by itself, with the value that was typed."""
    said = next((one for one in symptoms if one.signature == "shell.unix_words"), None)
    if said is None:
        return
    name = said.get("variable")
    typed = re.search(rf"\b{name}=[\"']?([^\s\"':)]*)", reading.excerpt)
    value = said.get("value") or (typed[1] if typed else "") or "0"
    text = "Set the variable first, in this window, then type the rest of the command by itself"
    yield Fix(text, f"export {name}={word(value)}", safe=True, check="gpuwhy explain LOG")


_UNKNOWN_COMMAND = (
    r"(?:is not recogni[sz]ed|n.est pas reconnu|ist entweder falsch|wurde nicht als name|no se reconoce|não é reconhecid|non è riconosciut|не является"
    r"|不是内部或外部|は、内部コマンド|은\(는\) 내부|nie jest rozpoznawan|iç ya da dış)"
)

TEXT = Text(
    "env.setting",
    signatures=(
        error("setting.launcher", r"environment variable (?P<name>RANK|WORLD_SIZE|LOCAL_RANK|MASTER_ADDR"
              r"|MASTER_PORT)\b[^\n]{0,20}(?:expected|required|missing|not set)"
              r"|(?:missing|unset|required) environment variables?:? \W?(?P<name2>RANK|WORLD_SIZE|LOCAL_RANK"
              r"|MASTER_ADDR|MASTER_PORT)\b"
              r"|KeyError: '(?P<name3>RANK|WORLD_SIZE|LOCAL_RANK|MASTER_ADDR|MASTER_PORT)'",
              "environment variable", "keyerror: '", covers=("python.",)),
        error("setting.value", r"invalid value \(?\W{0,2}[\w:.-]{1,40}\W{0,2}\)? for configuration (?:variable|option)"
              r"|^(?:\w{1,20}: )?(?:export |set )?(?P<variable>triton_ptxas_path|triton_cuobjdump_path"
              r"|triton_libcuda_path)=\S", "configuration", "triton_"),
        error("shell.unix_words",
              rf"^\W{{0,3}}(?P<variable>(?-i:[A-Z][A-Z0-9_]{{3,40}}))(?:=(?P<value>[^'’ :]*))?['’]? ?(?::[^\n]*(?:cmdlet|командлет|コマンドレット|applet de commande)|{_UNKNOWN_COMMAND})|objectnotfound: \((?P<variable2>(?-i:[A-Z][A-Z0-9_]{{3,40}}))=(?P<value2>[^:)]*):",
              "cmdlet", "командлет", "コマンドレット", "applet", "objectnotfound", "recogni", "pas reconnu",
              "falsch geschrieben", "nicht als name", "se reconoce", "reconhecid", "riconosciut", "не является",
              "不是内部", "内部コマンド", "내부", "rozpoznawan", "ya da dış", covers=("python.exception", "shell.export")),
        error("shell.export",
              rf"^\W{{0,3}}(?P<command>export|unset|source)['’]? ?(?::[^\n]*(?:cmdlet|командлет|コマンドレット|applet de commande)|{_UNKNOWN_COMMAND})|objectnotfound: \((?P<command2>export|unset|source):",
              "'export", "'unset", "'source", "export :", "unset :", "source :", "objectnotfound", "’export"),
        error(
            "memory.allocator_option",
            r"unrecognized (?:key '?(?P<option>[\w.-]+)'? in (?:cuda )?allocator config|cachingallocator option:? *(?P<option2>[\w.-]+))"
            r"|error parsing (?:cachingallocator|(?:cuda )?allocator) (?:option|config)",
            "allocator config", "cachingallocator option", "error parsing cachingallocator", "error parsing allocator",
            covers=("python.",),
        ),
        error("setting.jax_backend", r"unknown backend:? '?(?!gpu|cuda|tpu|rocm)(?P<value>\w+)'?(?:\. available| requested)", "unknown backend", covers=("python.runtime",)),
        error("setting.jax_truth", r"invalid truth value '(?P<value>[^'\n]*)' for environment '(?P<variable>\w+)'", "invalid truth value",
              covers=("python.exception", "setting.refused")),
        error("setting.of_variable", r"invalid value for environment variable:? (?P<variable>[A-Z]\w+)", "for environment variable", covers=("python.", "peer.")),
        error("setting.jax_value", r"invalid value \"(?P<value>[^\"\n]*)\" for jax flag (?P<variable>jax_\w+)", "for jax flag",
              covers=("python.exception",)),
        error("setting.jax_device", r"jax\.default_device must be passed either a device object[^\n]*got: '?(?P<value>[^'\n]*)", "jax.default_device must be passed",
              covers=("python.exception",)),
        error("setting.jax_allocator", r"(?P<variable>xla_python_client_allocator) env var must be[^\n]*got \"?(?P<value>[^\"\n]*)", "xla_python_client_allocator",
              covers=("python.exception", "setting.refused")),
        error("setting.xla_unknown", r"(?P<variable2>xla_flags):? unknown flags?"
              r"|unknown flags? in (?P<variable>\w*xla_flags): ?(?P<value>[^\n]{0,120}?)(?=(?:aborted"
              r"|segmentation fault|\*\*\*|fatal python error)[^\n]*$|$)", "unknown flag", covers=("setting.refused",)),
        error("setting.xla_file", r"could not open file \"(?P<value>[^\"\n]*)\" to read flags for environment variable \"(?P<variable>\w+)\"",
              "to read flags for environment variable"),
        error("setting.xla_value", r"couldn't interpret value (?P<value>\S*) for flag (?P<flag>\w+)", "couldn't interpret value", covers=("setting.refused",)),
        echo("setting.xla_parse", r"check failed: tsl::flags::parse|flag parsing failed", "flag parsing failed", "flags::parse"),
        error("setting.tf_env", r"check failed: [^\n]*failed to parse the env-var \$\{(?P<variable>\w+)\} into (?P<type>\w+): (?P<value>[^.\n]*)", "failed to parse the env-var",
              covers=("setting.refused",)),
        error("setting.torch_logs", r"invalid log settings: (?P<value>[^,\n]*)", "invalid log settings"),
        error("setting.allocator", r"unknown allocator backend|in configtokenizer(?: but got '?(?P<value>[^'\n]*))?"
              r"|(?:cachingallocator|allocator) option (?P<option>\w+) (?:too small|is invalid|must)"
              r"|garbage_collect\w*_threshold[ is]* (?:is )?(?:invalid|too)|for roundups, the divisions"
              r"|(?:expected|invalid) [^\n]{0,40}(?:true/false|argument) for (?P<option2>expandable_segments"
              r"|\w*host_register\w*)",
              "configtokenizer", "unknown allocator backend", "allocator option", "garbage_collect", "for roundups, the", "for expandable_segments", "host_register",
              covers=("memory.allocator_option", "python.exception", "python.runtime")),
        error("setting.number", r"^(?:valueerror|std::invalid_argument|what\(\))\b:? *(?:std::)?(?P<what>sto(?:ull|ul|ll|l|i|d|f))\b", "sto", covers=("python.exception",)),
        error("setting.arch", r"unknown cuda arch \((?P<value>[^)\n]*)\)", "unknown cuda arch", covers=("python.exception",)),
        error("setting.numba", r"the threading layer requested '(?P<value>[^'\n]*)' is unknown to numba|number of threads specified must be > 0|no threading layer could be loaded",
              "unknown to numba", "number of threads specified must", "no threading layer could", covers=("python.exception",)),
        error("setting.cupy", r"unknown accelerator: (?P<value>\S+)", "unknown accelerator", covers=("python.exception",)),
        error("setting.keras", r"unable to import backend ?: ?(?P<value>\S+)", "unable to import backend", covers=("python.exception",)),
        error("setting.python", r"fatal python error: [^\n]{0,80}?\b(?P<variable>(?-i:PYTHON[A-Z0-9]{3,30}))\b",
              "fatal python error", covers=("setting.refused", "python.", "title.")),
        error("setting.among",
              rf"{_NO_GOOD}\b[^\n]{{0,80}}?(?<![\w/$])(?<!with )(?<!set )(?<!try )(?<!use )(?<!setting )(?<!set the environment variable ){VARIABLE}=(?!['\"]{{2}} to)\S|{_NO_GOOD} (?:value (?:of|for|in) )?{VARIABLE.replace('variable', 'variable2')}(?!\w)|(?<![\w/$]){VARIABLE.replace('variable', 'variable3')} ?= ?(?!['\"]{{2}} to)\S[^\n]{{0,60}}?(?:{_AMONG}|{_REFUSED}|{_DEMAND})|{_NO_GOOD}[^\n]{{0,80}}(?:requested|set|given|chosen|configured|selected|specified|taken) (?:via|by|through|in|from|with|using) (?:the )?(?:env\w* )?(?:variable )?{VARIABLE.replace('variable', 'variable4')}(?!\w)",
              "invalid", "unknown", "unrecogni", "unsupported", "illegal", "malformed", "bad ", "must", "not one of",
              "among", "expected", "could not convert", "not supported", "not understood", "not accepted",
              "not a valid", "valid ", "allowed ", "possible ", "has to be", "should be", "can only be", "is not",
              covers=("peer.", "python.exception", "python.runtime", "jax.unknown_backend", "setting.arch")),
        error("remark.variable",
              rf"(?<![\w/$]){VARIABLE}(?!\w)[^\n]{{0,60}}\b(?:left|leftover|still|forgotten|forgot|exported|was set|is set|were set|set)\b[^\n]{{0,30}}(?:environment|\benv\b|bashrc|zshrc|\.profile|bash_profile|dockerfile|unit file|shell|\bmodule\b|session|compose|job script|\bin my\b)"
              rf"|\b(?:exported|left|still had|still have|had set|forgot(?:ten)?)\b[^\n]{{0,30}}(?<![\w/$]){VARIABLE.replace('variable', 'variable2')}(?!\w)|(?<![\w/$]){VARIABLE.replace('variable', 'variable3')}=\S{{1,60}} (?:was )?in (?:my |the |our )?(?:\S{{0,12}}(?:bashrc|zshrc|profile)|environment|dockerfile|unit|env\b)"
              rf"|(?:unset(?:ting)?|without|removing|clearing) (?:that |the |this )?(?:variable|{VARIABLE.replace('variable', 'variable4')})[^\n]{{0,40}}\b(?:works?|uses|fine|ok|fast|runs|gpu|helps?|solve[sd]?|fixe[sd])\b|(?<![\w/$]){VARIABLE.replace('variable', 'variable5')}(?!\w)[^\n]{{0,120}}\buntil i unset",
              "left", "still", "forgot", "exported", " set", "unset", "without ", "removing ", "clearing ", "bashrc", "zshrc", "profile", "environment", "dockerfile", "unit"),
        told("setting.switch", r"(?<![\w/$])(?P<variable>(?-i:NUMBA_ENABLE_CUDASIM|NUMBA_DISABLE_CUDA|TRITON_INTERPRET"
             r"|ACCELERATE_USE_CPU|CUPY_DISABLE\w*))\s?=\s?['\"]?(?P<value>1|true|yes|on)\b"
             r"|(?<![\w/$])(?P<variable2>(?-i:JAX_PLATFORMS|JAX_PLATFORM_NAME|DS_ACCELERATOR|OLLAMA_LLM_LIBRARY"
             r"|TF_DEVICE))\s?=\s?['\"]?(?P<value2>cpu\w*)\b(?! \S*python)"
             r"|(?<![\w/$])(?P<variable3>(?-i:OLLAMA_NUM_GPU))\s?=\s?(?P<value3>0)\b",
             "numba_enable_cudasim", "numba_disable_cuda", "triton_interpret", "accelerate_use_cpu", "cupy_disable",
             "jax_platform", "ds_accelerator", "ollama_llm_library", "ollama_num_gpu", "tf_device"),
        error("setting.unknown", rf"unknown setting of {VARIABLE}", "unknown setting of", covers=("python.exception", "setting.refused")),
        error("setting.refused",
              rf"{_BAD} for (?:the )?env(?:ironment)? ?var(?:iable)?:? ['\"`]?(?P<variable3>(?-i:[A-Z][A-Z0-9_]{{2,60}}))|{_BAD}\b(?![^\n]{{0,80}}(?:run|rerun|try|debug) with )[^\n]{{0,90}}?(?<![\w/$]){VARIABLE}(?!\w)|(?<![\w/$]){VARIABLE.replace('variable', 'variable2')}(?!\w)[^\n]{{0,90}}?{_DEMAND}",
              "invalid", "unknown", "unrecogni", "unsupported", "unexpected", "illegal", "malformed", "parse", "couldn't interpret", "must be", "should be",
              "has to be", "is not a", "is not valid", "is not supported", "can only be", "must have", "must match",
              "isn't of", ": expected", "unable to read", "unable to use", "cannot be", "could not be", "expects",
              covers=("peer.", "python.exception", "python.runtime")),
    ),
    clues=(
        ("refused.setting", 4.0, "{name} holds a value that its reader does not take"),
        ("setting.launcher", 4.4, "{name} is not set, which a launcher (torchrun, srun) sets for every process", whole(r"environ\b|environment variable|torchrun|torch\.distributed")),
        ("setting.value", 4.6, "a setting has a value that the program does not take", whole(r"theano|ptxas fatal|configuration variable")),
        ("said.flag", 4.4, "{flag} has a value that its reader does not understand"),
        ("shell.unix_words", 5.4, "the prompt took {variable}=… for a program: a variable is set otherwise on Windows"),
        ("shell.export", 5.0, "export and unset are words of a Unix shell; this is a prompt of Windows"),
        ("setting.jax_platform", 5.5, "JAX does not accept {value} in JAX_PLATFORMS", _PLAIN),
        ("setting.jax_platform", 2.6, "JAX_PLATFORMS asks for a GPU, and JAX has no backend for it"),
        ("setting.jax_other", 4.0, "JAX_PLATFORMS makes JAX use {value}, which is not installed here; JAX_PLATFORMS=gpu includes {value}", field("value", "rocm")),
        ("setting.jax_other", 4.0, "JAX_PLATFORMS asks for {value}, which is not installed here", no(field("value", "rocm"))),
        ("setting.jax_chosen", 2.6, "JAX_PLATFORMS or JAX_PLATFORM_NAME asks for {value}, and JAX has no backend of that name"),
        ("setting.jax_backend", 3.6, "JAX is asked for the platform {value}, which it does not know, as by JAX_PLATFORM_NAME"),
        ("setting.jax_none", 2.6, "JAX found no platform that JAX_PLATFORMS allows"),
        ("setting.python", 4.8, "{variable} has a value that Python does not accept"),
        ("setting.warnings", 4.2, "{name}, a warning of {by}, ended the program: warnings are made errors (-W error, PYTHONWARNINGS, a filter)"),
        ("setting.unread", 3.8, "{by} could not read the value {value}, which it takes from its settings ({where})"),
        ("setting.jax_truth", 6.0, "{variable} holds {value}, which is neither yes nor no"),
        ("setting.jax_value", 5.5, "JAX does not accept the value {value} for {variable}"),
        ("setting.jax_device", 4.5, "JAX_DEFAULT_DEVICE holds {value}, which is no device"),
        ("setting.jax_allocator", 6.0, "{variable} is {value}: JAX has no allocator of that name"),
        ("setting.xla_unknown", 6.0, "{variable} does not accept the flag {value}: flags that begin with --xla_ belong in XLA_FLAGS", _MISPLACED),
        ("setting.xla_unknown", 6.0, "{variable} has a flag that this release of XLA does not accept: {value}", no(_MISPLACED)),
        ("setting.xla_file", 6.0, "{variable} does not start with two dashes, so it was taken for a file: {value}"),
        ("setting.of_variable", 6.0, "{variable} has a value that its reader does not accept"),
        ("setting.xla_value", 5.5, "XLA does not accept the value {value} for {flag}, which XLA_FLAGS or TF_XLA_FLAGS sets"),
        ("setting.xla_parse", 4.5, "XLA cannot read the flags in XLA_FLAGS"),
        ("setting.tf_env", 6.0, "{variable} holds {value}, which TensorFlow cannot read as {type}"),
        ("setting.torch_logs", 6.0, "PyTorch does not accept {value} in TORCH_LOGS"),
        ("setting.allocator", 5.5, "PYTORCH_CUDA_ALLOC_CONF has an option that PyTorch does not accept: {option} {value}"),
        ("memory.allocator_option", 6.0, "PYTORCH_CUDA_ALLOC_CONF holds an option that PyTorch does not know: {option}"),
        ("setting.number", 3.2, "PyTorch expected a number: probably the value of PYTORCH_CUDA_ALLOC_CONF"),
        ("setting.arch", 5.0, "PyTorch does not accept {value} in TORCH_CUDA_ARCH_LIST"),
        ("setting.numba", 4.0, "NUMBA_THREADING_LAYER or NUMBA_NUM_THREADS has a value that Numba does not accept"),
        ("setting.among", 5.0, "{variable} has a value that its reader does not accept"),
        ("setting.switch", 3.4, "{variable}={value} turns the GPU off for its reader", alone_beside("title.", "jax.",
            "generic.", "python.", "remark.", "torch.unavailable", "setting.")),
        ("remark.variable", 4.8, "{variable} is set, and was meant for something else"),
        ("remark.echoed", 5.0, "{variable} holds {value}, which the error refuses"),
        ("setting.unknown", 5.5, "{variable} has a value that is not accepted"),
        ("setting.refused", 4.2, "{variable} has a value that is not accepted"),
        ("setting.keras", 5.0, "Keras does not accept {value} in KERAS_BACKEND"),
        ("setting.cupy", 5.0, "CuPy does not accept {value} in CUPY_ACCELERATORS"),
        *((ending, 5.0, "{variable} has a value of the wrong type: {what}", all_of(_STEERS, _unread)) for ending in ("ending.inside", "ending.own")),
        *((ending, 4.6, "a framework cannot read its configuration; this happens with a wrong value in a variable: {what}", all_of(_unread, _configures)) for ending in _ENDS),
        *((ending, 4.4,
           "a framework cannot read a number while it is imported; this happens with a wrong value in a variable: {what}",
           all_of(field("what", _NUMBER), _at_import)) for ending in _ENDS),
        ("jax.unknown_backend", 1.6, "JAX_PLATFORMS or JAX_PLATFORM_NAME may ask for a platform that is not there"),
    ),
    remedies=(
        meant("Let warnings be warnings again", "unset PYTHONWARNINGS", said="setting.warnings", safe=True),
        meant("Or type it as it was in a Unix shell: Git Bash, or WSL", said="shell.unix_words", safe=True),
        meant("Set variables in this window by Windows' own words (cmd: without quotes around the value), then go on",
              "export CUDA_VISIBLE_DEVICES=0", said="shell.export", safe=True),
        meant("Unset the variable in this shell, or leave out the flag that is named", "unset TF_XLA_FLAGS", said="setting.xla_unknown", line="in tf_xla_flags", safe=True),
        meant("Unset the variable in this shell, or leave out the flag that is named", "unset XLA_FLAGS", said="setting.xla",
              line=r"^(?!.*(?:in tf_xla_flags|flag tf_xla_))", safe=True),
        meant("List the flags that this release knows: a wrong value, given on purpose, makes JAX print them and stop",
              on.linux("XLA_FLAGS=--xla_backend_optimization_level=x python -c 'import jax; jax.devices()' 2>&1 | head -400"),
              said="setting.xla_unknown", by="jax", safe=True, look=True),
        meant("Unset the variables in this shell, so that JAX chooses the platform itself",
              "unset JAX_PLATFORMS JAX_PLATFORM_NAME", said="setting.jax_platform setting.jax_other setting.jax_chosen setting.jax_backend setting.jax_none jax.unknown_backend setting.jax_device",
              safe=True),
        meant("Or set the platforms by JAX's names", "export JAX_PLATFORMS=cuda,cpu", said="setting.jax_platform", safe=True),
        meant("Unset the variable in this shell", "unset {variable}", said="setting.tf_env setting.jax_truth setting.jax_allocator setting.unknown setting.refused",
              line=r"(?P<variable>(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+))", safe=True),
        meant("Unset the variable of the same name in capital letters, in this shell", on.linux("unset $(echo {flag} | tr a-z A-Z)"),
              said="setting.jax_value", line=r"jax flag (?P<flag>jax_\w+)", safe=True),
        meant("Unset the allocator's options in this shell; the right form is key:value, separated by commas",
              "unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF", said="setting.allocator memory.allocator_option setting.number",
              safe=True),
        meant("Unset the variable in this shell", "unset TORCH_LOGS", said="setting.torch_logs", safe=True),
        meant("Write architectures as PyTorch does: 8.0, not compute_80 or sm_80; separate several with semicolons",
              "export TORCH_CUDA_ARCH_LIST='8.0;8.6+PTX'", said="setting.arch", safe=True),
        meant("Check which variables of the GPU stack are set", on.linux("env | grep -E '^(CUDA|NCCL|XLA|JAX|TF|TORCH|PYTORCH|TRITON|NUMBA|CUPY|CUBLAS)'"), safe=True, look=True),
        meant("The flag {flag} stands in TF_XLA_FLAGS, which takes flags alone, parted by blanks, with no path and no colon: set it anew (or unset it)",
              "export TF_XLA_FLAGS=--{flag}", said="setting.xla said.flag", line=r"flag (?P<flag>tf_xla_(?!auto_jit)\w+)",
              safe=True),
        meant("The flag {flag} stands in TF_XLA_FLAGS, which takes flags alone, parted by blanks, with no path and no colon: set it anew, with a number (1 or 2)",
              "export TF_XLA_FLAGS=--{flag}=2", said="setting.xla said.flag", line=r"flag (?P<flag>tf_xla_auto_jit)",
              safe=True),
        meant("Unset the variable in this shell (put its name in place of VARIABLE)", "unset VARIABLE", safe=True),
    ),
    admitted_by=NO_GPU,
    named=_in_two,
    first=by_its_name,
)  # fmt: skip
