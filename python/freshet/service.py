# SPDX-License-Identifier: Apache-2.0
"""A `freshet serve`, anywhere, with the calls of a Repository.

    from freshet.service import Service

    crawl = Service("http://127.0.0.1:8390", client="my-crawler")
    for offer in crawl.offers(count=50):
        ...
        crawl.tell(offer, status=200, digest=digest)
    crawl.end()
"""
from __future__ import annotations

import calendar
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Iterable, Iterator, Optional, Union

from freshet.client import Client
from freshet.types import (Asked, BusyError, Change, Error, Explanation, LimitError, NetworkError,
                           Offer, Outcome, Page, StoreError, Told, UsageError)

TRIES = 3               # of a request that the network lost
ANSWER_MAX = 64 << 20   # bytes

BY_STATUS = {400: UsageError, 401: UsageError, 403: UsageError, 404: UsageError, 409: BusyError,
             413: LimitError, 422: UsageError, 429: BusyError, 500: StoreError, 503: BusyError,
             507: StoreError}


def _seconds(text: Optional[str]) -> int:
    """Seconds since the epoch of a time of 14 digits, or of ISO 8601; 0: none."""
    digits = "".join(filter(str.isdigit, text or ""))
    return calendar.timegm(time.strptime(digits[:14], "%Y%m%d%H%M%S")) if digits else 0


def _digits(seconds: int) -> str:
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(seconds))


class _KeepsToken(urllib.request.HTTPRedirectHandler):
    """No redirect is followed: it would take the token to another server."""

    def redirect_request(self, *_):
        return None


