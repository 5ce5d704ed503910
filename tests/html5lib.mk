# make html5lib DIR=folder of html5lib tokenizer .test files
html5lib: $(B)/tests/tools/html5lib
	$(if $(DIR),,$(error say where the .test files are: make html5lib DIR=...))
	@$< $(wildcard $(DIR)/*.test)
$(B)/tests/tools/html5lib: $(B)/tests/tools/html5lib.o $(B)/libfreshet.a
	$(CC) $(LDALL) -o $@ $^ -ljansson $(LIBS)
.PHONY: html5lib

# FRESHET_DATA=folder of WARCs or pages make agree: our reader and the naive one
agree: $(B)/tests/tools/agree
	@$<
$(B)/tests/tools/agree: $(B)/tests/tools/agree.o $(B)/tests/lib/naive_page.o \
		$(B)/tests/lib/naive_tokens.o $(B)/tests/lib/naive_refs.o $(B)/libfreshet.a
	$(CC) $(LDALL) -o $@ $^ $(LIBS)
.PHONY: agree

# make fuzz-diff ROUNDS=100000: our readers and others (Node's URL, parse5, zlib, a naive robots.txt) on made-up input
fuzz-diff: deps $(B)/tests/tools/second
	@scripts/run-fuzz-diff $(B) $(ROUNDS)
$(B)/tests/tools/second: $(B)/tests/tools/second.o $(B)/libfreshet.a
	$(say) $@
	$(Q)$(CC) $(LDALL) -o $@ $^ $(LIBS)
.PHONY: fuzz-diff
