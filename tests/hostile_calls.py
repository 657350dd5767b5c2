"""Calls of the C face that can be spoiled: valid ones, laid out in one piece of memory with guard zones.

Everything that a call is given lies in one piece of memory with guard zones between arrays. A call that is
refused must leave every byte as it was; one that succeeds may change only the arrays that the header does not
call const, and these may not begin where anything else is, nor anything be crooked.
"""

import re
from typing import Any, NamedTuple

import numpy as np
from c_face import C_NAMES, start_learner

from fasturl.capi import HEADER, ffi, lib

GUARD, SLACK, PATTERN = 64, 1 << 14, 0xA5
TEXT = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
ODD_INTEGERS = (-(2**63), -(2**31), -1, 0, 1, 2, 3, 5, 8, 255, 257, 2**31, 2**32 + 1, 2**61, 2**62, 2**63 - 1)
ODD_NUMBERS = (float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 1e-320, 0.5, 1.0, 1.0 + 2**-52, 1e308)

ONLY_READ = {("observe", "noise"), ("decode_affine", "noise")}
"""Members that are not const, since another function fills them."""


class Struct:
    def __init__(self, name, **members):
        self.name, self.members = name, members


class Cell:
    """A number that the function fills."""


class Handle:
    """A fresh learner for each call."""


class Slot(NamedTuple):
    """One thing that can be spoiled."""

    kind: str  # pointer, length, struct, text, or the type of a number
    name: str
    position: int | None  # among the arguments, or
    place: tuple[Any, ...] | None  # struct, member and C type
    value: Any
    item: int = 0  # bytes of the struct, or of an element
    count: int = 1
    constant: bool = True


def parameters_of(name):
    """For each argument its name, and whether the header calls what it points to const."""
    (arguments,) = re.findall(rf"^typedef [\w *]*fasturl_{name}_fn\((.*?)\);", TEXT, re.DOTALL | re.MULTILINE)
    return [
        (re.split(r"[ *]", argument)[-1], argument.strip().startswith("const "))
        for argument in arguments.split(",")
    ]


def constant_member(struct, member):
    (body,) = re.findall(rf"typedef struct {struct} {{(.*?)}} {struct};", TEXT, re.DOTALL)
    (line,) = re.findall(rf"^.*\W{member};", body, re.MULTILINE)
    return line.strip().startswith("const ")


