# Freshet: build, test, install.  `make help` lists the targets.
#
#   make                     build/freshet, build/libfreshet.a, build/libfreshet.so
#   make demo                install what is missing, build, run the demo
#   make check               install what is missing, run every test, plain and under sanitizers
#   make check-postgres      the end-to-end scripts with their tables on PostgreSQL
#   make check-threads       the tests of what runs in threads, under ThreadSanitizer
#   make check-report        open the HTML reports in headless Chromium, which is installed if missing
#   make check-dashboard     the same for the dashboard of `freshet serve`, every view and action
#   make interop             foreign judges (warcio, ReplayWeb.page, js-wacz, zstd), installed below build/interop
#   make SAN=address,undefined check    only the sanitized half
#   make CC=clang            another compiler (V=1 shows the commands)
#   make install, uninstall  program, library, man pages, completion (prefix=/usr/local, DESTDIR=)
#   make doc                 build/doc: the documents as HTML and man pages; links and spelling are checked
#   make deb                 Debian packages in build/deb, looked at by lintian
#   make soak HOURS=1        service, clients and a crawl for hours, faults at random; report in build/soak.txt and .json
#   make torture, power     calls and allocations that fail, power that is lost, at every point (EVERY=10: one in ten)
#   make bench               against peers, on this machine
#   TARGET=html make fuzz    libFuzzer on fuzz/fuzz_html.c
#   make fuzz-coverage       lines of each parser that fuzz/corpus reaches, by llvm-cov
#   make coverage            lines of src that the tests reach, room by room, by llvm-cov
#   make analyse             cppcheck, clang-tidy and gcc -fanalyzer on all of src
#   make fuzz-diff           our readers against others (Node's URL, parse5, zlib, robots.txt) on made-up input (ROUNDS=100000)
#
# Objects live under build/ (build-san/ with SAN); folders are found by wildcard,
# so a new file needs no line here.

VERSION := 0.2.0
prefix  ?= /usr/local
libdir  ?= $(prefix)/lib
unitdir ?= $(prefix)/lib/systemd/system
B       := $(if $(SAN),build-san,build)
CFLAGS  ?= $(if $(SAN),-O1 -g1,-O2 -g)
PC      := libcurl sqlite3 libpcre2-8 libpq expat libdeflate libisal zlib libzstd libbrotlidec libxxhash libcrypto uchardet libpsl libidn2 libseccomp
WARN    := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(WARN) -fPIC -fvisibility=hidden -fopenmp -pthread -Isrc -Iinclude -I$(B) \
	-DFRESHET_VERSION='"$(VERSION)"' $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
	$(PC_CFLAGS)
PC_CFLAGS := $(shell pkg-config --cflags $(PC) 2>/dev/null)
LIBS    := $(shell pkg-config --libs $(PC) 2>/dev/null) -lstemmer -lm
Q       := $(if $(V),,@)
say     = @$(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),:,echo '  ')
JOBS    := $(shell nproc)
LDALL   = -fopenmp -pthread $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)
# some 400 test programs are linked: gold, which comes with binutils, takes a third of the time of ld
LDTEST  := $(if $(shell command -v ld.gold),-fuse-ld=gold)

