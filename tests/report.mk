# The report's writer is part of the program, not of the library.
REPORT_OBJ := $(addprefix $(B)/src/cli/,report/report.o report/report_assets.o frame/command_line.o)
$(B)/tests/unit/cli/report/report_test: $(REPORT_OBJ)
TEST_LIBS_report_test = $(B)/libfreshet.a
# So are the figures.
PLOT_OBJ := $(addprefix $(B)/src/cli/figures/,plot.o plot_svg.o plot_pen.o)
$(B)/tests/unit/cli/figures/plot_test: $(PLOT_OBJ)
TEST_LIBS_plot_test = $(B)/libfreshet.a
