# The report's writer is part of the program, not of the library.
REPORT_OBJ := $(addprefix $(B)/src/cli/,report.o report_assets.o command_line.o)
$(B)/tests/unit/cli/report_test: $(REPORT_OBJ)
TEST_LIBS_report_test = $(B)/libfreshet.a
