#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our readers against others, on made-up input: do both read the same?

  diff.py OURS [--node FOLDER] [--rounds N] [--seed N] [KIND...]

OURS is tests/tools/second.c.  FOLDER has parse5 in node_modules; without --node the kinds that need Node are left out.
  url     Node's URL (WHATWG); url_curl_test.c has libcurl
  html    parse5: its tokenizer in each state, and its parser, which knows when text is raw
  robots  a naive matcher here, from the text of RFC 9309 and by regular expressions
  input   Python's zlib: gzip, whole, cut, with flipped bits, several members, bytes behind the end
Differences that are meant are taken away by `known` of each kind, which says why.  The others are printed, made
shorter as far as they stay; exit status 1.
"""
import argparse, gzip, json, random, re, subprocess, sys, zlib
from urllib.parse import urlsplit

o = argparse.ArgumentParser()
o.add_argument("ours"); o.add_argument("kinds", nargs="*"); o.add_argument("--node")
o.add_argument("--rounds", type=int, default=2000); o.add_argument("--seed", type=int, default=1)
o = o.parse_intermixed_args()


class Reader:
    def __init__(self, *command): self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    def ask(self, *words):
        self.p.stdin.write(" ".join(w if isinstance(w, str) else w.hex() or "." for w in words).encode() + b"\n"); self.p.stdin.flush()
        line = self.p.stdout.readline()
        if not line: sys.exit("a reader died of: %s" % (words,))
        return line.decode().rstrip("\n")


ours = Reader(o.ours)
node = o.node and Reader("node", __file__.replace("diff.py", "second.mjs"), o.node)
unhex = lambda w: b"" if w == "." else bytes.fromhex(w)

# ---- URLs ----

def some(r, *of): return r.choice(of)

def make_url(r):
    part = lambda: "".join(some(r, "a", "b", "A", "%41", "%7e", "%2F", "%", "%e4", "ä", "~", "!", "$", "'", "(", ";", "=", ":", "@", "|", "^", "[", "]", "{", '"', "<", "`", "+", ",", "*", "&", "\u2028", "𝕏") for _ in range(r.randrange(4)))
    host = some(r, "example.org", "EXAMPLE.org", "a.b-c.example", "1.2.3.4", "1.2.3", "0x7f.1", "[::1]", "[2001:DB8::0:1]", "[::ffff:1.2.3.4]", "bücher.example", "faß.example",
                "xn--bcher-kva.example", "a_b.example", "example.org.", "a..b", "-a.example", "localhost", "☃.net", "EXAMPLE。org", "a%62.example", "256.1.1.1", "1.2.3.4.", "[::1", "xn--a", "ａ.example", "\u00ad.x")
    port = some(r, "", "", ":80", ":443", ":8080", ":", ":0", ":65536", ":00080")
    path = "".join(some(r, "/", "/", "/.", "/..", "/%2e", "/%2E%2e", "//", "/ ") + part() for _ in range(r.randrange(5)))
    tail = some(r, "", "?", "?" + part(), "?a=" + part() + "&b", "?x?y/..") + some(r, "", "#", "#" + part())
    whole = some(r, "http://", "https://", "HTTP://", "hTTps://") + host + port + path + tail
    rel = some(r, whole, "//" + host + port + path + tail, path + tail, path.lstrip("/") + tail, tail, some(r, " ", "") + path + some(r, " ", ""), "http:" + path, "javascript:x", "http:/" + path, ".." + path, "." + tail, "mailto:a@b")
    return (b"", whole.encode()) if r.random() < .5 else (some(r, "http://base.example/d/e?q", "https://b/x/", "http://b/a/../b;c/d").encode(), rel.encode())

SAFE = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?"

def normal(url):
    """What WHATWG leaves as written, by RFC 3986 6.2.2: percent-encoding; a last dot of the host; the fragment."""
    head, _, _ = url.partition(b"#")
    m = re.match(rb"(https?://)([^/?]*)(.*)$", head, re.S)
    if not m: return None
    host = re.sub(rb"\.(:\d+)?$", rb"\1", m[2])
    out, s, i = b"", m[3], 0
    while i < len(s):
        t = re.match(rb"%[0-9a-fA-F]{2}", s[i:i + 3])
        c = int(t[0][1:], 16) if t else s[i]
        keep = (c in SAFE[:66]) if t else (c in SAFE)
        out += bytes([c]) if keep else b"%%%02X" % c
        i += 3 if t else 1
    return m[1] + host + out

def without_dots(url):
    """RFC 3986 5.2.4: Node 20 forgets some dots behind a segment that begins with one: //.A/.. and /~/.a/./ stay."""
    head, mark, query = url.partition(b"?")
    m, out = re.match(rb"(https?://[^/]*)/(.*)$", head, re.S), []
    if not m: return url
    segments = m[2].split(b"/")
    for i, s in enumerate(segments):
        if s == b"..": out[-1:] = []
        elif s != b".": out.append(s)
        if s in (b".", b"..") and i == len(segments) - 1: out.append(b"")
    return m[1] + b"/" + b"/".join(out) + mark + query

