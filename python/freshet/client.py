# SPDX-License-Identifier: Apache-2.0
"""What a Repository and a Service have in common: the loop around ask() and tell()."""
from __future__ import annotations

import time
from typing import Iterable, Iterator, Optional, Union

from freshet.types import Asked, Offer, Outcome, Told


class Client:
    """Ask for pages, tell what came of them. Repository and Service fill in the calls."""

    _now = staticmethod(time.time)

    def ask(self, count: int = 100, *, per_host: int = 0, max_requests: int = 1,
            seconds: int = 0, agent: Optional[str] = None) -> Asked:
        """Pages to download now. They are yours until they are told, released or lapsed."""
        raise NotImplementedError

    def tell_all(self, told: Iterable[Told]) -> int:
        """What came of some pages. They are kept when this returns. How many were kept: what
        makes no sense is left out."""
        raise NotImplementedError

    def _tell(self, told: Told) -> bool:
        raise NotImplementedError

    def release(self, offer: Union[Offer, str]) -> None:
        """An offer was not downloaded: the page and its part of the budget come back."""
        raise NotImplementedError

    def tell(self, page: Union[Offer, str], outcome: Union[Outcome, str] = Outcome.BY_STATUS,
             **fields) -> bool:
        """What came of one page: an Offer, or the URL of a page that was not offered.

        fields are those of Told: status, digest, etag, last_modified, links, cause, requests,
        time, add. Returns False if it was told before in this cycle; a page that is not under
        care is an error, unless add is True.
        """
        of = {"lease": page.lease} if isinstance(page, Offer) else {"url": page}
        if isinstance(outcome, str):
            outcome = Outcome[outcome.upper()]
        return self._tell(Told(outcome=outcome, **of, **fields))

    def offers(self, count: int = 10, **options) -> Iterator[Offer]:
        """The pages of the open cycle, one after the other, each when its host may be asked.

        Tell of each before you take the next: the policy learns from the first which to
        choose next. It ends when the budget is spent and all is told.
        """
        while True:
            asked = self.ask(count, **options)
            if asked.done:
                return
            for offer in asked:
                early = offer.not_before - self._now()
                if early > 0:
                    time.sleep(early)
                yield offer
            if not asked:
                time.sleep(max(asked.wait, 1))
