"""scikit-learn's conventions for settings, kept without scikit-learn: to import it takes a second, and few
oracles need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from .._base import notebook
from .._base.schema import Setting, refuse_unknown, settings_of


class Estimator:
    """What `sklearn.base.clone`, pipelines and searches ask of an estimator whose settings are the fields of
    a dataclass. They are kept as they are given, and checked by `fit`."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All settings by name."""
        return {name: getattr(self, name) for name in self._declared()}

    def set_params(self, **settings: Any) -> Self:
        """Change settings."""
        refuse_unknown(type(self).__name__, settings, self._declared())
        for name, value in settings.items():
            setattr(self, name, value)
        return self

    def _declared(self) -> Mapping[str, Setting]:
        declaring: Any = type(self)
        return settings_of(declaring)

    def unfitted(self) -> Self:
        """Another one with the same settings, which has learned nothing."""
        return type(self)(**self.get_params())

    def __repr__(self) -> str:
        """As it would be written: the settings that are not as they come."""
        declared = self._declared()
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(declared[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """In a notebook: the class and its settings."""
        return notebook.table(self.get_params(), type(self).__name__)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "decoder_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="clusterer", target_tags=TargetTags(required=False))
