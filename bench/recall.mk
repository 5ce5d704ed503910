# recall_made.o writes straight into SQLite
BENCH_LIBS_bench_recall := $(B)/bench/recall_made.o $(B)/libfreshet.a
$(B)/bench/bench_recall: | $(B)/bench/recall_made.o
