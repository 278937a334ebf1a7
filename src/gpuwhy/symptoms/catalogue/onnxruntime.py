"""ONNX Runtime."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, echo, error

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
        r"provider '?cudaexecutionprovider'? is not in available"
        r"|\bcudaexecutionprovider\W{0,2} (?:is |was )?(?:not (?:ava\w+|found|supported|enabled|present|in the list)"
        r"|unavailable|missing)",
        "cudaexecutionprovider", "is not in available", covers=("ort.listed",),
    ),
    error(
        "ort.listed",
        r"available providers: '?(?!.*cudaexecution)[\w', ]*cpuexecutionprovider"
        r"|providers \[(?![^\]]*cuda)[^\]]*'cpuexecutionprovider'\]|\[(?:'azureexecutionprovider', )?'cpuexecutionprovider'\]",
        "available providers", "'cpuexecutionprovider']",
    ),
    error("ort.load_shared", r"appendexecutionprovider\w*: failed to load shared library|failed to load onnxruntime_providers\w*\.(?:dll|so), error code: ?(?P<number>\d+)",
          "failed to load shared library", "failed to load onnxruntime_providers"),
    error("ort.cuda_path", r"cuda_path is set but cuda wasn'?t able to be loaded", "cuda_path is set but"),
    error(
        "ort.partial",
        r"module ['\"]?onnxruntime['\"]? has no attribute ['\"](?P<name>\w+)['\"]|cannot import name '(?P<name2>\w+)' from"
        r" 'onnxruntime",
        "'onnxruntime' has no attribute", "from 'onnxruntime",
        covers=("python.attribute", "python.import_name"),
    ),
    error(
        "ort.arena",
        r"(?:bfcarena[:\w]{0,60}\W{1,3}|status message: )?failed to allocate memory for requested buffer of size (?P<wanted>\d+)",
        "failed to allocate memory for requested buffer",
    ),
    context("ort.here", r"onnxruntime", "onnxruntime"),
)  # fmt: skip