LIB_SRC  := $(foreach d,base web warc graph cluster repo fetch policy engine,$(wildcard src/$d/*.c src/$d/*/*.c))
CLI_SRC  := $(wildcard src/cli/*.c src/cli/*/*.c src/cli/cmd/*/*.c)
SERVE_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard src/serve/*.c src/serve/*/*.c))
DEMO_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard src/demo/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(B)/%.o)
TEST_SRC := $(wildcard tests/unit/*/*_test.c tests/unit/*/*/*_test.c)
# those that run in the other half only (scripts/run-tests)
NOT_HERE := $(shell grep -lx ' \* $(if $(SAN),Plain,Sanitized) only\.' $(TEST_SRC))
TEST_BIN := $(patsubst %.c,$(B)/%,$(filter-out $(NOT_HERE),$(TEST_SRC)))
TEST_LIB := $(patsubst %.c,$(B)/%.o,$(wildcard tests/lib/*.c))
FUZZ_SRC := $(wildcard fuzz/fuzz_*.c)
BENCH_BIN := $(patsubst %.c,$(B)/%,$(wildcard bench/bench_*.c))

all: $(B)/freshet $(B)/libfreshet.a $(B)/libfreshet.so $(B)/freshet.pc

$(B)/%.o: %.c | deps-quiet
	@mkdir -p $(@D)
	$(say) $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The page of a report is taken into the program, Chart.js from Debian's package with it.
CHART_JS ?= /usr/share/javascript/chart.js/chart.min.js
$(B)/src/cli/report/report_assets.o: ALL_CFLAGS += -DCHART_JS='"$(CHART_JS)"'
$(B)/src/cli/report/report_assets.o: $(wildcard src/cli/report/page/* $(CHART_JS))

$(B)/src/serve/assets.o: $(wildcard src/serve/page/*)

# Reading pages is worth it (3 %), but the list of word edges is written faster one by
# one than gathered into vectors.
$(B)/src/web/%.o: ALL_CFLAGS += $(if $(findstring -O2,$(CFLAGS)),-O3 -fno-tree-slp-vectorize)

$(B)/libfreshet.a: $(LIB_OBJ)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(B)/libfreshet.so: $(LIB_OBJ)
	$(say) $@
	$(Q)$(CC) $(LDALL) -shared -Wl,-soname,libfreshet.so.0 -o $@ $^ $(LIBS)

$(B)/freshet: $(CLI_OBJ) $(SERVE_OBJ) $(DEMO_OBJ) $(B)/libfreshet.a
	$(say) $@
	$(Q)$(CC) $(LDALL) -o $@ $^ -lmicrohttpd -ljansson $(LIBS)

# a folder below prefix is named by it, so that a moved installation is found
PC_LIBDIR = $(patsubst $(prefix)/%,$${prefix}/%,$(libdir))
$(B)/freshet.pc: Makefile
	@mkdir -p $(@D)
	@printf 'prefix=%s\nlibdir=%s\nName: freshet\nDescription: keeps a crawl fresh on a fixed download budget\nVersion: %s\nLibs: -L$${libdir} -lfreshet\nLibs.private: %s\nRequires.private: %s\nCflags: -I$${prefix}/include\n' \
		'$(prefix)' '$(PC_LIBDIR)' '$(VERSION)' '-lstemmer -lm -fopenmp -pthread' '$(PC)' > $@

# Tests: each file under tests/unit is one program; tests/e2e are scripts.
# These are of files that are not in the library, which comes after them once more.
$(B)/tests/unit/serve/fleet/parts_test: $(B)/src/serve/fleet/parts.o
$(B)/tests/unit/serve/guard_test: $(B)/src/serve/guard.o
TEST_LIBS_parts_test = $(B)/libfreshet.a
TEST_LIBS_guard_test = $(B)/libfreshet.a
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(TEST_LIB) $(DEMO_OBJ) $(B)/libfreshet.a
	$(say) $@
	$(Q)$(CC) $(LDALL) $(LDTEST) -o $@ $^ -lcmocka $(TEST_LIB_LIBS) $(TEST_LIBS_$(notdir $*)) $(LIBS)

tests: $(TEST_BIN) $(B)/freshet $(B)/libfreshet.so $(B)/tests/tools/second fuzz-replay-bins
check: deps-test
ifdef SAN
	@$(MAKE) --no-print-directory -j$(JOBS) SAN=$(SAN) tests
	@scripts/run-tests $(B)
else
	@$(MAKE) --no-print-directory -j$(JOBS) all tests
	@$(MAKE) --no-print-directory -j$(JOBS) SAN=address,undefined tests
	@scripts/run-tests build build-san
endif

check-postgres: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@scripts/e2e-postgres

check-threads: deps
	@scripts/run-threads

# The reports in a browser; `make check` does this where there is a Chromium.
check-report: deps
	@scripts/deps --report
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@scripts/check-report

# The dashboard; `make check` has a short form of it.
check-dashboard: deps
	@scripts/deps --report
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@scripts/check-dashboard --long

# What others' programs say of our files, and we of theirs; npm packages go below build/interop.
interop: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@scripts/run-interop $(B)

demo: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@rm -rf $(B)/demo
	@$(B)/freshet demo --report $(B)/demo.html --keep $(B)/demo

# Fuzzing: every target is also a plain program that replays its corpus.
FUZZ_REPLAY := $(patsubst fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))
fuzz-replay-bins: $(FUZZ_REPLAY)
$(B)/fuzz/%: $(B)/fuzz/%.o $(B)/fuzz/replay.o $(B)/libfreshet.a
	$(say) $@
	$(Q)$(CC) $(LDALL) $(LDTEST) -o $@ $^ $(FUZZ_LIBS_$*) $(LIBS)
# the parsers of the service are no part of the library
$(B)/fuzz/fuzz_serve: $(filter $(B)/src/serve/http/%,$(SERVE_OBJ))
FUZZ_LIBS_fuzz_serve = $(B)/libfreshet.a -lmicrohttpd -ljansson
fuzz: deps-test
	@scripts/run-fuzz $(FUZZ_SECONDS)
fuzz-coverage: deps-test
	@scripts/run-fuzz --coverage

coverage: deps-test
	@scripts/run-coverage

analyse: deps
	@scripts/run-analysis --all
flags:
	@echo '$(filter-out -DFRESHET_VERSION%,$(ALL_CFLAGS))'

# Benchmarks have their peers installed first; FRESHET_DATA names real data.
bench-bins: $(BENCH_BIN) all
bench bench-big:
	@scripts/deps --bench
	@$(MAKE) --no-print-directory -j$(JOBS) bench-bins
	@scripts/run-$@ $(B) $(BENCH)
$(B)/bench/%: $(B)/bench/%.o $(B)/libfreshet.a
	$(say) $@
	$(Q)$(CC) $(LDALL) -o $@ $^ $(BENCH_LIBS_$*) $(LIBS)
-include $(wildcard bench/*.mk tests/*.mk)

# Failures and losses of power at every point; `make check` has a sample of both.
torture: all
	@scripts/run-torture $(B) fail $(or $(EVERY),1)
power: all
	@scripts/run-torture $(B) power $(or $(EVERY),1)

soak: all
	@scripts/soak $(or $(HOURS),1)

# Installed, the archive is one object whose own names are its own: a program may have
# a buf_add() of its own.
$(B)/installed/libfreshet.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -r -nostdlib $(if $(findstring -flto,$(CFLAGS)),-flinker-output=nolto-rel) -o $(@D)/freshet.o $^
	$(Q)objcopy --localize-hidden $(@D)/freshet.o
	@rm -f $@
	$(Q)ar rcs $@ $(@D)/freshet.o

to = $(DESTDIR)$(prefix)
lib_to = $(DESTDIR)$(libdir)
UNITS := $(wildcard systemd/*.service systemd/*.socket)
install: all $(B)/installed/libfreshet.a
	install -d "$(to)/bin" "$(lib_to)/pkgconfig" "$(to)/include" "$(to)/share/man/man1" "$(DESTDIR)$(unitdir)" \
		"$(to)/share/bash-completion/completions" "$(to)/share/zsh/site-functions" \
		"$(to)/share/fish/vendor_completions.d"
	install -m 755 $(B)/freshet "$(to)/bin/"
	install -m 644 $(B)/installed/libfreshet.a "$(lib_to)/"
	install -m 644 $(B)/libfreshet.so "$(lib_to)/libfreshet.so.$(VERSION)"
	ln -sf libfreshet.so.$(VERSION) "$(lib_to)/libfreshet.so.0"
	ln -sf libfreshet.so.0 "$(lib_to)/libfreshet.so"
	install -m 644 include/freshet.h "$(to)/include/"
	sed -e 's|^prefix=.*|prefix=$(prefix)|' -e 's|^libdir=.*|libdir=$(PC_LIBDIR)|' $(B)/freshet.pc > "$(lib_to)/pkgconfig/freshet.pc"
	for unit in $(UNITS); do \
		sed -e 's|@bindir@|$(prefix)/bin|' -e '/^#include protections/{r systemd/protections' -e 'd}' $$unit > "$(DESTDIR)$(unitdir)/$${unit#systemd/}" || exit 1; \
	done
	$(B)/freshet help --man-pages "$(to)/share/man/man1"
	$(B)/freshet help --completion > "$(to)/share/bash-completion/completions/freshet"
	$(B)/freshet help --completion --shell zsh > "$(to)/share/zsh/site-functions/_freshet"
	$(B)/freshet help --completion --shell fish > "$(to)/share/fish/vendor_completions.d/freshet.fish"

uninstall:
	rm -f "$(to)/bin/freshet" "$(to)/include/freshet.h" "$(lib_to)/libfreshet.a" \
		"$(lib_to)"/libfreshet.so* "$(lib_to)/pkgconfig/freshet.pc" "$(to)/share/man/man1/freshet.1" \
		"$(to)"/share/man/man1/freshet-*.1 "$(to)/share/bash-completion/completions/freshet" \
		"$(to)/share/zsh/site-functions/_freshet" "$(to)/share/fish/vendor_completions.d/freshet.fish" \
		$(UNITS:systemd/%="$(DESTDIR)$(unitdir)/%")

# Debian packages, built from the last commit into build/deb, looked at by lintian; scripts/make-deb has more.
deb:
	@scripts/deps --deb
	@scripts/make-deb

# The documents as HTML and man pages; links, lines and spelling are checked.
doc: deps
	@scripts/deps --doc
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@scripts/make-doc $(B)

deps:
	@scripts/deps
deps-test:
	@scripts/deps --test
deps-quiet:
	@scripts/deps --check
clean:
	rm -rf build build-san build-fuzz
help:
	@sed -n '3,/^#$$/p' Makefile | cut -c3-

.PHONY: all tests check interop check-postgres check-threads check-report check-dashboard demo fuzz fuzz-coverage fuzz-replay-bins coverage analyse flags bench bench-bins bench-big torture power soak install uninstall deb doc deps deps-test deps-quiet clean help
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
