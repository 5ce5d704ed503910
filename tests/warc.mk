# tests/lib/pack.c makes brotli streams.
TEST_LIB_LIBS += -lbrotlienc