class Service(Client):
    """The service at an address. Several threads have one each."""

    def __init__(self, url: str = "http://127.0.0.1:8390", *, token: Optional[str] = None,
                 client: Optional[str] = None, timeout: float = 60):
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client, self._timeout = client, timeout
        self._opener = urllib.request.build_opener(_KeepsToken)

    def _request(self, method: str, path: str, body=None, *, query=None, key=None) -> dict:
        """The JSON document that answers; a request that may be repeated is, if it got lost."""
        query = {k: v for k, v in (query or {}).items() if v is not None}
        url = f"{self.url}/v1/{path}" + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {"Accept": "application/json", "Content-Type": "application/json",
                   **self._headers, **({"Idempotency-Key": key} if key else {})}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        for left in reversed(range(TRIES if method == "GET" or key else 1)):
            try:
                request = urllib.request.Request(url, data, headers, method=method)
                with self._opener.open(request, timeout=self._timeout) as answer:
                    text = answer.read(ANSWER_MAX + 1)
                break
            except urllib.error.HTTPError as e:
                raise self._problem(e) from None
            except OSError as e:
                if not left:
                    raise NetworkError(f"{self.url}: {e}") from None
                time.sleep(1)
        if len(text) > ANSWER_MAX:
            raise LimitError(f"{self.url}: an answer of more than {ANSWER_MAX} bytes")
        try:
            return json.loads(text) if text else {}
        except ValueError:
            raise NetworkError(f"{self.url}: the answer is not JSON") from None

    @staticmethod
    def _problem(e: urllib.error.HTTPError) -> Error:
        try:
            problem = json.loads(e.read(ANSWER_MAX))
            text = problem.get("detail") or problem.get("title")
        except (ValueError, AttributeError, OSError):
            text = None
        return BY_STATUS.get(e.code, Error)(text or f"HTTP status {e.code}")

    @staticmethod
    def _page(url: str) -> str:
        return "pages/" + urllib.parse.quote(url, safe="")

    # ---- pages and settings ----

    def add(self, url: str, weight: Optional[float] = None) -> bool:
        """Put a page under care, with a weight if one is given. Whether it is new."""
        return self._request("POST", "pages", {"urls": [url], **({} if weight is None else {"weight": weight})})["pages"] > 0

    def remove(self, url: str) -> None:
        """Take a page out of care; its history stays."""
        self._request("DELETE", self._page(url))

    def touched(self, urls: Iterable[str]) -> int:
        """These pages have probably changed; how many were marked now."""
        return self._request("POST", "pages/touched", {"urls": list(urls)})["touched"]

    def set(self, name: str, value: Optional[str]) -> None:
        """A setting of the repository; None unsets it."""
        self._request("PUT", "settings", {"key": name, **({} if value is None else {"value": value})})

    def get(self, name: str) -> Optional[str]:
        """The value of a setting, or None."""
        return self._request("GET", "settings")["settings"].get(name)

    def status(self) -> dict:
        """As `freshet status --json`."""
        return self._request("GET", "status")

    # ---- plans ----

    def plan(self, **options) -> list[Page]:
        """What would come next. Options: budget, policy, aim, weight, every, goal, tag."""
        rows = self._request("GET", "plan", query=options)["plan"]
        return [Page(r["url"], r["score"], r["probability"], r["reason"]) for r in rows]

    def explain(self, url: str, **options) -> Explanation:
        """Why a page would, or would not, be downloaded next."""
        r = self._request("GET", self._page(url) + "/explain", query=options)
        failing = r.get("failing") or {}
        return Explanation(
            url=r["url"], asked=r["asked"], in_next_cycle=r["in_next_cycle"], rank=r["rank"] or 0,
            of=r["of"] or 0, cycles=r["cycles"] or 0, budget=r["budget"], score=r["score"],
            probability=r["probability"], reason=r["reason"], because=r["because"],
            policy_says=r["explain"], visits=r["visits"], changes=r["changes"],
            last_visit=_seconds(r.get("last_visit")),
            failed_in_row=failing.get("times", 0),
            rests_until=_seconds(failing.get("rests_until")))

    # ---- cycles ----

    def ask(self, count: int = 100, *, per_host: int = 0, max_requests: int = 1,
            seconds: int = 0, agent: Optional[str] = None) -> Asked:
        wanted = {"count": count, "per_host": per_host, "max_requests": max_requests,
                  "seconds": seconds, "agent": agent, "client": self._client}
        r = self._request("POST", "lease", {k: v for k, v in wanted.items() if v})
        return Asked(offers=tuple(map(self._offer, r.get("offers", ()))), done=r.get("done", False),
                     wait=r.get("wait", 0), cycle=r.get("cycle", 0), budget=r.get("budget", 0),
                     spent=r.get("downloads", 0))

    @staticmethod
    def _offer(r: dict) -> Offer:
        times = {k: _seconds(r.get(k)) for k in ("last_visit", "not_before", "until", "robots_read")}
        rest = {k: r[k] for k in ("lease", "url", "given", "etag", "last_modified", "max_requests",
                                  "score", "probability", "reason", "robots", "crawl_delay")}
        return Offer(**rest, **times, again=r.get("again", False))

    def tell_all(self, told: Iterable[Told]) -> int:
        return self._send([self._line(t) for t in told])["told"]

    def _tell(self, told: Told) -> bool:
        answer = self._send([self._line(told)])
        if answer.get("refused"):
            raise UsageError(answer["refused"][0].get("reason") or str(answer["refused"][0]))
        return answer["told"] > 0

    def _send(self, lines: list[dict]) -> dict:
        """Lines for `tell`; lost on the way they are sent again, and count once."""
        if not lines:
            return {"told": 0}
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return self._request("POST", "tell", body, query={"client": self._client},
                             key=uuid.uuid4().hex)

    @staticmethod
    def _line(t: Told) -> dict:
        line = {"lease": t.lease, "url": t.url, "status": t.status, "digest": t.digest,
                "etag": t.etag, "last_modified": t.last_modified, "links": list(t.links),
                "cause": t.cause, "requests": t.requests, "add": t.add,
                "time": _digits(t.time) if t.time else None,
                "outcome": None if t.outcome == Outcome.BY_STATUS else t.outcome.name.lower()}
        return {k: v for k, v in line.items() if v}

    def release(self, offer: Union[Offer, str]) -> None:
        lease = offer.lease if isinstance(offer, Offer) else offer
        answer = self._send([{"lease": lease, "outcome": "release"}])
        if answer.get("refused"):
            raise UsageError(answer["refused"][0].get("reason") or str(answer["refused"][0]))

    def end(self) -> bool:
        """The cycle that is open for other crawlers is over. False: none was open."""
        try:
            self._request("POST", "lease/end", {})
        except BusyError:
            return False
        return True

    # ---- changes ----

    def changes(self, cursor: Optional[str] = None) -> Iterator[Change]:
        """Every change since the cursor (None: from the beginning).

        The service has cursors of whole answers: the last change of one has the cursor behind
        it, the others that before them. So a change may come twice after a crash, but never
        none.
        """
        while True:
            r = self._request("GET", "changes", query={"since": cursor or None})
            for n, x in enumerate(r["changes"], 1):
                behind = r["next"] if n == len(r["changes"]) else cursor or ""
                yield Change(cursor=behind, url=x["url"], kind=x["outcome"],
                             time=_seconds(x["time"]), cycle=x.get("cycle") or 0,
                             status=x.get("status") or 0,
                             **{k: x.get(k) for k in ("mime", "title", "digest", "robots", "file")})
            cursor = r["next"]
            if not r["more"]:
                return
