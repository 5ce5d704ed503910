# GSL is the oracle of the t quantiles; it is never linked into the library.
TEST_LIBS_stat_test = -lgsl -lgslcblas -lm
