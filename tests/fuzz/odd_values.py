"""Values that do not belong where they are put: what people pass by mistake, and what they pass in anger."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from .judgement import OwnError


class LeakedRepr(Exception):
    """Raised by a `__repr__`: nobody asked for the text, so nobody may see this."""


class Unprintable:
    def __repr__(self):
        raise LeakedRepr

    __str__ = __repr__


class UnprintableInt(int):
    __repr__ = __str__ = Unprintable.__repr__


class Refuses:
    """Every conversion fails with an error of its own."""

    def _refuse(self, *_, **__):
        raise OwnError("I refuse")

    __index__ = __float__ = __iter__ = __len__ = __array__ = __bool__ = __eq__ = __hash__ = __call__ = _refuse


class Pretends:
    """Says that it has three items, and attributes of any name."""

    def __len__(self):
        return 3

    def __getitem__(self, key):
        return [1, 2, 3][key]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class FalseInt(int):
    """Compares as nobody expects."""

    def __lt__(self, other):
        return False

    __gt__ = __le__ = __ge__ = __lt__


def plain(chance):
    return chance.choice(
        [
            None,
            True,
            False,
            "",
            "x",
            "none",
            "auto",
            "1",
            "nan",
            "\0",
            "é" * 300,
            b"",
            b"x",
            -1,
            0,
            1,
            2,
            3,
            255,
        ]
    )


def huge(chance):
    return chance.choice(
        [2**63 - 1, 2**63, 2**64, 10**30, 10**5000, -(2**63), -(10**30), 1e308, -1e308, 1e30]
    )


def number(chance):
    return chance.choice(
        [
            *(float("nan"), float("inf"), -float("inf"), -0.0, 0.5, 1.0, 1.5, 3.0, 5e-324, -0.5, 1 + 2**-52),
            *(Fraction(1, 3), Decimal("0.25"), Decimal("nan"), 1j, Fraction(3)),
        ]
    )


def of_numpy(chance):
    kind = chance.choice([np.int8, np.int16, np.uint8, np.uint64, np.int64, np.float16, np.float32, np.bool_])
    value = kind(chance.choice([0, 1, 2, 3, 100]))
    return chance.choice([value, np.array(value), np.array([value]), np.str_("x"), np.datetime64("NaT")])


def container(chance):
    return chance.choice(
        [
            *([], [1, 2], [[1], [2, 3]], (), {}, {"name": "x"}, {"name": None}, set(), range(0), range(5)),
            *(np.zeros(0), np.zeros((2, 0, 3)), np.full((2, 2), np.nan), np.array(["a"]), np.array([None])),
            *(np.zeros((1, 1, 1, 1), ">i4"), np.ma.ones(3), memoryview(b"abc"), iter([1, 2]), {1: 2}),
        ]
    )


def hostile(chance):
    return chance.choice(
        [
            *(Unprintable(), UnprintableInt(1), UnprintableInt(-1), Refuses(), Pretends(), FalseInt(-5)),
            *(object(), object, int, len, lambda *a, **k: None, NotImplemented, Ellipsis, Exception("x")),
        ]
    )


def odd_value(chance, *, allow_huge=True):
    """Any of them."""
    makers = [plain, number, of_numpy, container, hostile, *([huge] if allow_huge else [])]
    return chance.choice(makers)(chance)


def spoiled_array(chance, array):
    """An array like the given one in which something is wrong, or nearly so."""
    array = np.array(array)
    ways = {
        "another type": lambda: _of_type(
            array, chance.choice([np.float16, np.int8, np.uint8, object, complex, "U8"])
        ),
        "another order": lambda: np.asfortranarray(array),
        "other bytes": lambda: array.astype(array.dtype.newbyteorder(">")),
        "fewer rows": lambda: array[: max(0, array.shape[0] - 1)] if array.ndim else array,
        "no rows": lambda: array[:0] if array.ndim else array,
        "more rows": lambda: np.concatenate([array, array]) if array.ndim else array,
        "one axis more": lambda: array[None],
        "one axis less": lambda: array.reshape(-1),
        "turned": lambda: array.T,
        "a narrow axis": lambda: array[..., :1] if array.ndim else array,
        "every other": lambda: np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array,
        "read-only": lambda: _read_only(array),
        "a spoiled entry": lambda: _with_entry(chance, array),
        "all spoiled": lambda: np.full_like(array, chance.choice([0, 1, 100])),
        "a list": array.tolist,
        "a masked array": lambda: np.ma.masked_array(array, mask=np.ones(array.shape, bool)),
        "something else": lambda: odd_value(chance),
    }
    return ways[chance.choice(list(ways))]()


def _of_type(array, kind):
    try:
        with np.errstate(all="ignore"):
            return array.astype(kind)
    except (TypeError, ValueError):  # one that was spoiled before
        return array


def _read_only(array):
    array.setflags(write=False)
    return array


def _with_entry(chance, array):
    if array.size:
        odd = [-1, 7, 255, 2**31, -(2**31), np.nan, np.inf, -np.inf, 1e300, -0.5, 2.5]
        entry = chance.choice([one for one in odd if array.dtype.kind == "f" or np.isfinite(one)])
        with np.errstate(all="ignore"):
            array.reshape(-1)[chance.randrange(array.size)] = np.asarray(entry).astype(array.dtype)
    return array


def in_words(value):
    """A value as a find tells it, whatever its own text does."""
    try:
        text = " ".join(repr(value).split())
    except BaseException:
        text = f"one of {type(value).__name__}"
    return text if len(text) < 200 else f"{text[:150]}...{text[-30:]}"
