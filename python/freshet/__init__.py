# SPDX-License-Identifier: Apache-2.0
"""Freshet in Python: decide which pages to download again.

    import freshet

    with freshet.open("crawl") as crawl:
        crawl.begin(budget=1000, client="my-crawler")
        for offer in crawl.offers(count=50):
            answer = my_download(offer.url, headers=offer.conditions())
            crawl.tell(offer, status=answer.status, digest=answer.digest, etag=answer.etag)
        crawl.end()

open() and create() give a Repository on this machine, by libfreshet. Service (in
freshet.service) has the same calls for a `freshet serve` anywhere. replay() compares policies
on recorded history. Freshet fetches nothing here: whoever downloads obeys robots.txt.
"""
from freshet.repository import Repository, create, open, replay, version
from freshet.types import (Asked, BusyError, Change, Error, Explanation, FileError, LimitError,
                           Measures, NetworkError, Offer, Outcome, Page, ParseError, Stopped,
                           StoreError, Told, UsageError, frame)

__all__ = ["Asked", "BusyError", "Change", "Error", "Explanation", "FileError", "LimitError",
           "Measures", "NetworkError", "Offer", "Outcome", "Page", "ParseError", "Repository",
           "Stopped", "StoreError", "Told", "UsageError", "create", "frame", "open", "replay",
           "version"]
