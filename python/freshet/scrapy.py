# SPDX-License-Identifier: Apache-2.0
"""Scrapy fetches, Freshet decides and learns.

    # settings.py
    DOWNLOADER_MIDDLEWARES = {"freshet.scrapy.FreshetMiddleware": 50}
    FRESHET_REPOSITORY = "crawl"            # or FRESHET_SERVICE = "http://127.0.0.1:8390"
    FRESHET_BUDGET = 1000                   # requests of a cycle; else as set in the repository

The middleware feeds the spider with the pages of one cycle: each goes to its `parse`, with the
offer in response.meta["freshet"]. It asks conditionally, so pages that did not change cost a
304 and do not reach the spider. What came of each page is told: answers, failures, what
robots.txt forbids. Requests of the spider's own are left alone, unless their pages are under
care. The cycle ends when the budget is spent; a spider that is stopped goes on with it when it
is started again.

It must stand near the engine (a low number), so that it sees a page after redirects, retries and
decompression.
"""
from __future__ import annotations

import hashlib
import heapq
import itertools
import time

from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest, NotConfigured
from scrapy.http import TextResponse
from twisted.internet import error as twisted_error
from twisted.internet.task import LoopingCall
from twisted.web.client import ResponseFailed

import freshet
from freshet.service import Service

TICK = 0.1              # seconds between looks at hosts that may be asked again
TELL_AT = 50            # outcomes, at the latest
NOT_READY = 5           # seconds until asking again, when somebody else is at work

CAUSES = [(twisted_error.DNSLookupError, "dns"), (twisted_error.TimeoutError, "timeout"),
          (twisted_error.ConnectError, "connect"), (twisted_error.ConnectionLost, "reset"),
          (ResponseFailed, "reset")]


class FreshetMiddleware:
    """A downloader middleware that asks Freshet for pages and tells what came of them."""

    def __init__(self, crawler):
        s = crawler.settings
        self.crawler, self.client = crawler, s.get("FRESHET_CLIENT") or f"scrapy-{s.get('BOT_NAME')}"
        self.batch = s.getint("FRESHET_BATCH", 50)
        self.max_requests = s.getint("FRESHET_MAX_REQUESTS", 3)
        self.clock = s.getint("FRESHET_CLOCK", 0)       # for trials
        self.ends = s.getbool("FRESHET_END", True)
        if s.get("FRESHET_SERVICE"):
            self.freshet = Service(s["FRESHET_SERVICE"], token=s.get("FRESHET_TOKEN"),
                                   client=self.client)
        elif s.get("FRESHET_REPOSITORY"):
            self.freshet = freshet.open(s["FRESHET_REPOSITORY"])
            if self.clock:
                self.freshet.clock(self.clock)
            self.freshet.begin(client=self.client, budget=s.getint("FRESHET_BUDGET", 0),
                               policy=s.get("FRESHET_POLICY"), delay=s.getfloat("FRESHET_DELAY", 0))
        else:
            raise NotConfigured("FRESHET_REPOSITORY or FRESHET_SERVICE must be set")
        self.ready: list = []           # (not before, number, offer), a heap
        self.numbers = itertools.count()
        self.told: list[freshet.Told] = []
        self.out = 0                    # offers that the engine of Scrapy has
        self.ask_at, self.done, self.spider, self.loop = 0.0, False, None, None

    @classmethod
    def from_crawler(cls, crawler):
        m = cls(crawler)
        crawler.signals.connect(m.spider_opened, signals.spider_opened)
        crawler.signals.connect(m.spider_idle, signals.spider_idle)
        crawler.signals.connect(m.spider_closed, signals.spider_closed)
        return m

    # ---- the spider's life ----

    def spider_opened(self, spider):
        self.spider = spider
        self.loop = LoopingCall(self.work)
        self.loop.start(TICK, now=False)

    def spider_idle(self, spider):
        if not self.done:
            raise DontCloseSpider

    def spider_closed(self, spider, reason):
        if self.loop.running:
            self.loop.stop()
        self.tell()
        for _, _, offer in self.ready:          # never asked for: they come back
            self.freshet.release(offer)
        if self.done and self.ends:
            self.freshet.end()
        if isinstance(self.freshet, freshet.Repository):
            self.freshet.close()

    # ---- asking ----

    def now(self) -> float:
        return self.clock or time.time()

    def work(self):
        """Ten times a second: hand over the pages whose hosts may be asked, ask for more."""
        try:
            if self.told and (len(self.told) >= TELL_AT or not self.out):
                self.tell()
            if not self.done and not self.out and not self.ready and time.time() >= self.ask_at:
                self.ask()
        except freshet.BusyError as e:
            self.spider.logger.info("Freshet: %s", e)
            self.ask_at = time.time() + NOT_READY
        except freshet.Error as e:
            self.spider.logger.error("Freshet: %s", e)
            self.done, self.ends = True, False
            self.crawler.engine.close_spider(self.spider, "freshet")
            return
        while self.ready and self.ready[0][0] <= self.now():
            offer = heapq.heappop(self.ready)[2]
            self.out += 1
            self.crawler.engine.crawl(Request(
                offer.url, callback=self.spider.parse, headers=offer.conditions(),
                dont_filter=True, meta={"freshet": offer}))

    def ask(self):
        asked = self.freshet.ask(self.batch, max_requests=self.max_requests)
        self.done = asked.done
        for offer in asked:
            heapq.heappush(self.ready, (offer.not_before, next(self.numbers), offer))
        if not asked:
            self.ask_at = time.time() + max(asked.wait, 1)

    # ---- telling ----

    def note(self, request, **what):
        """An outcome, to be told with the next ones. Each offer is told once."""
        offer = request.meta.get("freshet")
        if not isinstance(offer, freshet.Offer) or request.meta.get("freshet_told"):
            return
        request.meta["freshet_told"] = True
        cost = 1 + request.meta.get("redirect_times", 0) + request.meta.get("retry_times", 0)
        if what.get("outcome") != freshet.Outcome.BLOCKED:
            what["requests"] = cost
        self.told.append(freshet.Told(lease=offer.lease, **what))
        self.out -= 1

    def tell(self):
        told, self.told = self.told, []
        try:
            self.freshet.tell_all(told)
        except freshet.Error:
            self.told = told + self.told        # nothing is lost; tried again later
            raise

    def process_response(self, request, response, spider):
        if response.status == 200:
            seen = {"digest": "sha1:" + hashlib.sha1(response.body).hexdigest(),
                    "links": self.links(response)}
        else:
            seen = {}
        self.note(request, status=response.status, etag=self.header(response, "ETag"),
                  last_modified=self.header(response, "Last-Modified"), **seen)
        return response

    def process_exception(self, request, exception, spider):
        if isinstance(exception, IgnoreRequest):
            self.note(request, outcome=freshet.Outcome.BLOCKED, cause="robots")
            return
        cause = next((c for kind, c in CAUSES if isinstance(exception, kind)), "other")
        self.note(request, outcome=freshet.Outcome.FAILED, cause=cause)

    @staticmethod
    def header(response, name):
        value = response.headers.get(name)
        return value.decode("latin-1") if value else None

    @staticmethod
    def links(response):
        """Links of a page to its own site, for the policies that go by them."""
        if not isinstance(response, TextResponse):
            return ()
        found = (response.urljoin(x) for x in response.css("a::attr(href)").getall()[:400])
        return [u for u in found if u.startswith(("http:", "https:")) and " " not in u]
