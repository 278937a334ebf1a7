"""Shapes: which two sizes, types or devices a refused operation names, and what would make them agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.where import at_spot

Reading = re.Match[str]
Told = Callable[[Reading, str], tuple[str, str]]
"""What two figures mean: of the match and the place the sentence and the line of the program."""


def _matmul(found: Reading, here: str) -> tuple[str, str]:
    text = f"The layer{here} takes {found['rows']} inputs and gets {found['columns']}: make it nn.Linear({found['columns']}, {found['out']}), or flatten or crop the input so that its last size is {found['rows']}"
    return text, on.code(f"nn.Linear({found['columns']}, {found['out']})")


def _channels(found: Reading, here: str) -> tuple[str, str]:
    text = f"The convolution{here} takes {found['wants']} channels and gets {found['gets']}: set its in_channels to {found['gets']}, or move the channels to the second place (N, C, H, W)"
    return text, on.code("x = x.permute(0, 3, 1, 2)    # where the channels come last")


def _elementwise(found: Reading, here: str) -> tuple[str, str]:
    text = f"Two tensors of sizes {found['one']} and {found['other']} meet{here} in dimension {found['at']}: crop or pad one, or give it a size of 1 there (unsqueeze) to have it repeated"
    return text, on.code("print(a.shape, b.shape)")


def _input(found: Reading, here: str) -> tuple[str, str]:
    text = f"The model was exported for {found['wants']} where {found['gets']} was given{here}: export it with that size left open, or feed inputs of {found['wants']}"
    return text, on.code(
        "torch.onnx.export(model, x, FILE, input_names=['input'], dynamic_axes={'input': {0: 'batch'}})"
    )


def _classes(found: Reading, here: str) -> tuple[str, str]:
    text = f"The loss{here} gets a target of shape or batch {found['two']} for an input of {found['one']}: give both the same first size, and class numbers (not one-hot rows) as target"
    return text, on.code("print(output.shape, target.shape, target.dtype)")


def _devices(found: Reading, here: str) -> tuple[str, str]:
    text = f"Tensors on different devices meet{here}: move the inputs, and every tensor that the program makes itself, to the model's device"
    return text, on.code("device = next(model.parameters()).device; batch = batch.to(device)")


def _types(found: Reading, here: str) -> tuple[str, str]:
    text = (
        f"Input and weights have different types{here}: give the input the type of the weights, or let autocast do it"
    )
    return text, on.code("x = x.to(next(model.parameters()).dtype)    # or: with torch.autocast('cuda'): y = model(x)")


def _kind(found: Reading, here: str) -> tuple[str, str]:
    wants = {"Long": "long", "Int": "int", "Float": "float", "Double": "double", "Half": "half", "Bool": "bool", "BFloat16": "bfloat16", "Byte": "byte"}  # fmt: skip
    name = wants.get(found["wants"], "to(TYPE)")
    return f"The operation{here} takes {found['wants']} and gets {found['gets']}: convert it before the call", on.code(f"x = x.{name}()")  # fmt: skip


def _on_cpu(found: Reading, here: str) -> tuple[str, str]:
    text = f"Half precision runs on the GPU only{here}: move model and input there, or load the model as float32 on the CPU"
    return text, on.code("model = model.float()    # or: model.cuda(); x = x.cuda()")


def _masked(found: Reading, here: str) -> tuple[str, str]:
    text = "cuDNN's LSTM and GRU take masks of rows that are filled from the left and never empty: pad on the right (padding='post'), drop empty rows, or leave cuDNN's kernel out"
    return text, on.code(
        "tf.keras.layers.LSTM(UNITS, use_cudnn=False)    # TensorFlow before 2.16: recurrent_dropout=1e-9"
    )


def _parts(found: Reading, here: str) -> tuple[str, str]:
    text = f"The layout is none that cuDNN takes{here}: make the input contiguous, or leave cuDNN out of this call"
    return text, on.code("x = x.contiguous()    # or: with torch.backends.cudnn.flags(enabled=False): y = layer(x)")


_READ: tuple[tuple[Later, Told], ...] = tuple((Later(shape, re.IGNORECASE), told) for shape, told in (
    (r"shapes cannot be multiplied \(\d+x(?P<columns>\d+) and (?P<rows>\d+)x(?P<out>\d+)\)", _matmul),
    (r"size mismatch, m1: \[\d+ ?x ?(?P<columns>\d+)\], m2: \[(?P<rows>\d+) ?x ?(?P<out>\d+)\]", _matmul),
    (r"expected input\[[^\]]*\] to have (?P<wants>\d+) channels, but got (?P<gets>\d+)", _channels),
    (r"size of tensor a \((?P<one>\d+)\) must match the size of tensor b \((?P<other>\d+)\) at non-singleton dimension (?P<at>\d+)", _elementwise),
    (r"index: \d+ Got: (?P<gets>\d+) Expected: (?P<wants>\d+)", _input),
    (r"expected input batch_size \((?P<one>\d+)\) to match target batch_size \((?P<two>\d+)\)", _classes),
    (r"same device|different (?:devices?|gpus?)|is on cpu, but|expected object of (?:device type|backend) c|on cuda:\d, but|not on the same", _devices),
    (r"input type \((?:torch\.)?(?!cuda)\w+\) and (?:weight|bias) type \((?:torch\.)?cuda"
     r"|input type \((?:torch\.)?cuda[^)]*\) and (?:weight|bias) type \((?!(?:torch\.)?cuda)", _devices),
    (r"input type \([^)]{1,40}\) and (?:weight|bias) type|must have the same dtype|same dtype, but got|mat1 and mat2 must have", _types),
    (r"expected (?:scalar type|object of scalar type|tensor for .{1,40} to have scalar type) (?P<wants>\w+)(?:,? but (?:found|got)(?: scalar type)?) (?P<gets>\w+)", _kind),
    (r"not implemented for '(?P<gets>Half|BFloat16)'", _on_cpu),
    (r"cudnnSetRNNDataDescriptor|CudnnRNN", _masked),
    (r"non-contiguous|NOT_SUPPORTED|contiguous input", _parts),
))  # fmt: skip
"""A message's figures, and what they mean; the first that is found in the deciding lines, then in the text."""


def agreeing(case: Asked) -> Iterator[Fix]:
    """What the figures of the message mean at the user's place; then how to see them."""
    here = at_spot(case.frame)
    for text in (case.lines, case.text):
        found = next(((told, match) for shape, told in _READ if (match := shape.search(text))), None)
        if found:
            yield tried(*found[0](found[1], here))
            break
    yield tried(f"Print shape, type and device of what goes into the call{here or ' that fails'}, and compare with what the layer was made for", on.code("print(x.shape, x.dtype, x.device)"))  # fmt: skip
    if case.framework in ("torch", ""):
        yield tried("Run the step on the CPU: its message names the two sizes", "CUDA_VISIBLE_DEVICES= python PROGRAM")
