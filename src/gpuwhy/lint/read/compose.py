"""Compose files: services, their image, their variables and whether they ask for a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import images
from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import shell
from gpuwhy.lint.read.yamls import Map, Node, Seq, Text, top
from gpuwhy.lint.sheet import Image, Sheet, Variable, Workload


def read(path: str, text: str) -> Sheet:
    """A compose file."""
    sheet = Sheet(path, "compose")
    whole = top(sheet, text, "compose file: a mapping with `services`") or Map()
    for name, service in whole.map("services").items():
        if isinstance(service, Map):
            work = _service(Place(path, getattr(name, "line", 0)), str(name), service)
            work.partial = work.partial or "include" in whole
            sheet.workloads.append(work)
    _share(sheet.workloads)
    return sheet


def _share(works: list[Workload]) -> None:
    """Services of one image of which another asks for a GPU: a server and its workers."""
    asking = {one.origin for one in works if one.request}
    for number, work in enumerate(works):
        again = work.image and any(work.origin == one.origin for one in works[:number])
        unknown = again and images.read(work.origin[0]).gpu is None
        if not work.request and (work.origin in asking or unknown):
            work.partial = True  # said once, of the first


def _service(place: Place, name: str, service: Map) -> Workload:
    work = Workload(name, place)
    image, build = service.at("image"), service.at("build")
    if isinstance(image, Text) and image:
        work.image = Image(shell.expand(image, {}), Place(place.path, image.line))
    if isinstance(build, Text):
        work.built = f"{build}/Dockerfile"
    elif isinstance(build, Map):
        work.built = f"{build.text('context') or '.'}/{build.text('dockerfile') or 'Dockerfile'}"
        arguments = _variables(place.path, build.at("args")).values()
        work.arguments = {one.name: one.value for one in arguments}
        work.target = shell.expand(build.text("target"), {})
    plain = re.search(r"(^|/)(docker-)?compose\.ya?ml$", place.path)
    only_built = not plain and all(str(key) == "build" for key in service)
    work.partial = "extends" in service or not (work.image or work.built) or only_built
    work.variables = _variables(place.path, service.at("environment"))
    seen = ("/dev/nvidia", "nvidia.com/gpu", "/dev/dri", "/dev/kfd")
    work.exempt = any(name in str(one) for one in service.seq("devices") for name in seen)
    work.command = f"{_words(service.at('entrypoint'))} {_words(service.at('command'))}".strip()
    _requests(work, service)
    return work


def _requests(work: Workload, service: Map) -> None:
    """Where a service asks for GPUs: devices, `gpus`, or the nvidia runtime."""
    path = work.place.path
    for device in service.seq("deploy", "resources", "reservations", "devices"):
        if isinstance(device, Map):
            _device(work, device)
    if "gpus" in service:
        work.request = work.request or Place(path, service.line_of("gpus"))
        for entry in service.seq("gpus"):
            if isinstance(entry, Text):
                said = "`gpus` takes `all` or a list of mappings"
                said += f", not {str(entry)!r}, and Compose refuses it"
                work.wrong_request.append(Problem(Place(path, entry.line), said))
    if service.text("runtime").startswith("nvidia"):
        work.only_runtime = work.request is None and not service.at("env_file")
        work.request = work.request or Place(path, service.line_of("runtime"))
    for generic in service.seq("deploy", "resources", "reservations", "generic_resources"):
        work.request = work.request or Place(path, generic.line)


def _device(work: Workload, device: Map) -> None:
    here, driver = Place(work.place.path, device.line), device.text("driver")
    wanted = [str(one).lower() for one in device.seq("capabilities")]
    asks, wrong = True, ""
    if "capabilities" not in device:
        wrong = "a device reservation without `capabilities`, which Compose refuses"
    elif driver in ("nvidia", "") and not {"gpu", "nvidia", "compute"} & set(wanted):
        listed = ", ".join(wanted) or "nothing"
        wrong = f"an nvidia device with capabilities [{listed}], without gpu" if driver else ""
        asks = False
    elif "count" in device and "device_ids" in device:
        wrong = "both `count` and `device_ids`, which exclude each other"
    if wrong:
        work.wrong_request.append(Problem(here, wrong))
    work.request = work.request or (here if asks else None)


def _variables(path: str, node: Node | None) -> dict[str, Variable]:
    """`environment` as a list of `A=b` or as a mapping; a value from outside is left out."""
    found = (
        Variable(name, shell.expand(text, {}), Place(path, line))
        for name, text, line in _assigned(node)
    )
    return {one.name: one for one in found if "$" not in one.value}


def _assigned(node: Node | None) -> Iterator[tuple[str, str, int]]:
    """Each name with its value and its line."""
    if isinstance(node, Map):
        for key, value in node.items():
            if isinstance(value, Text):
                yield str(key), value, getattr(key, "line", node.line)
    for entry in node if isinstance(node, Seq) else ():
        if isinstance(entry, Text) and "=" in entry:
            name, _, text = entry.partition("=")
            yield name, text, entry.line


def _words(node: Node | None) -> str:
    """A command, written as a text or as a list."""
    if isinstance(node, Text):
        return re.sub(r"\s+", " ", node[:20_000])
    listed = node[:500] if isinstance(node, Seq) else []
    return " ".join(str(word)[:5_000] for word in listed if isinstance(word, Text))
