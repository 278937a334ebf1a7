"""Harmless lines of healthy programs, as they print them: what stands before an end that has nothing to do with them."""

from __future__ import annotations

NOTES = {
    "tf-2.15-gpu": """2024-03-11 09:12:44.102233: E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered
2024-03-11 09:12:44.102280: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:607] Unable to register cuFFT factory: Attempting to register factory for plugin cuFFT when one has already been registered
2024-03-11 09:12:44.103411: E external/local_xla/xla/stream_executor/cuda/cuda_blas.cc:1515] Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS when one has already been registered
2024-03-11 09:12:44.110921: I tensorflow/core/platform/cpu_feature_guard.cc:182] This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations.
To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow with the appropriate compiler flags.
2024-03-11 09:12:45.004421: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
2024-03-11 09:12:46.891214: I external/local_xla/xla/stream_executor/cuda/cuda_executor.cc:901] successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node, so returning NUMA node zero.
2024-03-11 09:12:47.033914: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1929] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22113 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 3090, pci bus id: 0000:01:00.0, compute capability: 8.6""",
    "tf-2.16-cpu": """2024-06-02 17:20:01.221134: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on. You may see slightly different numerical results due to floating-point round-off errors from different computation orders. To turn them off, set the environment variable `TF_ENABLE_ONEDNN_OPTS=0`.
2024-06-02 17:20:01.224031: I external/local_tsl/tsl/cuda/cudart_stub.cc:32] Could not find cuda drivers on your machine, GPU will not be used.
2024-06-02 17:20:01.262210: I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations.
2024-06-02 17:20:02.004100: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT""",
    "tf-2.4-dso": """2021-02-14 12:00:00.103321: W tensorflow/stream_executor/platform/default/dso_loader.cc:60] Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found
2021-02-14 12:00:00.103419: I tensorflow/stream_executor/cuda/cudart_stub.cc:29] Ignore above cudart dlerror if you do not have a GPU set up on your machine.
2021-02-14 12:00:02.914225: W tensorflow/stream_executor/platform/default/dso_loader.cc:60] Could not load dynamic library 'nvcuda.dll'; dlerror: nvcuda.dll not found
2021-02-14 12:00:02.914401: W tensorflow/stream_executor/cuda/cuda_driver.cc:326] failed call to cuInit: UNKNOWN ERROR (303)""",
    "tf-train": """I0000 00:00:1712231220.102331    8812 gpu_device.cc:2022] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 38382 MB memory:  -> device: 0, name: NVIDIA A100-SXM4-40GB, pci bus id: 0000:00:04.0, compute capability: 8.0
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1712231225.830441    8901 service.cc:146] XLA service 0x7f1c4c0028e0 initialized for platform CUDA (this does not guarantee that XLA will be used). Devices:
I0000 00:00:1712231225.830491    8901 service.cc:154]   StreamExecutor device (0): NVIDIA A100-SXM4-40GB, Compute Capability 8.0
I0000 00:00:1712231229.554022    8901 cuda_dnn.cc:529] Loaded cuDNN version 90300
I0000 00:00:1712231230.114210    8901 device_compiler.h:188] Compiled cluster using XLA!  This line is logged at most once for the lifetime of the process.
Epoch 1/10
 391/391 ━━━━━━━━━━━━━━━━━━━━ 21s 44ms/step - accuracy: 0.4412 - loss: 1.5413""",
    "jax-cpu": """WARNING:absl:No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 and rerun for more info.)""",
    "jax-rocm": """INFO:2024-02-08 10:11:19,883:jax._src.xla_bridge:689: Unable to initialize backend 'cuda': 
INFO:2024-02-08 10:11:19,883:jax._src.xla_bridge:689: Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'
INFO:2024-02-08 10:11:19,884:jax._src.xla_bridge:689: Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory""",
    "jax-donate": """W0314 10:22:41.334211   33120 hlo_rematerialization.cc:3005] Can't reduce memory use below 11.41GiB (12251223040 bytes) by rematerialization; only reduced to 13.02GiB (13980112233 bytes), down from 13.02GiB (13980112233 bytes) originally
/usr/local/lib/python3.10/site-packages/jax/_src/interpreters/mlir.py:1086: UserWarning: Some donated buffers were not usable: ShapedArray(float32[8,128]).""",
    "jax-autotune": """E0621 18:01:22.114220   41231 slow_operation_alarm.cc:65] Constant folding an instruction is taking > 1s:
W0621 18:01:25.889134   41231 gemm_fusion_autotuner.cc:894] Compiling 36 configs for 5 fusions on a single thread.""",
    "torch-fallback": """/home/mara/venv/lib/python3.11/site-packages/torch/cuda/__init__.py:138: UserWarning: CUDA initialization: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)
  return torch._C._cuda_getDeviceCount() > 0
using device: cpu""",
    "torch-autocast": """/opt/conda/lib/python3.10/site-packages/torch/amp/autocast_mode.py:250: UserWarning: User provided device_type of 'cuda', but CUDA is not available. Disabling
  warnings.warn(
/opt/conda/lib/python3.10/site-packages/torch/utils/data/dataloader.py:683: UserWarning: 'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.
  warnings.warn(warn_msg)""",
    "torch-workers": """/opt/conda/lib/python3.10/site-packages/torch/utils/data/dataloader.py:557: UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in current system is 8, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to avoid potential slowness/freeze if necessary.
  warnings.warn(_create_warning_msg(""",
    "torch-inductor": """W0405 16:20:11.774000 140312 torch/_inductor/utils.py:1137] [0/0] Not enough SMs to use max_autotune_gemm mode
W0405 16:20:18.100000 140312 torch/_dynamo/convert_frame.py:844] [7/8] torch._dynamo hit config.recompile_limit (8)
/opt/conda/lib/python3.11/site-packages/torch/_inductor/compile_fx.py:194: UserWarning: TensorFloat32 tensor cores for float32 matrix multiplication available but not enabled. Consider setting `torch.set_float32_matmul_precision('high')` for better performance.""",
    "torch-jit-flash": """/home/mara/venv/lib/python3.11/site-packages/model/attn.py:71: UserWarning: 1Torch was not compiled with flash attention. (Triggered internally at ..\\aten\\src\\ATen\\native\\transformers\\cuda\\sdp_utils.cpp:455.)
  out = F.scaled_dot_product_attention(q, k, v)""",
    "torch-nccl": """[rank0]:[W607 12:20:12.112391133 ProcessGroupNCCL.cpp:4561] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 as device used by this process is currently unknown. This can potentially cause a hang if this rank to GPU mapping is incorrect.
node1:4412:4412 [0] NCCL INFO Bootstrap : Using eth0:10.0.3.7<0>
node1:4412:4412 [0] NCCL INFO NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file: No such file or directory No plugin found (libnccl-net.so), using internal implementation
node1:4412:4412 [0] NCCL INFO cudaDriverVersion 12040
node1:4412:4480 [0] NCCL INFO comm 0x55d0c9c4a0d0 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9d1a - Init COMPLETE""",
    "torchrun-omp": """W0712 08:41:10.341000 23412 torch/distributed/run.py:792] 
W0712 08:41:10.341000 23412 torch/distributed/run.py:792] *****************************************
W0712 08:41:10.341000 23412 torch/distributed/run.py:792] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded, please further tune the variable for optimal performance in your application as needed. 
W0712 08:41:10.341000 23412 torch/distributed/run.py:792] *****************************************""",
    "lightning": """GPU available: True (cuda), used: True
TPU available: False, using: 0 TPU cores
HPU available: False, using: 0 HPUs
You are using a CUDA device ('NVIDIA RTX A6000') that has Tensor Cores. To properly utilize them, you should set `torch.set_float32_matmul_precision('medium' | 'high')` which will trade-off precision for performance.
LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]

  | Name  | Type   | Params
---------------------------------
0 | model | ResNet | 11.7 M
---------------------------------
11.7 M    Trainable params""",
    "lightning-cpu": """GPU available: True (cuda), used: False
TPU available: False, using: 0 TPU cores
/home/mara/venv/lib/python3.11/site-packages/lightning/pytorch/trainer/setup.py:177: GPU available but not used. You can set it by doing `Trainer(accelerator='gpu')`.""",
    "vllm": """INFO 05-14 11:20:41 [__init__.py:239] Automatically detected platform cuda.
INFO 05-14 11:20:44 [api_server.py:1043] vLLM API server version 0.8.5.post1
WARNING 05-14 11:20:50 [config.py:2972] Casting torch.bfloat16 to torch.float16.
INFO 05-14 11:20:59 [cuda.py:221] Using Flash Attention backend on V1 engine.
WARNING 05-14 11:21:00 [topk_topp_sampler.py:69] FlashInfer is not available. Falling back to the PyTorch-native implementation of top-p & top-k sampling. For the best performance, please install FlashInfer.
INFO 05-14 11:21:44 [gpu_model_runner.py:1347] Model loading took 14.9889 GiB and 41.181299 seconds
INFO 05-14 11:22:01 [kv_cache_utils.py:634] GPU KV cache size: 111,120 tokens
INFO 05-14 11:22:31 [gpu_model_runner.py:1686] Graph capturing finished in 28 secs, took 0.52 GiB""",
    "triton-server": """I0302 10:01:22.104221 1 pinned_memory_manager.cc:277] "Pinned memory pool is created at '0x7f2a80000000' with size 268435456"
I0302 10:01:22.104811 1 cuda_memory_manager.cc:107] "CUDA memory pool is created on device 0 with size 67108864"
W0302 10:01:23.200110 1 metrics.cc:631] "Unable to get power limit for GPU 0. Status:Success, value:0.000000"
I0302 10:01:30.551220 1 model_lifecycle.cc:849] "successfully loaded 'resnet50'"
I0302 10:01:30.551410 1 server.cc:676] 
+----------+---------+--------+
| Model    | Version | Status |
+----------+---------+--------+
| resnet50 | 1       | READY  |
+----------+---------+--------+""",
    "ort": """2024-05-05 10:01:44.222311120 [W:onnxruntime:, transformer_memcpy.cc:74 ApplyImpl] 10 Memcpy nodes are added to the graph main_graph for CUDAExecutionProvider. It might have negative impact on performance (including unable to run CUDA graph). Set session_options.log_severity_level=1 to see the detail logs before this message.
2024-05-05 10:01:44.231100211 [W:onnxruntime:, session_state.cc:1166 VerifyEachNodeIsAssignedToAnEp] Some nodes were not assigned to the preferred execution providers which may or may not have an negative impact on performance. e.g. ORT explicitly assigns shape related ops to CPU to improve perf.""",
    "ort-cpu": """/usr/local/lib/python3.10/site-packages/onnxruntime/capi/onnxruntime_inference_collection.py:69: UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: 'AzureExecutionProvider, CPUExecutionProvider'
  warnings.warn(""",
    "ngc": """=============
== PyTorch ==
=============

NVIDIA Release 24.03 (build 85286408)
PyTorch Version 2.3.0a0+40ec155e58

Container image Copyright (c) 2024, NVIDIA CORPORATION & AFFILIATES. All rights reserved.

NOTE: The SHMEM allocation limit is set to the default of 64MB.  This may be
   insufficient for PyTorch.  NVIDIA recommends the use of the following flags:
   docker run --gpus all --ipc=host --ulimit memlock=-1 --ulimit stack=67108864 ...
""",
    "ngc-nogpu": """==========
== CUDA ==
==========

CUDA Version 12.4.1

Container image Copyright (c) 2016-2023, NVIDIA CORPORATION & AFFILIATES. All rights reserved.

WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.
   Use the NVIDIA Container Toolkit to start this container with GPU support; see
   https://docs.nvidia.com/datacenter/cloud-native/ .
""",
    "hf": """Loading checkpoint shards: 100%|██████████| 4/4 [00:11<00:00,  2.81s/it]
Some weights of BertForSequenceClassification were not initialized from the model checkpoint at bert-base-uncased and are newly initialized: ['classifier.bias', 'classifier.weight']
You should probably TRAIN this model on a down-stream task to be able to use it for predictions and inference.
`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.
Setting `pad_token_id` to `eos_token_id`:50256 for open-end generation.""",
    "hf-none": """None of PyTorch, TensorFlow >= 2.0, or Flax have been found. Models won't be available and only tokenizers, configuration and file/data utilities can be used.""",
    "hf-pipeline": """Device set to use cuda:0
Hardware accelerator e.g. GPU is available in the environment, but no `device` argument is passed to the `Pipeline` object. Model will be on CPU.
Token indices sequence length is longer than the specified maximum sequence length for this model (612 > 512). Running this sequence through the model will result in indexing errors""",
    "deepspeed": """[2024-04-10 10:20:11,430] [INFO] [real_accelerator.py:191:get_accelerator] Setting ds_accelerator to cuda (auto detect)
 [WARNING]  async_io requires the dev libaio .so object and headers but these were not found.
 [WARNING]  async_io: please install the libaio-dev package with apt
 [WARNING]  If libaio is already installed (perhaps from source), try setting the CFLAGS and LDFLAGS environment variables to where it can be found.
 [WARNING]  sparse_attn requires a torch version >= 1.5 and < 2.0 but detected 2.2
 [WARNING]  using untested triton version (2.2.0), only 1.0.0 is known to be compatible""",
    "bnb": """/home/mara/venv/lib/python3.10/site-packages/bitsandbytes/cextension.py:34: UserWarning: The installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers, 8-bit multiplication, and GPU quantization are unavailable.
  warn("The installed version of bitsandbytes was compiled without GPU support. " """,
    "apex-missing": """Could not import apex.normalization.FusedRMSNorm, falling back to the plain one
xFormers not available, proceeding without it
A matching Triton is not available, some optimizations will not be enabled
Traceback (most recent call last):
  File "/home/mara/venv/lib/python3.10/site-packages/xformers/__init__.py", line 57, in _is_triton_available
    import triton  # noqa
ModuleNotFoundError: No module named 'triton'""",
    "slurm": """Job 118233 on gpu-node07, submitted from login1
SLURM_JOB_GPUS=0,1 CUDA_VISIBLE_DEVICES=0,1
Lmod is automatically replacing "cuda/11.8" with "cuda/12.1".

The following have been reloaded with a version change:
  1) cudnn/8.6 => cudnn/8.9
Mon Mar  4 11:20:11 2024
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05   CUDA Version: 12.2     |
|-------------------------------+----------------------+----------------------+
|   0  NVIDIA A100 80GB    On   | 00000000:17:00.0 Off |                    0 |
| N/A   33C    P0    61W / 300W |      0MiB / 81920MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
|  No running processes found                                                 |
+-----------------------------------------------------------------------------+""",
    "k8s-events": """Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  11m   default-scheduler  0/6 nodes are available: 3 Insufficient nvidia.com/gpu, 3 node(s) didn't match Pod's node affinity/selector.
  Normal   Scheduled         9m    default-scheduler  Successfully assigned ml/train-8xk2p to gpu-3
  Normal   Pulled            8m    kubelet            Container image "train:1.8" already present on machine
  Normal   Started           8m    kubelet            Started container train""",
    "notebook": """In [3]: import torch
   ...: print(torch.__version__, torch.cuda.is_available(), torch.cuda.get_device_name(0))
2.2.1+cu121 True Tesla T4
In [4]: trainer.fit(model)""",
    "windows": """C:\\Users\\mara\\proj> .venv\\Scripts\\activate
(.venv) C:\\Users\\mara\\proj> python train.py --device cuda:0
[W socket.cpp:697] [c10d] The client socket has failed to connect to [DESKTOP-7K2]:29500 (system error: 10049 - The requested address is not valid in its context.).
Using device: cuda:0 NVIDIA GeForce RTX 4070""",
    "wsl": """wsl: Detected localhost proxy configuration
mara@DESKTOP:~/proj$ ls /usr/lib/wsl/lib
libcuda.so  libcuda.so.1  libnvidia-ml.so.1  nvidia-smi
/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link

mara@DESKTOP:~/proj$ python train.py""",
    "ray": """2024-05-05 12:11:11,041	INFO worker.py:1724 -- Started a local Ray instance. View the dashboard at 127.0.0.1:8265 
(raylet) [2024-05-05 12:11:14,201 E 3312 3340] (raylet) file_system_monitor.cc:111: /tmp/ray/session_2024-05-05 is over 95% full, available space: 12884901888; capacity: 500068036608. Object creation will fail if spilling is required.
(pid=4411) Using GPU ids [0]""",
    "gym": """/usr/local/lib/python3.10/site-packages/gym/envs/registration.py:440: UserWarning: WARN: The `registry.all` method is deprecated.
libEGL warning: MESA-LOADER: failed to open swrast: /usr/lib/dri/swrast_dri.so: cannot open shared object file: No such file or directory (search paths /usr/lib/x86_64-linux-gnu/dri)
ALSA lib confmisc.c:855:(parse_card) cannot find card '0'""",
    "oom-caught": """| WARNING: ran out of memory with exception: CUDA out of memory. Tried to allocate 1.21 GiB. GPU 0 has a total capacity of 23.68 GiB of which 402.06 MiB is free.
| WARNING: attempting to recover from OOM in forward/backward pass
2024-01-20 11:40:41 | INFO | train_inner | epoch 001:    300 / 12010 loss=8.114, ppl=277.0, wps=31220.1, ups=2.1
2024-01-20 11:41:21 | INFO | train_inner | epoch 001:    400 / 12010 loss=7.941, ppl=245.7, wps=31010.9, ups=2.1""",
    "xgb": """/home/mara/venv/lib/python3.10/site-packages/xgboost/core.py:160: UserWarning: [11:02:11] WARNING: /workspace/src/common/error_msg.cc:58: Falling back to prediction using DMatrix due to mismatched devices. This might lead to higher memory usage and slower performance. XGBoost is running on: cuda:0, while the input data is on: cpu.""",
    "lightgbm": """[LightGBM] [Info] This is the GPU trainer!!
[LightGBM] [Info] Total Bins 6132
[LightGBM] [Info] Using GPU Device: NVIDIA GeForce GTX 1080 Ti, Vendor: NVIDIA Corporation
[LightGBM] [Warning] No further splits with positive gain, best gain: -inf""",
    "numba": """/opt/conda/lib/python3.10/site-packages/numba/cuda/dispatcher.py:536: NumbaPerformanceWarning: Grid size 4 will likely result in GPU under-utilization due to low occupancy.
  warn(NumbaPerformanceWarning(msg))""",
    "tf1": """WARNING:tensorflow:From train.py:41: The name tf.placeholder is deprecated. Please use tf.compat.v1.placeholder instead.
2019-11-11 10:20:11.221133: I tensorflow/stream_executor/platform/default/dso_loader.cc:44] Successfully opened dynamic library libcuda.so.1
2019-11-11 10:20:12.010221: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1618] Found device 0 with properties: 
name: GeForce RTX 2080 Ti major: 7 minor: 5 memoryClockRate(GHz): 1.545
2019-11-11 10:20:13.310221: W tensorflow/core/common_runtime/bfc_allocator.cc:239] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB with freed_by_count=0. The caller indicates that this is not a failure, but may mean that there could be performance gains if more memory were available.""",
    "chrome": """[2231:2231:0711/101112.414:ERROR:gpu_init.cc(523)] Passthrough is not supported, GL is disabled, ANGLE is 
[2231:2250:0711/101112.550:ERROR:viz_main_impl.cc(186)] Exiting GPU process due to errors during initialization
DevTools listening on ws://127.0.0.1:9222/devtools/browser/3f""",
    "blender": """Blender 4.1.1 (hash e1743a0317bc built 2024-04-15 23:47:45)
Read prefs: "/home/mara/.config/blender/4.1/config/userpref.blend"
Warning: Could not load OpenImageDenoise GPU device, falling back to CPU
Fra:1 Mem:182.41M (Peak 204.12M) | Time:00:01.22 | Mem:61.12M, Peak:61.12M | Scene, ViewLayer | Sample 1/128""",
    "ffmpeg": """ffmpeg version 6.1.1 Copyright (c) 2000-2023 the FFmpeg developers
  configuration: --enable-gpl --enable-cuda-nvcc --enable-libnpp --enable-nvenc
Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'in.mp4':
[h264_nvenc @ 0x55d1c1f0a4c0] The selected preset is deprecated. Use p1 to p7 + -tune or fast/medium/slow.
[swscaler @ 0x55d1c1f58e40] deprecated pixel format used, make sure you did set range correctly
frame=  812 fps=204 q=23.0 size=    7168kB time=00:00:27.02 bitrate=2173.1kbits/s speed=6.79x""",
    "unity": """Initialize engine version: 2022.3.21f1 (bf09ca542b87)
Forcing GfxDevice: Null
NullGfxDevice:
    Version:  NULL 1.0 [1.0]
    Renderer: Null Device
WARNING: Shader Unsupported: 'Hidden/Internal-GUIRoundedRect' - All subshaders removed
WARNING: Shader Did you use #pragma only_renderers and omit this platform?
ERROR: Shader Sprites/Default shader is not supported on this GPU (none of subshaders/fallbacks are suitable)""",
    "steam": """info:  DXVK: v2.3.1
info:  NVIDIA GeForce RTX 3070: Driver 545.29.6, Vulkan 1.3.260
warn:  OpenVR: Failed to locate module
warn:d3d12_device_caps_init_feature_options1: TotalLaneCount = 1472, may be inaccurate.
fixme:nvapi:NvAPI_QueryInterface Unknown function ID 0x33c7358c
err:   DxvkAdapter: Failed to query device group properties, ignoring""",
    "pip": """Collecting torch==2.3.0
  Downloading torch-2.3.0-cp310-cp310-manylinux1_x86_64.whl (779.1 MB)
Installing collected packages: nvidia-cudnn-cu12, nvidia-cublas-cu12, triton, torch
Successfully installed nvidia-cublas-cu12-12.1.3.1 nvidia-cudnn-cu12-8.9.2.26 torch-2.3.0 triton-2.3.0
WARNING: Running pip as the 'root' user can result in broken permissions and conflicting behaviour with the system package manager.""",
    "nccl-retry": """node2:881:1190 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.0.3.7<41123> failed : Connection refused, retrying
node2:881:1190 [0] NCCL INFO Connected all trees
node2:881:1190 [0] NCCL INFO comm 0x5560a1c rank 1 nranks 2 cudaDev 0 - Init COMPLETE
step 100 loss 2.113
step 200 loss 1.981""",
    "container": """$ docker run --rm --gpus all -v $PWD:/w train:1.8 python /w/train.py
WARNING: Your kernel does not support swap limit capabilities or the cgroup is not mounted. Memory limited without swap.""",
    "cupy": """/usr/lib/python3/dist-packages/cupy/_environment.py:447: UserWarning: 
--------------------------------------------------------------------------------
  CuPy may not function correctly because multiple CuPy packages are installed
  in your environment:
    cupy-cuda11x, cupy-cuda12x
--------------------------------------------------------------------------------""",
    "ultralytics": """Ultralytics YOLOv8.2.31 🚀 Python-3.10.12 torch-2.3.0+cu121 CUDA:0 (NVIDIA GeForce RTX 3060, 12044MiB)
engine/trainer: task=detect, mode=train, model=yolov8n.pt, data=coco8.yaml, epochs=3, device=0, workers=8
AMP: running Automatic Mixed Precision (AMP) checks with YOLOv8n...
AMP: checks passed ✅""",
}
"""From the output of programs that ran well up to there, on machines with and without a GPU."""
