# SPDX-License-Identifier: Apache-2.0
"""The package over libfreshet, beside the program: what one writes the other must read."""
import ctypes
import json
import os
import re
import subprocess

import pytest

import freshet
from freshet import _binding


@pytest.fixture
def crawl(tmp_path):
    with freshet.create(tmp_path / "crawl") as r:
        for i in range(20):
            r.add(f"http://example.org/{i}")
        yield r


def round_of(crawl, digests, **options):
    """A cycle in which each page has the digest that digests() says; the URLs asked for."""
    urls = []
    crawl.begin(client="test", delay=-1, **options)
    for offer in crawl.offers(count=5):
        urls.append(offer.url)
        assert crawl.tell(offer, status=200, digest=digests(offer.url), etag='"x"')
    assert crawl.end()
    return urls


def test_structs_are_those_of_the_header(tmp_path):
    """A C program prints the size of each struct and the offset of each field."""
    header = os.path.join(os.environ["SRC"], "include", "freshet.h")
    names = {"PlanOptions": "freshet_plan_options", "Page": "freshet_page",
             "Explanation": "freshet_explanation", "CycleOptions": "freshet_cycle_options",
             "AskOptions": "freshet_ask_options", "Offer": "freshet_offer",
             "Asked": "freshet_asked", "Told": "freshet_told", "Change": "freshet_change",
             "ReplayOptions": "freshet_replay_options", "Measures": "freshet_measures",
             "Hooks": "freshet_hooks"}
    declared = re.findall(r"^struct (freshet_\w+) \{", open(header).read(), re.M)
    assert sorted(declared) == sorted(names.values())
    lines, want = [], []
    for ours, theirs in names.items():
        struct = getattr(_binding, ours)
        lines.append(f'printf("%zu", sizeof(struct {theirs}));')
        want.append(str(ctypes.sizeof(struct)))
        for field, _ in struct._fields_:
            lines.append(f'printf(" %zu", offsetof(struct {theirs}, {field}));')
            want.append(str(getattr(struct, field).offset))
        lines.append('puts("");')
    source = tmp_path / "sizes.c"
    source.write_text("#include <stdio.h>\n#include <freshet.h>\nint main(void) {\n" +
                      "\n".join(lines) + "\nreturn 0; }\n")
    subprocess.run(["cc", "-I", os.path.dirname(header), "-o", tmp_path / "sizes", source], check=True)
    assert subprocess.check_output([tmp_path / "sizes"], text=True).split() == want


def test_a_cycle(crawl, tmp_path, program):
    assert sorted(round_of(crawl, lambda url: "1", budget=20)) == \
        sorted(f"http://example.org/{i}" for i in range(20))
    crawl.clock(1893456000)
    asked = round_of(crawl, lambda url: "2" if url.endswith("7") else "1", budget=20)
    assert len(asked) == 20
    changed = [c for c in crawl.changes() if c.kind == "changed"]
    assert sorted(c.url for c in changed) == ["http://example.org/17", "http://example.org/7"]
    assert list(crawl.changes(changed[-1].cursor)) == []
    # the program sees the same
    log = json.loads(program("-C", tmp_path / "crawl", "log", "--json"))
    assert [c["downloads"] for c in log["cycles"]] == [20, 20]
    assert log["cycles"][1]["changed"] == 2


def test_offers_carry_what_a_request_needs(crawl, tmp_path):
    round_of(crawl, lambda url: "1", budget=20)
    crawl.begin(client="again", delay=-1, budget=20)
    first = crawl.ask(3)
    assert len(first) == 3 and not first.done
    for offer in first:
        assert offer.conditions() == {"If-None-Match": '"x"'}
        assert offer.url == offer.given and offer.last_visit > 0 and offer.max_requests == 1
    with freshet.open(tmp_path / "crawl") as restarted:        # a program that crashed, say
        restarted.begin(client="again", delay=-1)
        assert [o.lease for o in restarted.ask(3) if o.again] == [o.lease for o in first]
    crawl.release(first.offers[0])
    with pytest.raises(freshet.UsageError):
        crawl.release("nonsense")


