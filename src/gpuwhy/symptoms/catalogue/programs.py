"""Mistakes of the program itself: shapes, types, indices, forks, kernels out of bounds."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error

SIGNATURES: tuple[Signature, ...] = (
    context("caffe.setup", r"caffe::\w+<?>?::(?:reshape|layersetup|init)\b", "caffe::"),
    error(
        "program.index",
        r"index out of range in self|target (?P<value>-?\d+) is out of bounds|index(?: -?\d+)? (?:is )?out of bounds"
        r"|indices\[[\d,]+\] = (?P<index>-?\d+) is not in \[0, ?(?P<limit>\d+)\)|indices\[[\d,]+\] = \[[-\d, ]+\] (?:is out of bounds|does not index)"
        r"|slice index -?\d+ of dimension \d+ out of bounds|segment ids? (?:are|is) not"
        r"|labels? \S{1,20} (?:is |are )?(?:not in|out of) range|label value of -?\d+ (?:which )?is outside"
        r"|received a label value of|index out of range: tried to access index|must be smaller than the embedding layer.{0,3} input dimension|srcindex < srcselectdimsize"
        r"|t >= 0 && t < n_classes|cur_target >= 0|tried to access (?:out of bounds|index)",
        "index out of range in self", "is out of bounds", "index out of bounds", "is not in [0", "not in range",
        "label ", "labels ", "does not index into", "segment id", "label value", "srcindex <",
        "embedding layer", "n_classes", "cur_target", "index out of range: tried", "out of bounds",
        covers=("python.exception",),
    ),
    error(
        "program.shape",
        r"mat1 and mat2 shapes? cannot be multiplied|size mismatch,? m1|shape '?\[[^\]]*\]'? is invalid for input of size"
        r"|the size of tensor \w+ \(-?\d+\) must match|given groups=\d+, weight of size|expected (?:\d|4-d|3-d)[^\n]{0,80}input"
        r"[^\n]*(?:got|but)|input\.size\(-1\) must be equal to input_size|sizes of tensors must match|incompatible shapes:"
        r"|dimensions must be equal|matrix size-incompatible|(?<!passed in a )non-contiguous|is not contiguous|shapes? [^\n]{0,40}(?:not aligned|"
        r"are incompatible|mismatch)|running_mean should contain|expected hidden\[0\] size|must have the same (?:shape|size)"
        r"|input must have (?:\d|at least)|only batches of spatial targets|tensor size mismatch"
        r"|expected input[^\n]*to have \d+ channels|expects each tensor to be equal size"
        r"|only supports? (?:fp16|bf16|half|float\w*)[^\n]{0,20}(?:data ?type|dtype)|number of channels"
        r"|depth must be (?:evenly )?(?:a multiple|divisible)"
        r"|depth of input \(\d+\) is not a multiple|input and filter must have|must be rank \d but is rank"
        r"|shape must be rank|negative dimension size caused by|input to reshape is a tensor with"
        r"|dimensions of inputs should match|logits and labels must (?:be broadcastable|have the same)"
        r"|required broadcastable shapes|cannot feed value of shape|is incompatible with the layer"
        r"|in\[0\] mismatch in\[1\]"
        r"|view size is not compatible with input tensor|(?:cannot|can't) (?:view|reshape) (?:a )?(?:tensor|array|non-contiguous)|shape mismatch: (?:value|indexing) "
        r"|computed output size would be negative|inputs to operation [^\n]*must have the same size",
        "is not a multiple of input depth", "input and filter", "be rank ", "negative dimension size",
        "input to reshape", "dimensions of inputs", "logits and labels", "broadcastable shapes", "cannot feed value",
        "incompatible with the layer", "view size is", "cannot reshape", "cannot view", "can't view", "shape mismatch: ", "in[0] mismatch", "would be negative",
        "shapes cannot be multiplied", "shape cannot be multiplied", "size mismatch", "is invalid for input of size", "must match",
        "weight of size", "expected ", "must be equal", "incompatible shapes", "matrix size-incompatible", "contiguous",
        "not aligned", "are incompatible", "shape mismatch", "shapes mismatch", "running_mean", "must have", "spatial targets",
        "number of channels", "depth must be", "each tensor to be equal", "only support fp16", "only supports fp16", "only support bf16", "only supports half",
    ),
    error("program.shape_words",
          r"(?:error: |error\()(?![^\n]{0,200}(?:concrete value|key data|ndim))[^\n]{0,80}(?:torch\.size|\bshapes?\b"
          r"|\bdimensions?\b|\bsizes?\b)[^\n]{0,80}(?:must|mismatch|expected|\bgot\b|\bsame\b|incompatible|invalid"
          r"|does not match|doesn't match)"
          r"|(?:error: )(?![^\n]{0,200}(?:concrete value|key data|ndim))[^\n]{0,80}(?:must|mismatch|expected|same"
          r"|incompatible|invalid)[^\n]{0,60}(?:torch\.size|\bshapes?\b|\bdimensions?\b)"
          r"|error: [^\n]{0,160}(?:kernel|input|output|padding|window|image|patch|batch"
          r"|sequence) size[^\n]{0,80}(?:greater than|too small|less than|larger than|smaller than|not divisible"
          r"|non-?positive|negative)"
          r"|error: [^\n]{0,80}(?:expected more than \d+ values? per|negative dimension"
          r"|should have at least \w+ dimensions?|(?:do|does) not broadcast|square matri|non-positive stride"
          r"|(?:channels?|heads?|dim|embed_dim|hidden_size|groups|features|size)\b[^\n]{0,40}(?:must"
          r"|should) be (?:evenly )?divisible by)", "error: ", "error(", covers=("python.exception",)),
    error(
        "program.devices",
        r"expected all tensors to be on the same device|to have the same device as tensor for|tensors? (?:to be|is|are) on (?:the same|different) (?:device|gpu)"
        r"|is on cpu, but expected|expected (?:object of|tensor)[^\n]*backend (?:cuda|cpu)|can't convert cuda(?::\d+)? device type tensor"
        r"|must be on the (?:same|current) device|arguments are located on different gpus|input and (?:parameter|hidden) tensors are not (?:at|on) the same device"
        r"|module must have its parameters and buffers on device|expected an? '\w+' device type for generator but found '\w+'|\(cpu tensor\?\)"
        r"|expects? (?:all |its |the )?(?:tensors?|inputs?|arguments?|operands?) (?:to be )?on (?:the )?(?:cuda|gpu|cpu)\b[^\n]{0,40}(?:got|but|found)"
        r"|expected device (?:cuda|cpu|gpu)(?::\d+)? but got|unsupported device in dltensor|no backend type associated with device type"
        r"|(?:must|should|have to|needs? to) be (?:a |an )?(?:\dd )?(?:on (?:the )?)?(?:cpu|cuda|gpu)(?: \w+)? tensors?",
        "expected device", "device in dltensor", "associated with device type", "cpu int64 tensor", "cpu tensor", "cuda tensor", "gpu tensor",
        "same device", "current device", "but expected all tensors", "backend cuda", "device type tensor", "different gpus", "parameters and buffers on device",
        "different devices", "backend cpu", "is on cpu, but", "device type for generator", "(cpu tensor?)", "expects", "expect ",
        covers=("python.exception",),
    ),
    error(
        "program.layout",
        r"(?:conv2d|conv2dcustombackpropinput\w*|biasop|bias op|the conv2d op|maxpoolingop|fused\w+)[^\n]{0,60}only supports? nhwc"
        r"|nchw[^\n]{0,40}(?:not supported|only supported|is not)|cpu[^\n]*nchw|tensors? (?:must|should|has to|needs? to) be contiguous",
        "be contiguous", "only supports nhwc", "only support nhwc", "nchw",
    ),
    context(
        "program.fork_here",
        r"\bos\.fork\b|multiprocessing[/.](?:context|popen_fork|process)|start_method[^\n]*fork|forkpoolworker|\bafter fork",
        "os.fork", "popen_fork", "forkpoolworker", "start_method", "after fork",
    ),
    error("program.illegal_words", r"illegal (?:memory|address|access)|out[- ]of[- ]bounds (?:memory|access|read|write|global)"
          r"|invalid global (?:read|write)", "illegal memory", "illegal address", "illegal access", "out-of-bounds", "out of bounds",
          "invalid global"),
)  # fmt: skip
