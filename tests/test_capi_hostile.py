"""100,000 calls with random and hostile arguments: each gives a status, and none writes where it may not.

Everything that a call is given lies in one piece of memory with guard zones between arrays. A valid call is
taken and up to three of its arguments are spoiled: pointers are null, crooked or those of another array,
lengths too small, numbers absurd, contents random. A call that is refused must leave every byte as it was;
one that succeeds may change only the arrays that the header does not call const, and these may not begin
where anything else is, nor anything be crooked. What chance would hardly find, wrong numbers in an array, is
tried number by number and for all at once.
"""

import random
import re
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from c_face import C_NAMES, stream, tables_in_c
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import latent_labels

import fasturl as fu
from fasturl.capi import HEADER, ffi, header, lib

CALLS, EXAMPLES = 100_000, 50
GUARD, SLACK, PATTERN = 64, 1 << 14, 0xA5
TEXT = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
ODD_INTEGERS = (-(2**63), -(2**31), -1, 0, 1, 2, 3, 5, 8, 255, 257, 2**31, 2**32 + 1, 2**61, 2**62, 2**63 - 1)
ODD_NUMBERS = (float("nan"), float("inf"), -float("inf"), -1.0, 0.0, 1e-320, 0.5, 1.0, 1.0 + 2**-52, 1e308)

ONLY_READ = {("observe", "noise"), ("decode_affine", "noise")}
"""Members that are not const, since another function fills them."""


class Struct:
    def __init__(self, name, **members):
        self.name, self.members = name, members


