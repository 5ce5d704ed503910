# graph_made.o is shared by benchmarks and needs the library behind it
GRAPH_MADE := $(B)/bench/graph_made.o $(B)/libfreshet.a
BENCH_LIBS_bench_pagerank := $(GRAPH_MADE) $(shell pkg-config --libs igraph 2>/dev/null)
BENCH_LIBS_bench_graph_big := $(GRAPH_MADE)
BENCH_LIBS_bench_liverank_big := $(GRAPH_MADE)
$(B)/bench/bench_pagerank.o: ALL_CFLAGS += $(shell pkg-config --cflags igraph 2>/dev/null)
$(B)/bench/bench_pagerank $(B)/bench/bench_graph_big $(B)/bench/bench_liverank_big: | $(B)/bench/graph_made.o
