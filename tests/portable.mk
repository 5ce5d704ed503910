# tests/unit/web/page/portable_test: the reader as it is compiled where there are no vector
# instructions, and plain_test: where there is only SSE2; both must agree with the naive one.
# what these instructions are used in; the rest of src/web is as in the library
WEB_SRC := $(shell grep -lE 'simd\.h|html_scan\.h|__SSE2__' src/web/*/*.c)
$(B)/portable/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -U__SSE2__ -MMD -MP -c -o $@ $<
$(B)/plain/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -DSIMD_NO_V3 -MMD -MP -c -o $@ $<
$(B)/tests/unit/web/page/portable_test: $(B)/tests/unit/web/page/portable_test.o $(WEB_SRC:%.c=$(B)/portable/%.o)
$(B)/tests/unit/web/page/plain_test: $(B)/tests/unit/web/page/plain_test.o $(WEB_SRC:%.c=$(B)/plain/%.o)
$(B)/tests/unit/web/page/portable_test $(B)/tests/unit/web/page/plain_test: $(B)/tests/lib/naive_page.o \
		$(B)/tests/lib/naive_tokens.o $(B)/tests/lib/naive_refs.o $(B)/libfreshet.a
	$(say) $@
	$(Q)$(CC) $(LDALL) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(LIBS)
