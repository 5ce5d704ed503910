# SPDX-License-Identifier: Apache-2.0
"""A repository on this machine, by libfreshet."""
from __future__ import annotations

import ctypes
import dataclasses
import math
import os
import time
from typing import Callable, Iterable, Iterator, Optional, Sequence, Union

from freshet import _binding as c
from freshet.client import Client
from freshet.types import (ERRORS, Asked, Change, Error, Explanation, Measures, Offer, Page, Told,
                           UsageError)

KINDS = ("new", "changed", "gone")


def version() -> str:
    """Version of the library that runs, such as "0.2.0"."""
    return c.library.freshet_version().decode()


def _bytes(text: Union[str, os.PathLike, None]) -> Optional[bytes]:
    if text is None:
        return None
    return os.fsencode(text) if isinstance(text, os.PathLike) else str(text).encode()


def _text(data: Optional[bytes]) -> Optional[str]:
    return None if data is None else data.decode("utf-8", "replace")


def _number(x: float) -> Optional[float]:
    return None if math.isnan(x) else x


def _read(cls, struct, **known):
    """A dataclass out of the fields of a struct that have the same names."""
    values = {}
    for field in dataclasses.fields(cls):
        if field.name in known:
            values[field.name] = known[field.name]
            continue
        value = getattr(struct, field.name)
        if isinstance(value, bytes) or value is None:
            value = _text(value)
        elif isinstance(value, float):
            value = _number(value)
        values[field.name] = value
    return cls(**values)


def _plan_options(policy=None, budget=0, seed=0, now=0, every=0, aim=None, weight=None):
    return c.PlanOptions(policy=_bytes(policy), budget=budget, seed=seed, now=now,
                         cycle_seconds=every, aim=_bytes(aim), weight=_bytes(weight))