def known_url(case, mine, theirs):
    base, ref = case
    s = ref.decode()
    head = re.match(r"\s*(?:(?:https?:)?//)?([^/?#]*)", s, re.I)[1]
    if mine.startswith("refused"):
        why = mine[8:]
        if theirs == "refused": return True
        if b" " in ref and not base: return True                # blanks in a whole URL: a line of a list has one URL
        if re.match(r"\s*(?!https?:)[a-z][a-z+.-]*:", s, re.I): return True     # other schemes
        if re.match(r"\s*https?:(?!//)", s, re.I): return True           # http:x, http:/x: RFC 3986 and browsers differ
        # what url.h refuses on purpose in a host: user info, percent, odd numbers, empty labels, port 0; a base that is refused
        # signs that no name has, and letters that IDNA 2008 does not allow (libidn2, as in curl: no snowmen)
        if re.match(r"'.' in the host|host is no international name", why): return True
        return bool(re.search(r"@|%|0x|^\d+(\.\d+)*\.?(:|$)|\.\.|:0+$|^:|\u00ad|^\.", head)) or head == ""
    if theirs == "refused":
        # by IDNA: Node refuses labels of bad punycode and a hyphen in front of non-ASCII; we keep what the name server may know
        return bool(re.search(r"xn--|^-", head, re.I))
    mine, theirs = unhex(mine), normal(unhex(theirs))
    # an IPv4 address inside of IPv6: dotted, as RFC 5952 has it, and one spelling by us, too
    if re.search(r"\[[^]]*\.", s): mine = re.sub(rb"\[::(ffff:)?1\.2\.3\.4\]", lambda m: b"[::%s102:304]" % (m[1] or b""), mine)
    if re.match(r"\s*https?:(?!//)", s, re.I): return True
    if b"?" in theirs and b"'" in ref: theirs = theirs.replace(b"%27", b"'"); mine = mine.replace(b"%27", b"'")  # WHATWG encodes ' in a query
    return mine == without_dots(theirs)

# ---- HTML ----

NAMES = ["a", "p", "div", "DIV", "script", "style", "title", "textarea", "b-c", "br", "li", "x:y", "noscript", "iframe", "xmp", "noembed", "noframes"]

def make_html(r):
    ref = lambda: some(r, "&amp;", "&lt", "&notit;", "&#65;", "&#x80;", "&#0;", "&#xD800;", "&#99999999;", "&", "&#", "&#x;", "&ampx", "&CounterClockwiseContourIntegral;", "&not=", "&nosuch;", "&#x10FFFF;", "&#13;")
    word = lambda: "".join(some(r, "x", "Y", " ", "\n", "\r", "\r\n", "\0", "é", "𝕏", "\f", "\t", "=", '"', "'", "<", ">", "/", "!", "-", "`", "]", ref()) for _ in range(r.randrange(5)))
    attr = lambda: some(r, " ", "\n", "/", "") + some(r, "id", "ID", "href", "x\0y", '"', "=", "a<b", "é", "") + some(r, "", "=", " = ") + some(r, word(), '"%s"' % word(), "'%s'" % word(), "")
    tag = lambda: "<" + some(r, "", "", "", "/") + some(r, *names) + "".join(attr() for _ in range(r.randrange(4))) + some(r, ">", ">", ">", "/>", " />", "")
    other = lambda: some(r, "<!--", "-->", "--!>", "<!-->", "<!--->", "<!-- x -- y -->", "<!doctype html>", "<!DOCTYPE a PUBLIC \"x\" 'y'>", "<!doctype", "<?x?>", "</>", "</ x>", "<!x>", "<![CDATA[x]]>", "]]>", "<", "</", "<3", "<!--<script>", "</script", "</script >", "<script><!--<script></script>", "</title>", "</textarea\f>", "</style/>")
    state = r.choice([0, 0, 1, 2, 3, 4, 5, 9, 9])
    names = NAMES if state != 9 else ["a", "p", "div", "b-c", "br", "li", "x:y", "script", "style", "title", "textarea", "iframe", "xmp"]
    text = "".join(some(r, word, tag, tag, other, ref)() for _ in range(r.randrange(1, 9)))
    if state == 9: text = "<!doctype html><body>" + text
    return str(state), some(r, "script", "title", "x").encode() if state in (1, 2, 3) else b"", text.encode()

