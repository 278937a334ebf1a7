"""PyTorch on the GPU, for framework.py: any release from 0.4."""

import importlib


class Probe:
    """The stages of PyTorch."""

    lists_gently = True  # cudaGetDeviceCount, or NVML: no context

    def __init__(self, talk, gentle):
        self.talk = talk
        self.gentle = gentle
        self.torch = None

    def load(self):
        """Import; version and build."""
        torch = self.torch = self.talk.call("import torch", importlib.import_module, "torch")
        built = (
            ["CUDA %s" % torch.version.cuda]
            if getattr(torch.version, "cuda", None)
            else ["no CUDA"]
        )
        cudnn = getattr(getattr(torch, "_C", None), "_cudnn", None)
        if hasattr(cudnn, "getCompileVersion"):
            built.append("cuDNN " + ".".join(str(part) for part in cudnn.getCompileVersion()))
        if getattr(torch.version, "hip", None):
            built = ["ROCm %s" % torch.version.hip]
        self.talk.about(torch.__version__, built)

    def devices(self):
        """How many GPUs; where there is none, initialising says why."""
        cuda, talk = self.torch.cuda, self.talk
        count = talk.call("torch.cuda.device_count()", cuda.device_count)
        if self.gentle:
            talk.say({"devices": ["GPU %d" % index for index in range(count)]})
        else:
            talk.call("torch.cuda.init()", cuda.init if hasattr(cuda, "init") else cuda._lazy_init)
            names = [
                talk.call("torch.cuda.get_device_name(%d)" % i, cuda.get_device_name, i)
                for i in range(count)
            ]
            talk.say({"devices": names})
        if count == 0:
            talk.fail("count the GPUs", "torch counts no GPU")
        if not self.gentle:
            self.architectures()

    def architectures(self):
        """The GPU's capability and what this build has code for."""
        cuda, talk = self.torch.cuda, self.talk
        talk.told(
            "torch.cuda.get_device_capability(0)", "%d.%d" % tuple(cuda.get_device_capability(0))
        )
        if hasattr(cuda, "get_arch_list"):
            talk.told("torch.cuda.get_arch_list()", " ".join(cuda.get_arch_list()))

    def free(self):
        """What memory is free now."""
        self.talk.memory("torch.cuda.mem_get_info()", lambda: self.torch.cuda.mem_get_info())

    def whole(self, step, *shape):
        """Small whole numbers, exact in every type."""
        count = 1
        for one in shape:
            count *= one
        return ((self.torch.arange(count) * step // 3) % 4 - 1).reshape(shape).float()

    def matmul(self):
        """A context, then a product in float32 and float16."""
        torch, talk = self.torch, self.talk
        talk.call("torch.zeros(1, device='cuda')", lambda: self.done(torch.zeros(1, device="cuda")))
        self.free()
        left, right = self.whole(7, 256, 256), self.whole(11, 256, 256)
        wanted = left.matmul(right)
        for kind in (torch.float32, torch.float16):
            name = "torch.matmul, " + str(kind).replace("torch.", "")
            a, b = left.to("cuda", kind), right.to("cuda", kind)
            got = talk.twice(name, lambda a=a, b=b: self.done(a.matmul(b)))
            talk.compare(name, got.cpu().float(), wanted)

    def convolution(self):
        """cuDNN's version, then a convolution forward and back."""
        torch, talk = self.torch, self.talk
        self.free()
        talk.call("torch.backends.cudnn.version()", torch.backends.cudnn.version)
        if not torch.backends.cudnn.enabled:
            talk.note("torch.backends.cudnn.enabled is False: the convolution does not use cuDNN")
        given = self.whole(7, 2, 8, 16, 16), self.whole(11, 8, 8, 3, 3), self.whole(5, 2, 8, 14, 14)
        wanted = self.on_host(*given)
        for kind in (torch.float32, torch.float16):
            name = "conv2d, " + str(kind).replace("torch.", "")
            moved = [one.to("cuda", kind) for one in given]
            got = talk.twice(name, lambda moved=moved: self.both_ways(*moved))
            for what, one, other in zip(
                ("forward", "input gradient", "weight gradient"), got, wanted
            ):
                talk.compare("%s, %s" % (name, what), one.detach().cpu().float(), other)

    def both_ways(self, pictures, filters, gradient):
        """The convolution and its two gradients, finished."""
        pictures, filters = pictures.clone().requires_grad_(), filters.clone().requires_grad_()
        forward = self.torch.nn.functional.conv2d(pictures, filters)
        (forward * gradient).float().sum().backward()  # backward(gradient) imports sympy: 1.5 s
        self.done(forward)
        return forward, pictures.grad, filters.grad

    def on_host(self, pictures, filters, gradient):
        """The same by plain products: the convolutions of the CPU may not work either."""
        product, inner = self.torch.einsum, gradient.shape[-1]
        forward, back = self.torch.zeros_like(gradient), self.torch.zeros_like(pictures)
        back_filters = self.torch.zeros_like(filters)
        for row in range(filters.shape[2]):
            for column in range(filters.shape[3]):
                part, weights = (
                    pictures[:, :, row : row + inner, column : column + inner],
                    filters[:, :, row, column],
                )
                forward += product("nchw,kc->nkhw", (part, weights))
                back[:, :, row : row + inner, column : column + inner] += product(
                    "nkhw,kc->nchw", (gradient, weights)
                )
                back_filters[:, :, row, column] = product("nkhw,nchw->kc", (gradient, part))
        return forward, back, back_filters

    def done(self, tensor):
        """The same, once the GPU has finished: errors of a launch come then."""
        if tensor.is_cuda:
            self.torch.cuda.synchronize()
        return tensor