class Repository(Client):
    """A repository folder. One thread at a time; several have a Repository each.

    It is a context manager: it is closed at the end of `with`. What was told is kept
    when the call returns, so nothing is lost if it is never closed.
    """

    def __init__(self, directory: Union[str, os.PathLike, None], *, create: bool = False):
        self._handle = ctypes.c_void_p()
        self._hooks = None
        call = c.library.freshet_create if create else c.library.freshet_open
        rc = call(ctypes.byref(self._handle), _bytes(directory))
        try:
            self._check(rc)
        except Error:
            self.close()
            raise

    def __enter__(self) -> "Repository":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Close it; a second time is fine."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        c.library.freshet_close(handle)

    def _check(self, rc: int) -> int:
        if rc >= 0:
            return rc
        message = _text(c.library.freshet_error(self._handle)) or f"error {rc}"
        raise ERRORS.get(rc, Error)(message)

    def _call(self, name: str, *arguments) -> int:
        if not self._handle:
            raise UsageError("the repository is closed")
        return self._check(getattr(c.library, name)(self._handle, *arguments))

    def _each(self, name: str, callback, each: Callable[[object], None], *before) -> None:
        """A call that hands out rows; what each() raises goes up to the caller."""
        raised = []

        @callback
        def row(_, item):
            try:
                each(item.contents)
                return 0
            except BaseException as e:          # it cannot pass through C
                raised.append(e)
                return 1
        self._call(name, *before, row, None)
        if raised:
            raise raised[0]

    # ---- pages and settings ----

    def add(self, url: str, weight: Optional[float] = None) -> bool:
        """Put a page under care. Whether it is new."""
        new = self._call("freshet_add", _bytes(url)) == 1
        if weight is not None:
            self._call("freshet_weigh", _bytes(url), weight)
        return new

    def import_file(self, path: Union[str, os.PathLike]) -> None:
        """A URL list, sitemap, CDX, CDXJ or WARC file. Import it again after a failure."""
        self._call("freshet_import", _bytes(path))

    def set(self, name: str, value: Optional[str]) -> None:
        """A setting of the repository (policy, aim, budget ...); None unsets it."""
        self._call("freshet_set", _bytes(name), _bytes(value))

    def get(self, name: str) -> Optional[str]:
        """The value of a setting, or None."""
        value = ctypes.c_char_p()
        self._call("freshet_get", _bytes(name), ctypes.byref(value))
        return _text(value.value)

    def listen(self, warn: Optional[Callable[[str], None]] = None,
               progress: Optional[Callable[[str, int, int], bool]] = None) -> None:
        """From now on: warnings, and progress(what, done, total), which returns True to stop."""
        hooks = c.Hooks(
            warn=c.WARN(lambda _, text: warn(_text(text))) if warn else c.WARN(),
            progress=c.PROGRESS(lambda _, what, done, total: int(bool(progress(_text(what), done, total))))
            if progress else c.PROGRESS())
        self._call("freshet_listen", ctypes.byref(hooks))
        self._hooks = hooks             # C keeps pointers into it

    def clock(self, now: int) -> None:
        """For trials: from now on it is this time (seconds since the epoch); 0: the clock's."""
        self._call("freshet_clock", now)
        self._now = (lambda: now) if now else time.time

    # ---- plans ----

    def plan(self, **options) -> list[Page]:
        """What would be downloaded, best first. Options: policy, budget (pages), seed, now,
        every (seconds), aim, weight; those that are not given are the repository's settings."""
        pages: list[Page] = []
        self._each("freshet_plan", c.EACH_PAGE, lambda p: pages.append(_read(Page, p)),
                   ctypes.byref(_plan_options(**options)))
        return pages

    def explain(self, url: str, **options) -> Explanation:
        """Why a page would, or would not, be downloaded next. Options as those of plan()."""
        e = c.Explanation()
        self._call("freshet_explain", _bytes(url), ctypes.byref(_plan_options(**options)),
                   ctypes.byref(e))
        return _read(Explanation, e, asked=bool(e.asked), in_next_cycle=bool(e.in_next_cycle))

    # ---- cycles ----

    def begin(self, *, policy: Optional[str] = None, budget: int = 0, seed: int = 0,
              every: int = 0, aim: Optional[str] = None, weight: Optional[str] = None,
              client: Optional[str] = None, delay: float = 0, anew: bool = False) -> None:
        """How this client asks, and how the first ask() opens a cycle if none is open.

        A client that has a name gets again what it was offered and has not told. delay:
        seconds between requests to a host; 0: as set; below 0: none.
        """
        o = c.CycleOptions(policy=_bytes(policy), budget=budget, seed=seed, cycle_seconds=every,
                           aim=_bytes(aim), weight=_bytes(weight), client=_bytes(client),
                           delay=delay, anew=anew)
        self._call("freshet_cycle_begin", ctypes.byref(o))

    def ask(self, count: int = 100, *, per_host: int = 0, max_requests: int = 1,
            seconds: int = 0, agent: Optional[str] = None) -> Asked:
        o = c.AskOptions(want=count, per_host=per_host, max_requests=max_requests,
                         lease_seconds=seconds, agent=_bytes(agent))
        a = c.Asked()
        self._call("freshet_ask", ctypes.byref(o), ctypes.byref(a))
        offers = [a.offers[i].contents for i in range(a.n)]
        return _read(Asked, a, done=bool(a.done),
                     offers=tuple(_read(Offer, x, again=bool(x.again)) for x in offers))

    def tell_all(self, told: Iterable[Told]) -> int:
        rows = [self._told(t) for t in told]
        pointers = (ctypes.POINTER(c.Told) * len(rows))(*map(ctypes.pointer, rows))
        return self._call("freshet_tell_all", pointers, len(rows)) if rows else 0

    def _tell(self, told: Told) -> bool:
        return self._call("freshet_tell", ctypes.byref(self._told(told))) == 1

    @staticmethod
    def _told(t: Told) -> c.Told:
        return c.Told(lease=_bytes(t.lease), url=_bytes(t.url), outcome=int(t.outcome),
                      status=t.status, digest=_bytes(t.digest), etag=_bytes(t.etag),
                      last_modified=_bytes(t.last_modified),
                      links=_bytes(" ".join(t.links)) if t.links else None,
                      cause=_bytes(t.cause), requests=t.requests, time=t.time, add=t.add)

    def release(self, offer: Union[Offer, str]) -> None:
        self._call("freshet_release", _bytes(offer.lease if isinstance(offer, Offer) else offer))

    def end(self) -> bool:
        """The cycle that is open for other crawlers is over. False: none was open."""
        return self._call("freshet_cycle_end") == 1

    # ---- changes, export ----

    def changes(self, cursor: Optional[str] = None) -> Iterator[Change]:
        """Every change that was found since the cursor (None: from the beginning)."""
        rows: list[Change] = []
        self._each("freshet_changes", c.EACH_CHANGE,
                   lambda x: rows.append(_read(Change, x, kind=KINDS[x.kind])), _bytes(cursor))
        return iter(rows)

    def export(self, kind: str, path: Union[str, os.PathLike]) -> None:
        """kind: "cdxj", "cdxj-extended" (for replay), or "warc", whose path is a folder."""
        self._call("freshet_export", _bytes(kind), _bytes(path))


def open(directory: Union[str, os.PathLike]) -> Repository:
    """Open a repository folder."""
    return Repository(directory)


def create(directory: Union[str, os.PathLike]) -> Repository:
    """The same, and make it where it is not there."""
    return Repository(directory, create=True)


def replay(paths: Union[str, os.PathLike, Sequence[Union[str, os.PathLike]]], *,
           policies: Sequence[str] = ("auto",), budget_percent: float = 2,
           every: int = 14 * 86400, seed: int = 0, aim: str = "freshness") -> list[Measures]:
    """How policies would have done on recorded history: CDX, CDXJ, WARC files, or folders of
    repositories. One row a policy; frame() makes a pandas.DataFrame of them."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    names = (ctypes.c_char_p * len(paths))(*map(_bytes, paths))
    rows = []
    with Repository(None) as f:
        for policy in policies:
            o = c.ReplayOptions(policy=_bytes(policy), budget_percent=budget_percent,
                                cycle_seconds=every, seed=seed, aim=_bytes(aim))
            m = c.Measures()
            f._call("freshet_replay", names, len(paths), ctypes.byref(o), ctypes.byref(m))
            rows.append(_read(Measures, m, policy=policy, aim=aim))
    return rows
