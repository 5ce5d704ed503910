# SPDX-License-Identifier: Apache-2.0
"""wacz_check.py FILE: does a WACZ keep the rules of the specification 1.1.1?

Written from its text, with Python's own ZIP reader.  Prints the numbers of WARC files, index lines
and pages; an AssertionError says which rule is broken.  Every index line is followed: the bytes it
names must be one gzip member that is one WARC record, of that URL and time.
"""
import datetime, gzip, hashlib, json, re, sys, zipfile


def rfc3339(s):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", s), s
    datetime.datetime.strptime(s[:19], "%Y-%m-%dT%H:%M:%S")


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def members(data):
    """The gzip members of some bytes, each unpacked."""
    import zlib
    while data:
        d = zlib.decompressobj(31)
        out = d.decompress(data)
        assert d.eof, "a member that is cut"
        yield out
        data = d.unused_data


def check(path):
    assert path.endswith(".wacz"), "the name must end in .wacz"
    z = zipfile.ZipFile(path)
    assert z.testzip() is None
    infos = {i.filename: i for i in z.infolist()}
    assert len(infos) == len(z.infolist()), "a name twice"
    package = json.loads(z.read("datapackage.json"))
    assert package["profile"] == "data-package" and re.fullmatch(r"1\.1\.\d+", package["wacz_version"])
    listed = {r["path"]: r for r in package["resources"]}
    assert len(listed) == len(package["resources"])
    for key in ("created", "modified", "mainPageDate"):
        if key in package:
            rfc3339(package[key])
    digest = json.loads(z.read("datapackage-digest.json"))
    assert digest["path"] == "datapackage.json" and digest["hash"] == sha256(z.read("datapackage.json"))
    for name in infos:
        if name not in ("datapackage.json", "datapackage-digest.json"):
            assert name in listed, name + " is not in resources"
            assert name.split("/")[0] in ("archive", "indexes", "pages"), name
    for name, r in listed.items():
        data = z.read(name)
        assert r["name"] and r["hash"] == sha256(data) and r["bytes"] == len(data), name
    archives = [n for n in infos if n.startswith("archive/")]
    assert archives
    for n in archives:
        assert n.endswith((".warc", ".warc.gz")) and infos[n].compress_type == zipfile.ZIP_STORED, n
        assert n.endswith(".gz") == (z.read(n)[:2] == b"\x1f\x8b"), n
    # the index: CDXJ, plain or in gzip members that index.idx points to
    indexes = [n for n in infos if n.startswith("indexes/")]
    assert indexes
    lines = []
    for n in indexes:
        data = z.read(n)
        if n.endswith((".cdx", ".cdxj")):
            lines += data.decode().splitlines()
        elif n.endswith(".cdx.gz"):
            assert infos[n].compress_type == zipfile.ZIP_STORED
            lines += gzip.decompress(data).decode().splitlines()
            idx = z.read(n[:-7] + ".idx").decode().splitlines()
            assert idx[0].startswith('!meta 0 {"format": "cdxj-gzip-1.0"')
            at = 0
            for line in idx[1:]:
                key, j = line.split(" {", 1)
                j = json.loads("{" + j)
                assert j["offset"] == at, "blocks must follow one another"
                block = data[at:at + j["length"]]
                assert sha256(block) == j["digest"]
                parts = list(members(block))
                assert len(parts) == 1 and parts[0].decode().startswith(key + " {")
                at += j["length"]
            assert at == len(data)
    assert lines == sorted(lines) and lines
    whole = {n: z.read(n) for n in archives}
    for line in lines:
        surt, ts, j = line.split(" ", 2)
        assert re.fullmatch(r"\d{14}", ts) and ")" in surt
        j = json.loads(j)
        data = whole["archive/" + j["filename"]]
        o, l = int(j["offset"]), int(j["length"])
        parts = list(members(data[o:o + l]))
        assert len(parts) == 1, "not one member: " + line
        head = parts[0].split(b"\r\n\r\n", 1)[0].decode().split("\r\n")
        fields = dict(x.split(": ", 1) for x in head[1:])
        assert fields["WARC-Target-URI"] == j["url"] and re.sub(r"\D", "", fields["WARC-Date"]) == ts, line
        assert fields["WARC-Type"] in ("response", "resource", "revisit")
        assert (fields["WARC-Type"] == "revisit") == (j["mime"] == "warc/revisit")
    pages = z.read("pages/pages.jsonl").decode().splitlines()
    assert json.loads(pages[0])["format"] == "json-pages-1.0"
    index = {(json.loads(l.split(" ", 2)[2])["url"], l.split(" ", 2)[1]) for l in lines}
    for p in map(json.loads, pages[1:]):
        rfc3339(p["ts"])
        assert (p["url"], re.sub(r"\D", "", p["ts"])) in index, p
    return len(archives), len(lines), len(pages) - 1


if __name__ == "__main__":
    print(*check(sys.argv[1]))
