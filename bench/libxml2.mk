# the peer of reading, bench/html_sax.h
BENCH_LIBS_bench_html := $(shell pkg-config --libs libxml-2.0 2>/dev/null)
$(B)/bench/bench_html.o: ALL_CFLAGS += $(shell pkg-config --cflags libxml-2.0 2>/dev/null)
