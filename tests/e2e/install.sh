#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plain only.
# make install, and a foreign program that uses the library as installed.
. "$SRC/tests/lib/e2e.sh"
cd "$SRC"
case $BUILD in *-san) exit 0 ;; esac    # a sanitized library needs a sanitized program
make -s install DESTDIR="$TMP/root" prefix=/usr >/dev/null
r=$TMP/root/usr
"$r/bin/freshet" --version | grep -q '^freshet [0-9]'
[ -s "$r/share/zsh/site-functions/_freshet" ]; [ -s "$r/share/fish/vendor_completions.d/freshet.fish" ]
[ -s "$r/share/man/man1/freshet.1" ]; [ -s "$r/share/bash-completion/completions/freshet" ]
cat >"$TMP/use.c" <<'C'
#include <freshet.h>
#include <stdio.h>
#include <string.h>
static int n;
static int each(void *arg, const struct freshet_page *p)
{
	struct freshet_told t = { .size = sizeof t, .url = p->url, .outcome = n % 2 ? FRESHET_CHANGED : FRESHET_SAME,
	                          .probability = p->probability };
	(void)arg;
	if (strncmp(p->url, "http://a.example/", 17)) return 1;
	n++;
	printf("%s %s\n", p->url, p->reason);
	(void)t;
	return 0;
}
int main(int argc, char **argv)
{
	struct freshet_plan_options o = { .size = sizeof o, .policy = "random", .budget = 3, .seed = 1 };
	struct freshet_replay_options ro = { .size = sizeof ro, .policy = "site", .budget_percent = 5, .cycle_seconds = 1209600 };
	struct freshet_told t = { .size = sizeof t, .url = "http://a.example/1", .outcome = FRESHET_CHANGED, .time = 1000, .probability = 0.3 };
	struct freshet_measures m = { .size = sizeof m };
	const char *trace = argv[2];
	struct freshet *f;
	char url[64];
	if (argc < 3 || freshet_create(&f, argv[1])) return 1;
	for (int i = 0; i < 10; i++) {
		snprintf(url, sizeof url, "http://a.example/%d", i);
		if (freshet_add(f, url) != 1) return 2;
	}
	if (freshet_add(f, "http://a.example/0") != 0) return 3;
	if (freshet_add(f, "http://bad host/") >= 0 || !*freshet_error(f)) return 4;
	if (freshet_plan(f, &o, each, NULL) || n != 3) return 5;
	if (freshet_tell(f, &t) != 1) return 6;
	if (freshet_replay(f, &trace, 1, &ro, &m) || !(m.change_ratio > 0) || !(m.freshness <= 1)) return 7;
	printf("%.3f\n", m.change_ratio);
	freshet_close(f);
	if (freshet_open(&f, "/nonexistent/x") >= 0 || !strstr(freshet_error(f), "init")) return 8;
	freshet_close(f);
	return 0;
}
C
export PKG_CONFIG_PATH=$r/lib/pkgconfig
cc -Wall -Wextra -Werror -o "$TMP/use" "$TMP/use.c" $(pkg-config --define-variable=prefix="$r" --cflags --libs freshet)
# a tiny trace: two pages, one changes every cycle
for i in $(seq 0 20); do
	t=$(date -u -d "2022-01-01 + $((i * 14)) days" +%Y%m%d%H%M%S)
	echo "example,a)/x $t {\"url\":\"http://a.example/x\",\"status\":\"200\",\"digest\":\"D$i\"}"
done >"$TMP/t.cdxj"
echo 'example,a)/y 20220101000000 {"url":"http://a.example/y","status":"200","digest":"Y"}' >>"$TMP/t.cdxj"
LD_LIBRARY_PATH=$r/lib "$TMP/use" "$TMP/repo" "$TMP/t.cdxj" || { echo "the example program failed: $?"; exit 1; }
"$r/bin/freshet" -C "$TMP/repo" status --json | grep -q '"pages":10,.*"visits":1,"cycles":1'

# the archive, in a program that has functions of the same names; the header in C++
cat >"$TMP/own.cc" <<'C'
#include <freshet.h>
extern "C" int err_set(int x) { return x; }
extern "C" int buf_init, map_put;
int buf_init = 1, map_put = 2;
int main()
{
	struct freshet *f = nullptr;
	int rc = freshet_open(&f, "/nonexistent/x");
	freshet_close(f);
	return rc < 0 && err_set(buf_init + map_put) == 3 ? 0 : 1;
}
C
if command -v c++ >/dev/null; then
	private=$(pkg-config --libs $(sed -n 's/^PC *:= //p' Makefile))
	c++ -std=c++11 -Wall -Wextra -pedantic -Werror -I"$r/include" -o "$TMP/own" "$TMP/own.cc" "$r/lib/libfreshet.a" $private \
		$(sed -n 's/^Libs.private: //p' "$r/lib/pkgconfig/freshet.pc")
	"$TMP/own" || { echo "the program with names of its own failed"; exit 1; }
fi
nm -g --defined-only "$r/lib/libfreshet.a" | awk 'NF == 3 && $3 !~ /^freshet_/' | grep . && { echo "these names are exported"; exit 1; }
nm -D --defined-only "$r/lib/libfreshet.so" | awk '$3 !~ /^freshet_/' | grep . && { echo "these names are exported by the shared library"; exit 1; }
readelf -d "$r/lib/libfreshet.so" | grep -q 'SONAME.*\[libfreshet.so.0\]' || { echo "another soname"; exit 1; }
# a folder with a blank in its name, and away again; flags of the user's own
make -s install DESTDIR="$TMP/a b" prefix=/usr >/dev/null
[ -x "$TMP/a b/usr/bin/freshet" ]
make -s uninstall DESTDIR="$TMP/a b" prefix=/usr
[ -z "$(find "$TMP/a b" ! -type d)" ] || { echo "uninstall leaves $(find "$TMP/a b" ! -type d)"; exit 1; }
make -n -B V=1 CFLAGS=-O0 build/src/cli/report/report_assets.o | grep -q -e '-O0 .*CHART_JS' || { echo "CFLAGS replaces our own"; exit 1; }
