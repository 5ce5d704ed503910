# SPDX-License-Identifier: Apache-2.0
"""Every block of Python in docs/python.md runs, in order, as a reader would try it."""
import os
import re

import freshet
from test_service import serving


def test_the_guide(tmp_path, web, program, monkeypatch, capsys):
    text = open(os.path.join(os.environ["SRC"], "docs", "python.md")).read()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    (tmp_path / "urls.txt").write_text("".join(f"{web.url}/{i}\n" for i in range(12)))
    program("world", "--sites", 2, "history.cdxj.gz")
    with freshet.create("crawl") as crawl:
        crawl.set("delay", "0s")
    names = {}
    for block in blocks[:3]:
        exec(block, names)
    said = capsys.readouterr().out
    assert len(re.findall(rf"^new {web.url}/\d+$", said, re.M)) == 12
    assert "round-robin" in said
    with serving(tmp_path / "crawl") as url:
        exec(blocks[3].replace("http://127.0.0.1:8390", url), names)
        assert names["crawl"].status()["cycles"] == 2
