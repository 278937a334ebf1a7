"""Planted secrets: what people have in variables, files and logs, made up afresh, each to be found nowhere in what we share."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

LETTERS = string.ascii_letters + string.digits
SEED = 20261115


class Planter:
    """Makes secrets of every kind; `planted` are all of them."""

    def __init__(self, seed: int = SEED) -> None:
        self._random = random.Random(seed)
        self.planted: list[str] = []

    def _some(self, count: int, letters: str = LETTERS) -> str:
        first = "".join(self._random.choice(letters) for _ in range(count))
        return first if count < 6 else first[:-2] + self._random.choice("23456789") + self._random.choice("bcdfg")

    def _keep(self, secret: str) -> str:
        self.planted.append(secret)
        return secret

    def token(self) -> str:
        """A token whose first letters say whose it is."""
        hexa = "0123456789abcdef"
        made = self._random.choice(
            [
                lambda: "ghp_" + self._some(36),
                lambda: "github_pat_" + self._some(22) + "_" + self._some(40),
                lambda: "glpat-" + self._some(20),
                lambda: "AKIA" + self._some(16, string.ascii_uppercase + string.digits).upper(),
                lambda: "hf_" + self._some(34),
                lambda: "sk-proj-" + self._some(40),
                lambda: "xoxb-" + self._some(11, string.digits) + "-" + self._some(24),
                lambda: "AIza" + self._some(35),
                lambda: "npm_" + self._some(36),
                lambda: "pypi-" + self._some(60),
                lambda: "nvapi-" + self._some(60),
                lambda: "dckr_pat_" + self._some(27),
                lambda: "dapi" + self._some(32, hexa),
                lambda: "SG." + self._some(22) + "." + self._some(43),
                lambda: "eyJ" + self._some(20) + "." + self._some(40) + "." + self._some(40),
                lambda: "sk_live_" + self._some(24),
            ]
        )()
        return self._keep(made)

    def word(self) -> str:
        """What only the name before it betrays."""
        return self._keep(self._some(self._random.choice([10, 16, 24, 40])))

    def password(self) -> str:
        """A password as people choose them."""
        parts = ["hunter", "correct", "zaphod", "tr0ub4dor", "letmein", "sommer"]
        return self._keep(self._random.choice(parts) + self._some(5) + self._random.choice("!$-_+"))

    def person(self) -> str:
        """A user's name."""
        return self._keep("per" + self._some(6, string.ascii_lowercase))

    def machine(self) -> str:
        """A machine's name."""
        return self._keep("node" + self._some(5, string.ascii_lowercase) + "7")

    def address(self) -> str:
        """An address of a private network."""
        return self._keep(f"192.168.{self._random.randrange(2, 250)}.{self._random.randrange(2, 250)}")

    def mail(self) -> str:
        """An e-mail address."""
        return self._keep(
            f"{self._some(7, string.ascii_lowercase)}.{self._some(6, string.ascii_lowercase)}@example.org"
        )

    def lines(self, count: int) -> Iterator[str]:
        """Lines of a log, each with one secret."""
        kinds = [
            lambda: f"cloning https://oauth2:{self.token()}@git.example.org/team/repo.git",
            lambda: f"Looking in indexes: https://ci:{self.password()}@packages.example.org/simple",
            lambda: f"export HF_TOKEN={self.token()}",
            lambda: f"WANDB_API_KEY={self.word()}",
            lambda: f"Authorization: Bearer {self.word()}",
            lambda: f'{{"password": "{self.password()}", "epoch": 3}}',
            lambda: f"mysql --user app --password {self.password()} train",
            lambda: f"aws_secret_access_key = {self.word()}",
            lambda: f"GET /v1/data?access_token={self.word()}&size=3",
            lambda: f"dbPassword={self.password()};Server=x",
            lambda: f"AccountName=lake;AccountKey={self.word()}==;EndpointSuffix=core",
            lambda: f"FileNotFoundError: '/home/{self.person()}/data/train.bin'",
            lambda: f"  File \"/Users/{self.person()}/src/train.py\", line 3, in main",
            lambda: f"hostname: {self.machine()}",
            lambda: f"srun: error: {self.machine()}: task 3: Exited with exit code 1",
            lambda: f"[rank0]: connect to {self.address()}:29500 timed out",
            lambda: f"NCCL INFO NET/Socket : Using [0]eth0:{self.address()}<0>",
            lambda: f"contact {self.mail()} for help",
            lambda: f"MASTER_ADDR={self.machine()}.cluster.internal",
            lambda: f"client_secret: '{self.word()}'",
            lambda: f"Set-Cookie: session={self.word()}",
            lambda: f"token={self.token()}",
            lambda: f"docker login -u ci --password {self.password()} registry.example.org",
            lambda: f"s3_secret_key => {self.word()}",
        ]  # fmt: skip
        for number in range(count):
            yield kinds[number % len(kinds)]()


