"""program.shape in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.conditions import all_of, field, line, no, own_call, whole, with_
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.shapes import agreeing

TEXT = Text(
    "program.shape",
    signatures=(
        error("program.dimensions",
              r"\bdimension ?mismatch\b|\bhas dimensions \([\d, ]{1,40}\)[^\n]{0,30}\bbut\b[^\n]{0,20}dimensions"
              r"|\bshape mismatch in \w{1,30}\b|unsupported memory format option", "dimension", "shape mismatch in",
              "memory format option", covers=("title.", "python.", "torch.")),
        error("program.shape_runtime",
              r"(?:unexpected|wrong|invalid|incompatible|inconsistent) (?:shape|dimensions?|rank|data ?type"
              r"|dtype)s?\b[^\n]{0,40}\binputs?\b|expected[^\n]{0,40}\brank[ =(]{0,2}\d[^\n]{0,40}\bgot rank"
              r"|static dimension mismatch|shape inconsistent|inferred shape ?="
              r"|dimensions? (?:are|is) \[[^\]\n]{1,80}\][^\n]{0,20}expected dimensions?"
              r"|check failed: [\w.>()\[\]-]{1,80} == [\w.>()\[\]-]{1,80} \(-?\d+ vs\.? -?\d+\)[^\n]{0,160}(?:incompatible"
              r"|dimension|\bsize|channel|shape|match|rank|axes|width|height)"
              r"|(?:tensor|input|operand|variable)'?s? (?:dimension|shape|rank|width"
              r"|size)s?\b[^\n]{0,80}(?:must be equal|should be equal|must match|but received|is not equal)"
              r"|unexpected datatype \w+ for input|filters= in the \[convolutional\]"
              r"|has (?:the )?wrong shape\b[^\n]{0,10}expected|expects? (?:an )?input of [\dx]{3,40}, (?:but )?got"
              r"|input shape [\dx]{3,40} does not match",
              "for input", "inputs", "got rank", "static dimension", "shape inconsistent", "inferred shape",
              "expected dimension", "check failed: ", "be equal", "must match", "but received", "not equal",
              "unexpected datatype", "filters= in", "wrong shape", "input of ", "input shape ", covers=("python.",
                  "program.shape", "program.shape_words", "title.")),
        error(
            "ort.invalid_input",
            r"got invalid dimensions for input|unexpected input data type|invalid_argument ?: ?(?:got invalid|invalid feed|"
            r"unexpected|invalid rank)|invalid rank for input",
            "invalid dimensions for input", "unexpected input data type", "invalid_argument", "invalid rank for input",
        ),
        error("ort.not_implemented", r"not_implemented ?: ?(?:could not|failed to) find an implementation", "find an implementation"),
        error(
            "program.dtype",
            r"expected (?:scalar type|object of (?:scalar )?type|m1 and m2 to have the same dtype|tensor for argument)[^\n]*(?:but|got|found)"
            r"|input type \([^)]*\) and (?:weight|bias) type \([^)]*\) should be the same|mat1 and mat2 must have the same dtype"
            r"|(?:expected|should have|have) (?:the same|same) dtype|unsupported data ?type|not implemented for '(?:half|bfloat16|long|int|bool"
            r"|double|float8\w*)'|expected dtype|dtype mismatch|expected [^\n]{0,40}to have (?:dtype|type) [^\n]{0,60}but got",
            "to have dtype", "to have type", "expected scalar type", "expected object of", "expected tensor for argument", "should be the same", "same dtype",
            "not implemented for '", "expected dtype", "dtype mismatch", "unsupported data type", "unsupported datatype",
        ),
        error("tf.empty_batch", r"batch_descriptor: \{count: 0\b", "batch_descriptor: {count: 0", covers=("tf.conv_check",)),
    ),
    clues=(
        ("program.dimensions", 4.2, "an operator got arrays whose dimensions or layout do not fit", whole(r"cuda|gpu|cublas|cudnn|tensor|torch|jax|\bcu\w*array|candle|matmul|gemm|nvidia")),
        ("said.backend_of_tensor", 3.8, "a tensor on the CPU is given to NCCL, which takes those of the GPU only"),
        ("said.scalar", 4.0, "elements of a GPU array are read one by one, which is not allowed"),
        ("cublas.invalid_value", 3.0,
         "cuBLAS refuses the sizes of a product in single precision: two shapes do not fit", all_of(field("call",
            r"cublas[sd]ge(?:mm|mv)\b"), lambda s, r: r.lines > 2)),
        ("program.shape_runtime", 4.2, "the input's shape or type is not what the model or the layer takes"),
        ("refused.operands", 3.6, "a framework refuses what it was handed: shape, type or layout (the message names it)"),
        ("refused.place", 3.4, "an array is not where the operation needs it: on the GPU, or in the host's memory"),
        ("kin.refused", 3.8, "{library} refuses the size, the type or the form of what it was given ({name})"),
        ("kin.entry", 3.8, "{call} refuses its parameter {number}"),
        ("program.shape_words", 2.4, "shapes are said not to fit"),
        ("torch.probability", 1.4, "the numbers went astray; this happens in half precision"),
        ("torch.no_kernel_found", 1.4, "no kernel for these shapes or types"),
        ("torch.no_kernel_found", 3.0, "none of the allowed kernels of attention takes these inputs (a mask, a type, a size)", whole(r"scaled_dot_product|sdp_|sdpa|attn_mask")),
        ("program.shape", 4.0, "the shapes or layouts of the tensors do not fit"),
        ("program.dtype", 3.8, "the tensors have different data types (dtype), or one that is not supported here"),
        ("program.devices", 2.9, "tensors are not where the operation needs them"),
        ("torch.state_dict", 1.8, "the weights do not fit the model"),
        ("program.layout", 3.0, "the layout is not one the operation takes", no(with_("tf.skipping", "loader.tf_skip"))),
        ("program.layout", 1.4, "the layout is not one that the CPU takes", with_("tf.skipping", "loader.tf_skip")),
        ("ort.invalid_input", 4.4, "the input is not what the model takes"),
        ("cudnn.bad_param", 2.4, "cuDNN refuses the arguments, as for wrong shapes or types"),
        ("cudnn.not_supported", 2.6, "cuDNN does not support the arguments, as for a layout that is not contiguous"),
        ("cudnn.not_supported_shape", 3.4, "cuDNN does not support the shape"),
        ("cudnn.not_supported_data_type", 3.4, "cuDNN does not support the type"),
        ("cudnn.not_supported_layout", 3.4, "cuDNN does not support the layout"),
        ("cudnn.not_supported_padding", 3.0, "cuDNN does not support the padding"),
        ("cudnn.bad_param_", 2.8, "cuDNN refuses the arguments"),
        ("cudnn.invalid_value", 1.6, "cuDNN refuses a value"),
        ("cublas.invalid_value", 1.6, "cuBLAS refuses a value"),
        ("cuda.invalid_configuration", 2.0, "a kernel was launched with impossible sizes (error 9), as for an empty tensor"),
        ("cuda.invalid_value", 1.2, "a wrong argument (error 1)", no(line("cuinit"))),
        ("tf.empty_batch", 4.2, "cuDNN is handed an empty batch"),
        ("cuda.invalid_pitch_value", 2.4, "a wrong pitch"),
        ("torch.not_implemented_half", 2.6, "the operation does not exist for half precision on the CPU"),
        ("torch.no_engine", 1.3, "no algorithm for these shapes or types"),
        ("cuda.invalid_value", 2.4, "{call} was given a wrong value (error 1)", own_call),
        ("cuda.invalid_memcpy_direction", 3.4, "a copy names a direction that does not exist (error 21)"),
        ("cuda.invalid_channel_descriptor", 3.2, "the elements of a texture are described wrongly (error 20)"),
        ("cuda.invalid_filter_setting", 3.0, "a texture's filter does not go with its elements"),
        ("cuda.invalid_norm_setting", 3.0, "a texture's coordinates do not go with its elements"),
        ("cuda.invalid_texture", 3.0, "a texture is described wrongly"),
        ("cuda.texture_", 2.6, "a texture is used wrongly"),
        ("cuda.invalid_surface", 3.0, "a surface is described wrongly"),
        ("cuda.invalid_resource_type", 3.0, "a resource of another type is expected (error 914)"),
        ("cusparse.", 1.2, "cuSPARSE refuses the arguments"),
        ("ort.not_implemented", 2.6, "the operator does not exist for these types"),
        ("cufft.invalid_size", 3.2, "cuFFT refuses the size"),
        ("cusolver.invalid_value", 2.6, "cuSOLVER refuses a value"),
        ("launch.block", 1.4, "a shape may give such a grid"),
        ("launch.refused", 1.8, "a shape may give such a launch"),
        ("cudnn.not_supported_graph_pattern", 2.0),
        ("cusolver.matrix_type_not_supported", 3.0),
        ("cusolver.not_supported", 3.0),
        ("cufft.invalid_value", 3.0),
        ("cufft.not_supported", 2.2),
        ("cusparse.invalid_value", 3.0),
        ("cusparse.not_supported", 3.0),
    ),
    ladder=agreeing,
    remedies=(
        meant("Indices have to be whole numbers: convert them before the call", on.code("x = x.long()"), said="program. torch. python. title.",
              line=r"scalar types: Long|to be Long|tensors used as indices must be long", safe=True),
        meant("Copy the tensor to the CPU before NumPy gets it", on.code("array = x.detach().cpu().numpy()"), said="program.devices",
              line=r"device type tensor to numpy", safe=True),
        meant("NCCL takes tensors of the GPU only: move it there; or make the group with both backends", on.code("torch.distributed.init_process_group('cpu:gloo,cuda:nccl')    # or: tensor = tensor.cuda()"),
              said="said.backend_of_tensor", safe=True),
        meant("Work on whole arrays (broadcasting, map, kernels), or copy the array to the CPU first", on.code("Array(x)    # for a test only: CUDA.allowscalar(true)"),
              said="said.scalar", safe=True),
        meant("Print shape, type and device of the tensors before the failing line", on.code("print(x.shape, x.dtype, x.device)")),
        meant("With DataParallel: make new tensors in forward() on the input's device, not with .cuda()", on.code("torch.zeros(n, device=x.device)"),
              said="program.", line=r"(?s)dataparallel.*same device|different gpu", more=True),
    ),
)  # fmt: skip