# ---- robots.txt ----

def make_robots(r):
    path = lambda: "/" + "".join(some(r, "a", "b", "ab", "/", "*", "$", "%61", "%2F", "%2f", "~", "%7E", "?", "=", "ä", "%C3%A4", ".html") for _ in range(r.randrange(6)))
    line = lambda: some(r, "Disallow: ", "Allow: ", "disallow:", "ALLOW : ", "Disallow: ", "Allow: ") + some(r, path(), path(), "", "*" + path()) + some(r, "", "", " # x", "\t")
    agent = lambda: some(r, "User-agent: ", "user-agent:", "USER-AGENT : ") + some(r, "*", "freshet", "Freshet", "other", "freshet/1.0", "freshetbot")
    text = "".join(some(r, line, line, line, agent, lambda: "Sitemap: http://x/", lambda: "# c", lambda: "", lambda: "nonsense")() + some(r, "\n", "\r\n", "\r") for _ in range(r.randrange(1, 12)))
    return ("http://h" + path().replace("*", "x").replace("$", some(r, "$", ""))).encode(), (some(r, "\ufeff", "", "", "") + some(r, agent() + "\n", "") + text).encode()

def spell(s):
    """One spelling: what is not reserved or unreserved encoded, triplets in upper case, those of unreserved decoded, and of / and ? in a query."""
    out, i = b"", 0
    while i < len(s):
        t = re.match(rb"%[0-9a-fA-F]{2}", s[i:i + 3])
        c = int(t[0][1:], 16) if t else s[i]
        if t: out += bytes([c]) if chr(c).isascii() and (chr(c).isalnum() or chr(c) in "-._~" + ("/?" if b"?" in out else "")) else b"%%%02X" % c
        else: out += bytes([c]) if c in SAFE and c != 37 or c in b"*$" else b"%%%02X" % c
        i += 3 if t else 1
    return out

def second_robots(case):
    url, text = case
    path = spell(re.sub(rb"^http://h", b"", url).split(b"#")[0] or b"/")
    if text.startswith("\ufeff".encode()): text = text[3:]
    groups, agents, in_rules, rules = [], [], True, None
    for line in re.split(rb"\r\n|\r|\n", text):
        key, colon, value = line.split(b"#")[0].partition(b":")
        if not colon: key, _, value = line.split(b"#")[0].strip().partition(b" ")       # forgotten, as Google's reader has it
        key, value = key.strip().lower(), value.strip()
        if key == b"user-agent":
            if in_rules: agents, rules, in_rules = [], [], False; groups.append((agents, rules))
            agents.append(re.match(rb"[a-zA-Z_-]*|\*", value if value != b"*" else b"")[0].lower() if value != b"*" else b"*")
        elif key in (b"allow", b"disallow"):
            in_rules = True
            if rules is not None and value: rules.append((key == b"allow", value))
    mine = [x for a, x in groups if b"freshet" in a] or [x for a, x in groups if b"*" in a]
    best = (-1, True)
    for allow, pattern in [x for g in mine for x in g]:
        p = spell(pattern)
        end = p.endswith(b"$")
        regex = b".*".join(re.escape(x) for x in (p[:-1] if end else p).split(b"*"))
        if re.match(regex + (rb"\Z" if end else b""), path, re.S): best = max(best, (len(re.sub(rb"%..", b"x", p)), allow))  # decoded octets, see robots.c
    return "1" if best[1] or path == b"/robots.txt" else "0"

# ---- gzip ----

