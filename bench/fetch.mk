# bench_fetch is three files; its peers read pages by libxml2, its stores are the tests'
FETCH_MADE := $(B)/bench/fetch_world.o $(B)/bench/fetch_peers.o
BENCH_LIBS_bench_fetch := $(FETCH_MADE) $(B)/tests/lib/pg.o $(B)/libfreshet.a $(shell pkg-config --libs libxml-2.0 2>/dev/null)
$(B)/bench/fetch_peers.o: ALL_CFLAGS += $(shell pkg-config --cflags libxml-2.0 2>/dev/null)
$(B)/bench/bench_fetch: | $(FETCH_MADE) $(B)/tests/lib/pg.o