class Case:
    """A valid call of one function, laid out in memory, with all that can be spoiled about it."""

    def __init__(self, name, *values):
        self.name, self.function = name, getattr(lib, f"fasturl_{name}")
        self.arena = ffi.new("char[]", 1 << 16)
        self.base = int(ffi.cast("intptr_t", self.arena))
        ffi.memmove(self.arena, bytes([PATTERN]) * (1 << 16), 1 << 16)
        self.end = -self.base % 64 + GUARD
        self.arguments, self.slots, self.arrays, self.handle = [], [], [], None
        parameters = iter(parameters_of(name))
        for value in values:
            self._add(value, parameters)
        assert self.end + SLACK < 1 << 16
        self.arena[(1 << 16) - 1] = b"\0"  # where a text that has lost its end stops
        self.original = bytes(ffi.buffer(self.arena))

    def _place(self, size):
        here = self.end
        self.end = here + -(-size // 64) * 64 + GUARD
        return here

    def _add(self, value, parameters):
        """One value as the arguments that it becomes."""
        (name, constant), position = next(parameters), len(self.arguments)
        if isinstance(value, np.ndarray):
            kept = self._array(value)
            self.arguments += [ffi.cast(f"{C_NAMES[value.dtype.name]} *", kept), value.size]
            self.slots.append(
                Slot("pointer", name, position, None, kept, value.itemsize, value.size, constant)
            )
            self.slots.append(Slot("length", next(parameters)[0], position + 1, None, value.size))
        elif isinstance(value, Struct):
            place = self._struct(value)
            self.arguments.append(ffi.cast(f"{value.name} *", place))
            self.slots.append(Slot("struct", name, position, None, place, item=ffi.sizeof(value.name)))
        elif isinstance(value, bytes):
            place = self._array(np.frombuffer(value + b"\0", np.uint8))
            self.arguments.append(ffi.cast("char *", place))
            self.slots.append(Slot("text", name, position, None, place))
        elif isinstance(value, Cell):
            place = self.base + self._place(8)
            self.arguments.append(ffi.cast("uint64_t *", place))
            self.slots.append(Slot("struct", name, position, None, place, item=8, constant=False))
        elif isinstance(value, Handle):
            self.handle = start_learner()
            self.arguments.append(self.handle)
            self.slots.append(Slot("int", name, position, None, self.handle))
        else:
            self.arguments.append(value)
            self.slots.append(Slot(type(value).__name__, name, position, None, value))

    def _array(self, array):
        where = self._place(array.nbytes)
        ffi.memmove(self.arena + where, array.tobytes(), array.nbytes)
        self.arrays.append((where, array.nbytes))
        return self.base + where

    def _struct(self, struct):
        size = ffi.sizeof(struct.name)
        where = self._place(size)
        made = ffi.cast(f"{struct.name} *", self.arena + where)
        ffi.memmove(made, bytes(size), size)
        made.size = size
        kinds = dict(ffi.typeof(struct.name).fields)
        for member, value in ({"size": size} | struct.members).items():
            place = (made, member, kinds[member].type)
            if isinstance(value, np.ndarray):
                kept = self._array(value)
                setattr(made, member, ffi.cast(kinds[member].type, kept))
                setattr(made, f"{member}_length", value.size)
                length = (made, f"{member}_length", kinds[f"{member}_length"].type)
                constant = constant_member(struct.name, member) or (self.name, member) in ONLY_READ
                self.slots.append(
                    Slot("pointer", member, None, place, kept, value.itemsize, value.size, constant)
                )
                self.slots.append(Slot("length", length[1], None, length, value.size))
            elif isinstance(value, Struct):
                inner = self._struct(value)
                setattr(made, member, ffi.cast(kinds[member].type, inner))
                self.slots.append(Slot("struct", member, None, place, inner, item=ffi.sizeof(value.name)))
            else:
                setattr(made, member, value)
                self.slots.append(Slot(type(value).__name__, member, None, place, value))
        return self.base + where

    def _set(self, arguments, slot, value):
        if slot.place is not None:
            made, member, kind = slot.place
            setattr(
                made,
                member,
                ffi.cast(kind, value) if kind.kind == "pointer" or not isinstance(value, float) else value,
            )
        else:
            kind = ffi.typeof(self.function).args[slot.position]
            arguments[slot.position] = value if isinstance(value, float) else ffi.cast(kind, value)

    def restore(self):
        ffi.memmove(self.arena, self.original, len(self.original))
        if self.handle is not None:
            lib.fasturl_learner_free(self.handle)
            self.handle = self.arguments[0] = start_learner()

    def spoil(self, chance, arguments):
        """Spoil one thing."""
        if chance.random() < 0.25 and self.arrays:
            where, size = chance.choice(self.arrays)
            spot = where + 8 * chance.randrange(-(-size // 8))
            odd = chance.choice(
                [chance.randbytes(8), bytes(8), b"\xff" * 8, np.float64(chance.choice(ODD_NUMBERS)).tobytes()]
            )
            ffi.memmove(self.arena + spot, odd[: min(8, where + size - spot)], min(8, where + size - spot))
            return
        slot = chance.choice(self.slots)
        kind, value = slot.kind, slot.value
        if kind in ("pointer", "struct", "text"):
            others = [other.value for other in self.slots if other.kind in ("pointer", "struct")]
            near = chance.choice(
                [value + 8 * chance.randrange(8), chance.choice(others), chance.choice(others) + 8]
            )
            self._set(arguments, slot, chance.choice([0, value + 1, value + 4, near]))
        elif kind == "length":
            self._set(
                arguments,
                slot,
                chance.choice(
                    [
                        *(-(2**63), -1, 0, 1, 2**61, 2**62, 2**63 - 1),
                        *(value // 2, value - 1, chance.randrange(value + 1)),
                    ]
                ),
            )
        elif kind == "int":
            self._set(
                arguments,
                slot,
                chance.choice([*ODD_INTEGERS, value - 1, value + 1, chance.randrange(-(2**63), 2**63)]),
            )
        else:
            self._set(arguments, slot, chance.choice(ODD_NUMBERS))

    def play(self, chance):
        """One call; returns its status."""
        self.restore()
        arguments = list(self.arguments)
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            self.spoil(chance, arguments)
        return self.call(arguments)

    def call(self, arguments):
        """Call, see that nothing was written where it may not be, and return the status."""
        before = bytes(ffi.buffer(self.arena))
        status = self.function(*arguments)
        after = bytes(ffi.buffer(self.arena))
        if after != before:
            assert status == lib.FASTURL_OK, f"{self.name} has written, and given status {status}"
            changed = np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)
            for slot, first, length in self._given(arguments):
                if not slot.constant:
                    changed[first : first + length * slot.item] = False
            assert not changed.any(), (
                f"{self.name} has written at {np.flatnonzero(changed)[:5]}, outside what it was given"
            )
            self._see_that_it_could_be_accepted(arguments)
        return status

    def _given(self, arguments):
        """Arrays and structs as they are given: slot, place in the arena, length. At least the first element
        is used, if there is one."""
        for slot in self.slots:
            if slot.kind in ("pointer", "struct"):
                pointer = arguments[slot.position] if slot.place is None else getattr(*slot.place[:2])
                length = 1
                if slot.kind == "pointer":
                    length = int(
                        arguments[slot.position + 1]
                        if slot.place is None
                        else getattr(slot.place[0], f"{slot.name}_length")
                    )
                yield slot, int(ffi.cast("intptr_t", pointer)) - self.base, length

    def _see_that_it_could_be_accepted(self, arguments):
        used = [
            (slot, first, first + slot.item)
            for slot, first, length in self._given(arguments)
            if length > 0
            and (self.name, slot.name) != ("gaussian_noise", "means")  # which it does not look at
        ]
        for i, (slot, first, end) in enumerate(used):
            assert (self.base + first) % min(slot.item, 8) == 0, (
                f"{self.name} has taken {slot.name}, which is not aligned"
            )
            for other, begin, after in used[:i]:
                if not (slot.constant and other.constant):
                    assert end <= begin or after <= first, (
                        f"{self.name} has taken {slot.name} and {other.name} in the same place"
                    )
