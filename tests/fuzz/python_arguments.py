"""Arguments of every public class and function: valid ones, of which up to three are replaced by odd ones.

What is called is found by introspection: every component that is known by name, with the settings that it
declares, and the functions of `calls`. An argument is accepted or refused by an error that names it; an
accepted setting is stored as the plain type that its class declares, whatever type it came in.
"""

import contextlib
import io
import warnings

import numpy as np

from .calls import calls, declared_calls
from .judgement import Broken, expect, judge_refusal
from .kinds import Kind
from .odd_values import in_words, odd_value, spoiled_array

PLAIN = {int: int, float: float, str: str, bool: bool}


class PythonArguments(Kind):
    name = "python-arguments"

    def __init__(self, folder):
        super().__init__(folder)
        self.declared, self.calls = declared_calls(), calls()

    def play(self, chance, place, tell):
        call = chance.choice(self.declared if chance.random() < 0.5 else self.calls)
        arguments = {name: chance.choice(values) for name, values in call.valid(place).items()}
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
            name = chance.choice(sorted(arguments)) if arguments else None
            if name is not None:
                arguments[name] = _odd(chance, arguments[name], call)
        tell(f"{call.name}({', '.join(f'{name}={in_words(value)}' for name, value in arguments.items())})")
        result = self._answer(call, arguments)
        if result is not None and call.settings:
            _see_that_settings_are_plain(call.settings, result)

    @staticmethod
    def _answer(call, arguments):
        """What the call gives; None where it refuses."""
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                return call.function(**arguments)
        except Broken:
            raise
        except Exception as error:
            judge_refusal(error, {*arguments, *call.also_named})
            return None


def _odd(chance, value, call):
    if isinstance(value, np.ndarray) and chance.random() < 0.7:
        return spoiled_array(chance, value)
    return odd_value(chance, allow_huge=call.may_be_huge)


def _see_that_settings_are_plain(settings, made):
    for name, declared in settings.items():
        value = getattr(made, name)
        if declared.kind in PLAIN and value is not None and not declared.guessed:
            expect(
                type(value) is declared.kind, f"{name} is kept as {type(value).__name__} {in_words(value)}"
            )
            if isinstance(value, float):
                expect(np.isfinite(value), f"{name} is {value}")


KIND = PythonArguments