def make_input(r):
    data = b"".join(r.choice([b"a" * r.randrange(300), r.randbytes(r.randrange(200)), b"WARC/1.0\r\n"]) for _ in range(r.randrange(5)))
    out = b""
    for _ in range(r.choice([1, 1, 2, 3])):
        c = zlib.compressobj(r.randrange(10), zlib.DEFLATED, 31, r.choice([1, 8, 9]), r.choice([0, 1, 2, 3, 4]))
        out += c.compress(data) + (c.flush(zlib.Z_FULL_FLUSH) if r.random() < .2 else b"") + c.flush()
        if r.random() < .2: out = b"\x1f\x8b\x08" + bytes([8 | 16]) + b"\0" * 6 + b"name\0comment\0" + zlib.compress(data)[2:-4] + zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    out = bytearray(out)
    kind = r.randrange(4)
    if kind == 1: del out[r.randrange(len(out)):]
    if kind == 2:
        for _ in range(r.randrange(1, 4)): out[r.randrange(len(out))] ^= 1 << r.randrange(8)
    if kind == 3: out += r.choice([b"\0" * r.randrange(20), r.randbytes(r.randrange(20)), b"\x1f\x8b", b"\x1f\x8b\x08\0junkjunkjunk"])
    return (bytes(out),)

def second_input(case):
    """What zlib unpacks, member by member; zeros behind the end are padding, as gzip(1) has it."""
    s, out = case[0], b""
    if s[:2] != b"\x1f\x8b": return None
    while s:
        d = zlib.decompressobj(31)
        try: out += d.decompress(s)
        except zlib.error: return out, True
        if not d.eof: return out, True
        s = d.unused_data
        if not s.strip(b"\0"): return out, False
        if s[:2] != b"\x1f\x8b": return out, True
    return out, False

def same_input(case, mine, theirs):
    if theirs is None: return True                  # no gzip: read as it is
    word, _, damage = mine.partition(" ")
    data, damaged = theirs
    if (damage == "damaged") != damaged:
        # reserved flags in the head of a member: zlib refuses them, ISA-L reads on
        if damaged and any(m[0][3] & 0xe0 for m in re.finditer(rb"\x1f\x8b\x08.", case[0], re.S)): return True
        # codes of Huffman that are not complete: zlib refuses them, ISA-L reads on, and the checksum holds
        return damaged and zlib.crc32(unhex(word)) == int.from_bytes(case[0][-8:-4], "little")
    # in front of damage zlib may have given out more or less of the member's bytes than we
    return unhex(word) == data if not damaged else data.startswith(unhex(word)) or unhex(word).startswith(data)


KINDS = {
    "url": (make_url, lambda c: node.ask("url", *c), known_url, True),
    "html": (make_html, lambda c: node.ask("html", *c), lambda c, a, b: a == b, True),
    "robots": (make_robots, second_robots, lambda c, a, b: a == b or a == "refused", False),
    "input": (make_input, second_input, same_input, False),
}

def shorter(kind, case):
    """The same difference with fewer bytes in its last part."""
    make, second, same, _ = KINDS[kind]
    differs = lambda c: not same(c, ours.ask(kind, *c), second(c))
    step = max(1, len(case[-1]) // 2)
    while step:
        i = 0
        while i < len(case[-1]):
            c = case[:-1] + (case[-1][:i] + case[-1][i + step:],)
            try: ok = (kind != "html" or c[-1].decode()) and differs(c)
            except UnicodeDecodeError: ok = False
            if ok: case = c
            else: i += step
        step //= 2
    return case

status = 0
for kind in o.kinds or [k for k in KINDS if o.node or not KINDS[k][3]]:
    make, second, same, _ = KINDS[kind]
    r, found = random.Random(o.seed), []
    for n in range(o.rounds):
        case = make(r)
        mine, theirs = ours.ask(kind, *case), second(case)
        if not same(case, mine, theirs): found.append(case)
    print("%s: %d compared, %d differ" % (kind, o.rounds, len(found)))
    seen = set()
    for case in found[:40]:
        case = shorter(kind, case)
        if case in seen or len(seen) > 11: continue
        seen.add(case)
        print("  case  ", *case); print("  ours  ", ours.ask(kind, *case)[-200:]); print("  theirs", str(second(case))[-200:])
        if kind == "url": print("        ", unhex(ours.ask(kind, *case)) if "refused" not in ours.ask(kind, *case) else "", unhex(second(case)) if second(case) != "refused" else "")
    status |= bool(found)
sys.exit(status)
