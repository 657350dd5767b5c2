"""Calls of the C face with null pointers, wrong lengths, stale handles, absurd numbers and spoiled contents:
`hostile_calls` says what is spoiled, and what a call may not do."""

from valid_calls import cases

from fasturl.capi import header

from .judgement import Broken, expect
from .kinds import Kind


class CCalls(Kind):
    name = "c-calls"

    def __init__(self, folder):
        super().__init__(folder)
        self.cases = cases()
        self.statuses = set(header.STATUSES.values())

    def play(self, chance, place, tell):
        case = chance.choice(self.cases)
        tell(f"fasturl_{case.name}")
        try:
            status = case.play(chance)
        except AssertionError as error:
            raise Broken(str(error)) from None
        if case.name != "strerror":
            expect(status in self.statuses, f"status {status}")


KIND = CCalls
