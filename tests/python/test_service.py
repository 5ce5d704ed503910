# SPDX-License-Identifier: Apache-2.0
"""The client of the service, against a `freshet serve` of the test's own."""
import contextlib
import os
import subprocess

import pytest

import freshet
from freshet.service import Service


@contextlib.contextmanager
def serving(repository):
    """A service on a free port, which ends with the block."""
    p = subprocess.Popen([os.environ["FRESHET"], "-C", str(repository), "serve", "--listen", "127.0.0.1:0"],
                         stdout=subprocess.PIPE, text=True)
    try:
        yield next(line for line in p.stdout if line.startswith("serving ")).split()[1]
    finally:
        p.terminate()
        assert p.wait(60) in (0, 130, -15)
        p.stdout.close()


@pytest.fixture
def repository(tmp_path):
    with freshet.create(tmp_path / "crawl") as r:
        for i in range(20):
            r.add(f"http://example.org/{i}")
        for name, value in {"budget": "20", "delay": "0s", "confirmations": "1"}.items():
            r.set(name, value)
    return tmp_path / "crawl"


def test_a_cycle(repository):
    with serving(repository) as url:
        crawl = Service(url, client="test")
        urls = []
        for offer in crawl.offers(count=7):
            urls.append(offer.url)
            assert crawl.tell(offer, status=200, digest="1", etag='"x"', links=[url])
            assert not crawl.tell(offer, status=200, digest="1")        # left out: told before
        assert sorted(urls) == sorted(f"http://example.org/{i}" for i in range(20))
        assert crawl.end() and not crawl.end()
        seen = list(crawl.changes())
        assert sorted(c.url for c in seen) == sorted(urls)
        assert list(crawl.changes(seen[-1].cursor)) == []
        assert len(crawl.plan(budget=5)) == 5
        assert crawl.explain("http://example.org/3").visits == 1
        offer = crawl.ask(1).offers[0]
        assert offer.conditions() == {"If-None-Match": '"x"'} and offer.last_visit > 0
        crawl.release(offer)
        with pytest.raises(freshet.Error):
            crawl.release("nonsense")
    with freshet.open(repository) as r:         # what the service kept
        assert r.explain("http://example.org/3").visits == 1


def test_settings_and_pages(repository):
    with serving(repository) as url:
        crawl = Service(url)
        assert crawl.get("budget") == "20" and crawl.get("policy") is None
        crawl.set("policy", "oldest")
        assert crawl.get("policy") == "oldest"
        with pytest.raises(freshet.UsageError, match="policy"):
            crawl.set("policy", "nonsense")
        assert crawl.add("http://example.org/new") and not crawl.add("http://example.org/new")
        assert crawl.status()["pages"] == 21
        crawl.remove("http://example.org/new")
        assert crawl.touched(["http://example.org/3", "http://nowhere.example/"]) == 1
        assert crawl.touched(iter(["http://example.org/3"])) == 0           # it is marked already
        with pytest.raises(freshet.UsageError):
            crawl.tell("http://example.net/", status=200, digest="1")


def test_errors(repository):
    with pytest.raises(freshet.NetworkError):
        Service("http://127.0.0.1:1").status()
    with serving(repository) as url, pytest.raises(freshet.UsageError):
        Service(url).explain("http://nowhere.example/")
