# SPDX-License-Identifier: Apache-2.0
"""What Freshet says and is told, whether by the library or by the service."""
from __future__ import annotations

import dataclasses
import enum
from typing import Iterator, Optional, Sequence


class Error(Exception):
    """A call that failed. Nothing that was told before is lost."""
    code = -1


class UsageError(Error):
    """What was asked makes no sense."""
    code = -2


class FileError(Error):
    """A file could not be read or written."""
    code = -3


class ParseError(Error):
    """A file is not what it should be."""
    code = -4


class LimitError(Error):
    """Larger than the library takes."""
    code = -5


class NetworkError(Error):
    """The network, or the service at its other end."""
    code = -6


class StoreError(Error):
    """The tables: damaged, no room, locked for too long, or no repository at all."""
    code = -7


class BusyError(Error):
    """Another program is at work: try later."""
    code = -8


class Stopped(Error):
    """A callback of yours said stop."""
    code = -9


ERRORS = {e.code: e for e in (Error, UsageError, FileError, ParseError, LimitError, NetworkError,
                              StoreError, BusyError, Stopped)}


class Outcome(enum.IntEnum):
    """What came of a page. BY_STATUS leaves it to Freshet: status and digest say it."""
    BY_STATUS = 0
    SAME = 1
    CHANGED = 2
    GONE = 3
    FAILED = 4
    BLOCKED = 5


@dataclasses.dataclass(frozen=True)
class Offer:
    """A page to download now. Ask with its etag and last_modified, not before not_before."""
    lease: str
    url: str
    given: str
    etag: Optional[str] = None
    last_modified: Optional[str] = None
    last_visit: int = 0         #: seconds since the epoch; 0: never
    not_before: int = 0
    until: int = 0              #: if nothing is told by then, the offer has lapsed
    max_requests: int = 1
    again: bool = False         #: it was offered to this client before
    score: Optional[float] = None
    probability: Optional[float] = None
    reason: str = ""
    robots: Optional[str] = None
    robots_read: int = 0
    crawl_delay: Optional[float] = None

    def conditions(self) -> dict[str, str]:
        """The headers of a conditional request."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


@dataclasses.dataclass(frozen=True)
class Asked:
    """An answer to ask(): offers; or none of them, and how long to wait; or done."""
    offers: Sequence[Offer] = ()
    done: bool = False
    wait: int = 0
    cycle: int = 0
    budget: int = 0
    spent: int = 0

    def __iter__(self) -> Iterator[Offer]:
        return iter(self.offers)

    def __len__(self) -> int:
        return len(self.offers)


@dataclasses.dataclass(frozen=True)
class Told:
    """What came of a page: name the lease of an offer, or the URL of another page."""
    lease: Optional[str] = None
    url: Optional[str] = None
    outcome: Outcome = Outcome.BY_STATUS
    status: int = 0             #: of HTTP; 0: there was no answer
    digest: Optional[str] = None        #: any text that differs when the content does
    etag: Optional[str] = None
    last_modified: Optional[str] = None
    links: Sequence[str] = ()
    cause: Optional[str] = None         #: of a failure: dns, connect, timeout, tls, robots ...
    requests: int = 0           #: that it cost; 0: one
    time: int = 0               #: 0: now
    add: bool = False           #: put the page under care if it is not


@dataclasses.dataclass(frozen=True)
class Page:
    """A line of a plan."""
    url: str
    score: Optional[float]
    probability: Optional[float]
    reason: str


@dataclasses.dataclass(frozen=True)
class Explanation:
    """Why a page would, or would not, be downloaded next."""
    url: str
    asked: bool
    in_next_cycle: bool
    rank: int
    of: int
    cycles: int
    budget: int
    score: Optional[float]
    probability: Optional[float]
    reason: Optional[str]
    because: Optional[str]
    policy_says: Optional[str]
    visits: int
    changes: int
    last_visit: int
    failed_in_row: int
    rests_until: int


@dataclasses.dataclass(frozen=True)
class Change:
    """A change that was found. Keep its cursor when you have dealt with it."""
    cursor: str
    url: str
    kind: str                   #: new, changed or gone
    time: int
    cycle: int
    status: int
    mime: Optional[str] = None
    title: Optional[str] = None
    digest: Optional[str] = None
    robots: Optional[str] = None
    file: Optional[str] = None
    offset: int = -1
    length: int = -1


@dataclasses.dataclass(frozen=True)
class Measures:
    """How a policy would have done on recorded history."""
    policy: str
    aim: str
    pages: int
    cycles: int
    budget: int
    change_ratio: float
    change_ratio_cycle: float
    weighted_change_ratio: float
    freshness: float
    age_days: float
    max_unvisited_days: float
    freshness_time: float
    age_time_days: float


def frame(rows):
    """Rows of this package as a pandas.DataFrame (python3-pandas must be there)."""
    import pandas
    return pandas.DataFrame([dataclasses.asdict(r) for r in rows])