def test_outcomes(crawl):
    crawl.set("confirmations", "1")
    round_of(crawl, lambda url: "1", budget=20)
    ways = [{"status": 404}, {"outcome": "failed", "cause": "timeout"},
            {"outcome": freshet.Outcome.BLOCKED, "cause": "robots"}, {"status": 304}]
    told = []
    crawl.begin(delay=-1, budget=4)
    for offer in crawl.offers(count=1):         # what is blocked costs nothing: five pages
        way = ways[min(len(told), 3)]
        assert crawl.tell(offer, **way)
        assert not crawl.tell(offer, **way)     # told before: left out
        told.append(offer)
    crawl.end()
    assert crawl.explain(told[1].url).failed_in_row == 1
    assert [x.url for x in crawl.changes() if x.kind == "gone"] == [told[0].url]
    assert len(told) == 5


def test_nothing_comes_under_care_unasked(crawl):
    with pytest.raises(freshet.Error):
        crawl.tell("http://example.net/", status=200, digest="1")
    assert crawl.tell("http://example.net/", status=200, digest="1", add=True,
                      links=["http://example.net/a"])
    assert crawl.explain("http://example.net/").visits == 1


def test_plan_is_that_of_the_program(crawl, tmp_path, program):
    crawl.set("budget", "5")
    mine = [p.url for p in crawl.plan(seed=3, now=1893456000)]
    theirs = json.loads(program("-C", tmp_path / "crawl", "plan", "--seed", 3, "--now", "20300101000000",
                                "--json"))
    assert mine == [p["url"] for p in theirs["plan"]] and len(mine) == 5


def test_settings(crawl):
    assert crawl.get("policy") is None
    crawl.set("policy", "oldest")
    assert crawl.get("policy") == "oldest"
    crawl.set("policy", None)
    assert crawl.get("policy") is None
    with pytest.raises(freshet.UsageError, match="no policy"):
        crawl.set("policy", "nonsense")


def test_errors(tmp_path, crawl):
    with pytest.raises(freshet.StoreError):
        freshet.open(tmp_path / "nothing")
    with pytest.raises(freshet.Error):
        crawl.add("not a url")
    with pytest.raises(freshet.FileError):
        crawl.import_file(tmp_path / "nothing.txt")
    crawl.close()
    crawl.close()
    with pytest.raises(freshet.UsageError, match="closed"):
        crawl.add("http://example.org/")


def test_what_a_callback_raises_goes_up(crawl, tmp_path):
    """Through C and back: a warning and a progress that stop an import, a full plan."""
    lines = tmp_path / "urls.txt"
    lines.write_text("http://example.net/1\n: no url\nhttp://example.net/2\n")
    said = []
    crawl.listen(warn=said.append)
    crawl.import_file(lines)
    assert len(said) == 1 and "no url" in said[0]
    with pytest.raises(ZeroDivisionError):
        crawl._each("freshet_plan", _binding.EACH_PAGE, lambda p: 1 / 0,
                    ctypes.byref(_binding.PlanOptions()))


def test_replay_is_that_of_the_program(tmp_path, program):
    world = tmp_path / "world.cdxj.gz"
    program("world", "--seed", 5, "--sites", 4, world)
    rows = freshet.replay(world, policies=["random", "round-robin"], budget_percent=5, seed=1)
    theirs = json.loads(program("replay", world, "--policy", "random", "--policy", "round-robin", "--budget", "5%",
                                "--seed", 1, "--seeds", 1, "--json"))
    assert [r.policy for r in rows] == ["random", "round-robin"]
    for row, run in zip(rows, theirs["runs"]):
        assert row.change_ratio == pytest.approx(run["mean"]["change_ratio"], abs=1e-8)
        assert row.freshness_time == pytest.approx(run["mean"]["freshness_time"], abs=1e-8)


def test_frame():
    """The rows of any call as a table of pandas, where that is installed."""
    pandas = pytest.importorskip("pandas")
    table = freshet.frame([freshet.Page("http://a/", 1.5, None, "oldest"), freshet.Page("http://b/", 2, 1, "new")])
    assert isinstance(table, pandas.DataFrame) and list(table["url"]) == ["http://a/", "http://b/"]


def test_export(crawl, tmp_path):
    round_of(crawl, lambda url: "1", budget=20)
    crawl.export("cdxj", tmp_path / "all.cdxj")
    assert len((tmp_path / "all.cdxj").read_text().splitlines()) == 20
