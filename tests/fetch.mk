# src/demo/origin.c is a web server on libmicrohttpd.
TEST_LIB_LIBS += -lmicrohttpd
