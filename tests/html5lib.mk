# make html5lib DIR=folder of html5lib tokenizer .test files
html5lib: $(B)/tests/tools/html5lib
	$(if $(DIR),,$(error say where the .test files are: make html5lib DIR=...))
	@$< $(wildcard $(DIR)/*.test)
$(B)/tests/tools/html5lib: $(B)/tests/tools/html5lib.o $(B)/libfreshet.a
	$(CC) $(LDALL) -o $@ $^ -ljansson $(LIBS)
.PHONY: html5lib