class Slot(NamedTuple):
    """One thing that can be spoiled."""

    kind: str  # pointer, length, struct, or the type of a number
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
        self.arguments, self.slots, self.arrays = [], [], []
        parameters = iter(parameters_of(name))
        for value in values:
            self._add(value, parameters)
        assert self.end + SLACK < 1 << 16
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
        if kind in ("pointer", "struct"):
            others = [other.value for other in self.slots if other.kind in ("pointer", "struct")]
            near = chance.choice(
                [value + 8 * chance.randrange(8), chance.choice(others), chance.choice(others) + 8]
            )
            self._set(arguments, slot, chance.choice([0, value + 1, value + 4, near]))
        elif kind == "length":
            self._set(
                arguments,
                slot,
                chance.choice([-(2**63), -1, 0, 1, value // 2, value - 1, chance.randrange(value + 1)]),
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


def cases():
    rng = np.random.default_rng(0)
    model = fu.LockBernoulli(2, 0.3).instance(0)
    tables = tables_in_c(model)
    tables["random_rewards"] = tables["random_rewards"].view(np.uint8)

    def dynamics():
        return Struct("fasturl_dynamics", horizon=2, n_states=3, n_actions=4, **tables)

    def block(**changes):
        sizes = {
            "episodes": 2,
            "n_levels": 2,
            "n_states": 3,
            "dimension": 3,
            "coordinates": 4,
            "n_informative": 3,
        }
        arrays = {
            "noise": rng.normal(size=(2, 4, 2)).astype(np.float32),
            "means": rng.normal(size=(3, 3, 2)).astype(np.float32),
        }
        return Struct("fasturl_block", **(sizes | arrays | changes))

    def training():
        arrays = {
            "labels": latent_labels(2, 2, 3),
            "dynamics_rng": stream(0, 1),
            "policy_rng": stream(0, 3),
            "q": np.ones((2, 3, 4)),
        }
        arrays |= {
            "visits": np.zeros((2, 3, 4), np.int64),
            "rates": np.full(6, 0.3),
            "bonuses": np.zeros(6),
            "epsilons": np.zeros(5),
        }
        sizes = {"dynamics": dynamics(), "episodes": 5, "n_labels": 3, "label_rows": 2, "cap": 1.0}
        return Struct("fasturl_training", **arrays, **sizes, returns=np.zeros(5))

    oracleq = Struct(
        "fasturl_oracleq",
        schedule=0,
        learning_rate=0.3,
        confidence=1e-3,
        failure_probability=0.05,
        max_return=1.0,
    )
    qlearning = Struct("fasturl_qlearning", learning_rate=0.3, exploration_fraction=0.5)
    rngs, dynamics_rng, numbers = stream(0, 2, words=16), stream(0, 1), rng.random(6)
    weights, bias, relabel = (
        rng.normal(size=(3, 3)).astype(np.float32),
        np.zeros(3, np.float32),
        np.arange(3, dtype=np.uint8),
    )
    actions, states = np.array([0, 1, 3]), np.array([0, 1, 2])
    chances, rewards = np.array(model.transitions), np.array(model.rewards)
    path, doubles, visits = np.array([0, 1, 2]), np.ones((2, 3, 4)), np.zeros((2, 3, 4), np.int64)
    return [
        Case("strerror", 3),
        Case("seed_stream", 7, np.array([1, 2], np.uint32), np.zeros(4, np.uint64)),
        Case("fill_bits", dynamics_rng, np.zeros(5, np.uint64)),
        Case("draw_lock", dynamics_rng, 2, 0.2, np.zeros((2, 3, 4, 3))),
        Case("cumulate", chances, 3, np.zeros_like(chances)),
        Case("start", dynamics(), dynamics_rng, 3, np.zeros(3, np.int64)),
        Case("step", dynamics(), 1, dynamics_rng, 3, actions, states, np.zeros(3)),
        Case("optimal_q", chances, rewards, 2, 3, 4, doubles, np.zeros((3, 3))),
        Case("lock_words", rngs, 5, 2, np.zeros(4, np.uint64), np.zeros((2, 6, 3, 1), np.uint64)),
        Case("gaussian_noise", rngs, 0.1, block(), np.zeros(4, np.uint64)),
        Case("observe", block(), np.array([[0, 1], [2, 0]]), np.zeros((2, 2, 3), np.float32)),
        Case(
            "decode_affine",
            block(),
            3,
            weights,
            bias,
            relabel,
            np.zeros((4, 3, 2), np.float32),
            np.zeros((2, 2, 3), np.uint8),
        ),
        Case("latent_labels", 2, 2, 3, np.zeros((2, 3, 3), np.uint8)),
        Case(
            "count_labels",
            np.array([0, 1, 2, 1], np.uint8),
            2,
            3,
            np.array([0, 1, 4]),
            np.zeros((2, 3), np.int64),
        ),
        Case("fix_labels", np.array([[0, 0, 9], [1, 5, 0]]), 2, 3, np.array([0, 1]), relabel),
        Case(
            "update_trajectory",
            2,
            3,
            4,
            path,
            np.array([1, 3]),
            np.zeros(2),
            numbers,
            numbers,
            1.0,
            doubles,
            visits,
        ),
        Case("learn", training()),
        Case("train_oracleq", training(), oracleq),
        Case("train_qlearning", training(), qlearning),
    ]


@pytest.fixture(scope="module")
def table():
    made = cases()
    assert [case.name for case in made] == list(header.FUNCTIONS)
    return made


def test_the_calls_are_valid_before_they_are_spoiled(table):
    for case in table:
        if case.name != "strerror":
            case.restore()
            assert case.function(*case.arguments) == lib.FASTURL_OK, case.name


def test_hostile_calls_give_a_status_and_write_nowhere_else(table):
    seen = Counter()

    @settings(max_examples=EXAMPLES)
    @given(st.integers(0, 2**64 - 1))
    def play(seed):
        chance = random.Random(seed)
        for _ in range(CALLS // EXAMPLES):
            case = chance.choice(table)
            status = case.play(chance)
            if case.name != "strerror":
                seen[case.name, status] += 1

    play()
    statuses = Counter()
    for (_, status), count in seen.items():
        statuses[status] += count
    assert set(statuses) == set(range(11))  # every status but that of a missing library, and no other
    for case in table[1:]:
        assert seen[case.name, lib.FASTURL_OK] > 100
        assert (
            sum(
                count
                for (name, status), count in seen.items()
                if name == case.name and status != lib.FASTURL_OK
            )
            > 100
        )


WRONG = [
    ("cumulate", "probabilities", -0.5, "E_NUMBER"),
    ("start", "start", np.nan, "E_TABLE"),
    ("step", "transitions", np.nan, "E_TABLE"),
    ("step", "transitions", 0.999, "E_TABLE"),
    ("step", "rewards", np.inf, "E_NUMBER"),
    ("step", "random_rewards", 2, "E_RANGE"),
    ("step", "actions", 4, "E_RANGE"),
    ("step", "states", 3, "E_RANGE"),
    ("optimal_q", "probabilities", np.nan, "E_NUMBER"),
    ("optimal_q", "rewards", np.inf, "E_NUMBER"),
    ("observe", "states", -1, "E_RANGE"),
    ("count_labels", "labels", 3, "E_RANGE"),
    ("count_labels", "starts", 5, "E_RANGE"),
    ("count_labels", "starts", -1, "E_RANGE"),
    ("fix_labels", "counts", -1, "E_RANGE"),
    ("fix_labels", "standards", 3, "E_RANGE"),
    ("fix_labels", "relabel", 3, "E_RANGE"),
    ("update_trajectory", "labels", 3, "E_RANGE"),
    ("update_trajectory", "actions", 4, "E_RANGE"),
    ("update_trajectory", "rewards", np.nan, "E_NUMBER"),
    ("update_trajectory", "visits", 5, "E_RANGE"),
    ("update_trajectory", "visits", -1, "E_RANGE"),
    ("learn", "visits", 1, "E_RANGE"),
    ("learn", "visits", -1, "E_RANGE"),
    *(
        (function, *wrong)
        for function in ("learn", "train_oracleq", "train_qlearning")
        for wrong in [
            ("start", 0.999, "E_TABLE"),
            ("transitions", np.nan, "E_TABLE"),
            ("rewards", np.inf, "E_NUMBER"),
            ("random_rewards", 2, "E_RANGE"),
            ("labels", 3, "E_RANGE"),
        ]
    ),
]


def case_of(table, function):
    """The valid call of a function, with its memory as it was."""
    (case,) = (case for case in table if case.name == function)
    case.restore()
    return case


@pytest.mark.parametrize(("function", "array", "value", "status"), WRONG)
def test_wrong_numbers_are_refused_wherever_they_are_read(table, function, array, value, status):
    case = case_of(table, function)
    slot = min(
        (slot for slot in case.slots if (slot.name, slot.kind) == (array, "pointer")),
        key=lambda slot: not slot.constant,
    )
    numbers = ffi.cast(
        slot.place[2] if slot.place else ffi.typeof(case.function).args[slot.position], slot.value
    )
    expected = getattr(lib, f"FASTURL_{status}")
    statuses = set()
    for places in [*([place] for place in range(slot.count)), range(slot.count)]:
        case.restore()
        for place in places:
            numbers[place] = value
        last = case.call(case.arguments)
        statuses.add(last)
    assert last == expected  # where all are wrong
    assert statuses <= {lib.FASTURL_OK, expected}


@pytest.mark.parametrize("value", [np.nan, -np.inf, -0.5])
@pytest.mark.parametrize(("function", "name"), [("draw_lock", "switch_"), ("gaussian_noise", "noise")])
def test_a_number_outside_its_interval_is_refused(table, function, name, value):
    assert status_with(case_of(table, function), name, value) == lib.FASTURL_E_NUMBER


@pytest.mark.parametrize("function", ["update_trajectory", "learn"])
def test_a_cap_may_be_infinite_but_must_be_a_number(table, function):
    case = case_of(table, function)
    assert status_with(case, "cap", np.nan) == lib.FASTURL_E_NUMBER
    assert status_with(case, "cap", np.inf) == lib.FASTURL_OK


def status_with(case, name, value):
    arguments = list(case.arguments)
    others = ("pointer", "length", "struct")
    (slot,) = (slot for slot in case.slots if slot.name == name and slot.kind not in others)
    case._set(arguments, slot, float(value))
    return case.call(arguments)
