"""Estimators of scikit-learn whose iterations are limited on purpose, so that nobody is warned. A module of
its own, which is imported where one is fitted: importing scikit-learn takes a second."""

from __future__ import annotations

from sklearn.svm import SVC


class LimitedClassifier(SVC):  # type: ignore[misc]  # scikit-learn carries no types
    """A support vector classifier that need not have converged."""

    def _warn_from_fit_status(self) -> None:
        pass
