"""config.json: the architecture beside the weights, or the whole model where there are none; and adapters."""

from __future__ import annotations

from dataclasses import replace

from gpuwhy.fit.config import Config, architecture_of, quantisation_of
from gpuwhy.fit.diffusers import unet_of
from gpuwhy.fit.model import Architecture, How, Model, Unreadable
from gpuwhy.fit.source import Store, json_file


def config_of(store: Store, name: str = "config.json") -> Config | None:
    """The configuration beside a model; None where there is none that is understood."""
    if store.size(name) is None:
        return None
    try:
        config = Config(json_file(store, name))
    except Unreadable:
        return None
    return config if is_config(config) else None


def is_config(config: Config) -> bool:
    """Whether an object is a model's configuration."""
    return bool(config.kind or config.name or config.part("text_config"))


def told_by(config: Config) -> Architecture:
    """Its architecture."""
    return unet_of(config) or architecture_of(config)


def beside(model: Model, store: Store) -> Model:
    """A model with what the configuration beside its weights tells."""
    config = config_of(store)
    if config is None:
        return named(model)
    return replace(model, architecture=told_by(config), quantisation=quantisation_of(config), dtype=config.dtype)


def named(model: Model) -> Model:
    """A model with what the names of its tensors tell."""
    from gpuwhy.fit.names import architecture_from

    return replace(model, architecture=architecture_from(model.tensors))


def read(store: Store, name: str) -> Model:
    """A model of which only the configuration is here; raises Unreadable."""
    return of_config(Config(json_file(store, name)), name)


def of_config(config: Config, name: str) -> Model:
    """The model that a configuration describes; raises Unreadable."""
    from gpuwhy.fit.parameters import computed
    from gpuwhy.fit.quantised import quantised

    if not is_config(config):
        raise Unreadable(f"{name} is JSON, but no configuration of a model: it names no model_type")
    got = computed(config, config.dtype or "f32")
    method = quantisation_of(config)
    unknown = list(got.unknown)
    tensors = got.tensors
    if method is not None:
        tensors, said = quantised(tensors, config, method)
        unknown += said
    if config.dtype is None and tensors:
        unknown.append("config.json does not say in which type the weights are: 32-bit floats are counted")
    return Model(
        name,
        "config",
        tuple(tensors),
        told_by(config),
        method,
        tuple(unknown),
        dtype=config.dtype,
        how=How.KNOW,
        partial=got.partial,
    )


def adapter(model: Model, store: Store) -> Model:
    """The weights of an adapter with what its configuration says: whose it is, of which kind and rank."""
    config = Config(json_file(store, "adapter_config.json"))
    kind = config.text("peft_type") or "LORA"
    rank = config.count("r")
    base = config.text("base_model_name_or_path") or None
    said = f"this is an adapter ({kind.lower()}{f' of rank {rank}' if rank else ''}): the model that it changes"
    return replace(
        model,
        format="adapter",
        architecture=Architecture(name=kind),
        base=base,
        partial=True,
        unknown=(*model.unknown, f"{said}{f' ({base})' if base else ''} comes on top and is not counted"),
    )
