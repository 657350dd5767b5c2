"""The public names of the package, each once: under the first of the namespaces below that has it."""

import importlib
import inspect
from dataclasses import dataclass
from typing import Any

NAMESPACES = {
    "fasturl": "",
    "fasturl.problems": "Environments",
    "fasturl.emissions": "Emissions",
    "fasturl.oracles": "Oracles",
    "fasturl.decoders": "Decoders",
    "fasturl.learners": "Learners",
    "fasturl.agents": "Agents",
    "fasturl.envs": "Gymnasium",
    "fasturl.experiments": "Experiments",
    "fasturl.capi": "The C face",
}
"""Where public names are, and under which heading the reference has them."""
FOUNDATION = "Training and declaring"
"""The heading of what the package itself defines, and no folder of it."""


@dataclass(frozen=True)
class PublicName:
    """A public class, function or constant, by the name that a user writes."""

    namespace: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        return f"{self.namespace}.{self.name}"

    @property
    def is_documented_object(self) -> bool:
        """Whether it is a class or a function of ours, which can say itself what it is."""
        return inspect.isclass(self.value) or callable(self.value)

    @property
    def heading(self) -> str:
        """The heading it stands under: that of the folder it is defined in."""
        if self.namespace != "fasturl":
            return NAMESPACES[self.namespace]
        folder = ".".join(getattr(self.value, "__module__", "").split(".")[:2])
        return NAMESPACES.get(folder) or FOUNDATION


def public_names() -> list[PublicName]:
    """All of them, in the order of their namespaces and, within one, of the alphabet."""
    names: dict[int, PublicName] = {}
    for namespace in NAMESPACES:
        module = importlib.import_module(namespace)
        for name in sorted(_names_of(module), key=str.lower):
            value = getattr(module, name)
            names.setdefault(id(value), PublicName(namespace, name, value))
    return list(names.values())


def _names_of(module: Any) -> list[str]:
    """What a module exports: `__all__` and what is loaded on first use, or names without underscore."""
    if hasattr(module, "__all__"):
        later = [name for name, target in getattr(module, "_LATER", {}).items() if ":" in target]
        return [*module.__all__, *later]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    ]
