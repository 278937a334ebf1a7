"""pip, conda and wheels: resolution, platforms, damaged downloads, rivals."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error, told

_GPU = (
    r"(?P<package>(?:py)?torch(?:vision|audio)?|tensorflow[\w-]*|tf-nightly[\w-]*|jaxlib|jax[\w-]*|onnxruntime[\w-]*|cupy[\w-]*|nvidia-[\w-]+"
    r"|triton|bitsandbytes|xformers|flash[-_]attn|tensorrt[\w-]*)"
)

SIGNATURES: tuple[Signature, ...] = (
    error("packages.no_match", rf"(?:no matching distribution found for|could not find a version that satisfies the requirement) {_GPU}\b"
          r"(?:[=<>~! ]*(?P<version>[\d.]+[\w.+]*))?", "no matching distribution found", "could not find a version that satisfies"),
    error("packages.no_match_other", r"(?:no matching distribution found for|could not find a version that satisfies)", "no matching distribution found",
          "could not find a version that satisfies"),
    error("packages.no_suitable", rf"(?:could not find suitable distribution|no local packages or working download)[^\n]*{_GPU}?", "suitable distribution",
          "working download"),
    error("packages.wrong_platform", r"(?P<wheel>[\w.+-]+) is not a supported wheel on this platform|didn'?t find wheel for|not compatible with the current platform"
          r"|no wheels? (?:with a matching|for this)|doesn't have a (?:source distribution or )?wheel for the current platform|not supported wheel",
          "is not a supported wheel", "find wheel for", "the current platform", "matching python", "matching platform tag", "not supported wheel"),
    error("packages.gpu_removed", r"tensorflow-gpu[^\n]*(?:has been removed|is removed|deprecated)|downloading tensorflow[-_]gpu-2\.12\.0\.tar\.gz|^\s*python_version>\"3\.7\"$",
          "tensorflow-gpu", "tensorflow_gpu-2.12", "python_version>"),
    error("packages.pinned_cudnn", r"(?P<package>torch|tensorflow|jax[\w-]*|onnxruntime[\w-]*) (?P<release>[\d.]+\S*) (?:depends on|requires) nvidia-cudnn(?:-cu\d+)?"
          r"(?:\[[\w,]*\])?[ (]*(?P<wanted>[=<>~!]=?[\d.]+)", "on nvidia-cudnn", "requires nvidia-cudnn"),
    error("packages.virtual_cuda", r"nothing provides (?:requested )?__cuda|::__cuda==|requires? (?:virtual package )?__cuda|package __cuda", "__cuda"),
    context("packages.wheel", rf"{_GPU}-(?P<version>\d[\w.]*?)(?:\+(?P<local>\w+))?-(?P<tags>cp\d+-\w+-(?P<platform>\w+))\.whl(?: \((?P<size>[\d.]+) (?P<unit>[kMG]B)\))?",
            ".whl"),
    error("packages.node_binding",
          r"cannot find module '[^'\n]*\.node'|binding\.gyp not found|could not locate the bindings file"
          r"|node-pre-gyp err", ".node'", "binding.gyp not found", "bindings file",
          "node-pre-gyp err"),
    told("told.tflow_select", r"^[\s#]*_tflow_select\s+\S+\s+(?P<build>\w+)", "_tflow_select"),
    told("told.index_cpu", r"whl/cpu\b|\+cpu\b", "whl/cpu"),
)  # fmt: skip