HARMLESS = """
torch 2.5.1+cu124, cuDNN 9.1.0.70, cuBLAS 12.4.5.8, curand 10.3.5.147, driver 550.54.15, NCCL 2.21.5, cusparse 10.3.1.170
nvidia-cudnn-cu12==9.1.0.70 --hash=sha256:165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f
torch/lib/libtorch_cuda.so,sha256=Kq3WzCq8yQwG0u2gHkYp1mS5bX7vZ9dR4tF6nJ0aLcE,941824481
/usr/lib/x86_64-linux-gnu/libcuda.so.1 -> libcuda.so.550.54.15
/opt/venv/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9
undefined symbol: _ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
cudaGetDeviceCount@@libcudart.so.12, cublasLtCreate@libcublasLt.so.12
RuntimeError: Error(s) in loading state_dict: Missing key(s) in state_dict: "conv1.weight", "layer4.1.bn2.running_mean"
KeyError: 'model.layers.0.self_attn.q_proj.weight'
tokenizer: bert-base-uncased, pad_token: <pad>, eos_token_id=50256, max_tokens=4096, tokens/s 1234.5, num_tokens: 128
GPU-8f6d3c1e-1111-2222-3333-444455556666, 00000000:01:00.0, PCI 0000:3b:00.0, bus id 10de:2684
Xid (PCI:0000:01:00): 79, pid=1234, GPU has fallen off the bus.
commit 0123456789abcdef0123456789abcdef01234567, git 66f0cb9eb66affd2da3bf5f8d897376f04aae6af
CUDA_VISIBLE_DEVICES=0,1 LD_LIBRARY_PATH=/usr/local/cuda-12.4/lib64:/usr/lib/wsl/lib PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
listening on 127.0.0.1:8888, http://localhost:6006, 0.0.0.0:29500
pip install torch==2.5.1 --index-url https://download.pytorch.org/whl/cu124
Requires-Dist: nvidia-cublas-cu12==12.4.5.8; platform_system == "Linux" and platform_machine == "x86_64"
key error: 'x', keyboard interrupt, author of this package, authentication failed, session 12 started, secret is required
nvcc: NVIDIA (R) Cuda compiler driver, Build cuda_12.4.r12.4/compiler.34097967_0, V12.4.131
sm_90a compute_120 arch_list: ['sm_50', 'sm_60', 'sm_70', 'sm_75', 'sm_80', 'sm_86', 'sm_90']
Failed to initialize NumPy: _ARRAY_API not found, opset 17, ir_version 9, driver 12040, cuInit 803
2024-05-06 07:08:09.123456: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:282] failed call to cuInit
kernel: nvidia 0000:01:00.0: enabling device (0000 -> 0003); systemd: user@1000.service: Succeeded
""".strip().splitlines()
"""What reports need: versions, hashes of wheels, paths of libraries, symbols, identifiers of devices."""
