"""ONNX Runtime."""

from __future__ import annotations

from gpuwhy.symptoms.signature import Signature, context, echo, error

SIGNATURES: tuple[Signature, ...] = (
    context("ort.provider_load", r"failed to load (?:shared )?library \S*onnxruntime_providers_(?P<provider>\w+)",
            "onnxruntime_providers"),
    echo(
        "ort.create_failed",
        r"failed to create (?P<provider>cuda|tensorrt|nvtensorrtrtx)executionprovider"
        r"(?:[^\n]*require(?:s)? cudnn (?P<cudnn>[\d.*]+) and cuda (?P<cuda>[\d.*]+))?",
        "failed to create cudaexecutionprovider", "failed to create tensorrtexecutionprovider",
        "failed to create nvtensorrt",
    ),
    error(
        "ort.not_available",
        r"provider '?cudaexecutionprovider'? is not in available|available providers: '?(?!.*cudaexecution)[\w', ]*"
        r"cpuexecutionprovider|providers \[(?![^\]]*cuda)[^\]]*'cpuexecutionprovider'\]"
        r"|\[(?:'azureexecutionprovider', )?'cpuexecutionprovider'\]",
        "is not in available", "available providers", "'cpuexecutionprovider']",
    ),
    error("ort.load_shared", r"appendexecutionprovider\w*: failed to load shared library|failed to load onnxruntime_providers\w*\.(?:dll|so), error code: ?(?P<number>\d+)",
          "failed to load shared library", "failed to load onnxruntime_providers"),
    error("ort.cuda_path", r"cuda_path is set but cuda wasn'?t able to be loaded", "cuda_path is set but"),
    error("ort.two_packages", r"multiple onnxruntime packages|onnxruntime packages are installed", "onnxruntime packages"),
    error(
        "ort.partial",
        r"module ['\"]?onnxruntime['\"]? has no attribute ['\"](?P<name>\w+)['\"]|cannot import name '(?P<name2>\w+)' from"
        r" 'onnxruntime",
        "'onnxruntime' has no attribute", "from 'onnxruntime",
        covers=("python.attribute", "python.import_name"),
    ),
    error(
        "ort.arena",
        r"bfcarena[:\w]*\W{1,3}failed to allocate memory for requested buffer of size (?P<wanted>\d+)",
        "failed to allocate memory for requested buffer",
    ),
    error(
        "ort.arena_small",
        r"available memory of (?P<free>\d+) is smaller than requested bytes of (?P<wanted>\d+)",
        "is smaller than requested bytes",
    ),
    error(
        "ort.invalid_input",
        r"got invalid dimensions for input|unexpected input data type|invalid_argument ?: ?(?:got invalid|invalid feed|"
        r"unexpected|invalid rank)|invalid rank for input",
        "invalid dimensions for input", "unexpected input data type", "invalid_argument", "invalid rank for input",
    ),
    error("ort.no_model", r"no_?suchfile|load model from [^\n]{1,300}? failed: ?(?:load model|protobuf parsing|this is an invalid model)|invalid_protobuf",
          "no_suchfile", "nosuchfile", "load model from", "invalid_protobuf"),
    error("ort.not_implemented", r"not_implemented ?: ?(?:could not|failed to) find an implementation", "find an implementation"),
    context("ort.here", r"onnxruntime", "onnxruntime"),
)  # fmt: skip
