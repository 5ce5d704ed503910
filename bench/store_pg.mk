# The server that the benchmarks of the store on PostgreSQL start.
BENCH_LIBS_bench_store_pg := $(B)/tests/lib/pg.o
BENCH_LIBS_bench_copy_pg := $(B)/tests/lib/pg.o
$(B)/bench/bench_store_pg $(B)/bench/bench_copy_pg: | $(B)/tests/lib/pg.o
