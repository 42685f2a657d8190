# SPDX-License-Identifier: MIT
# The fuzz target of the openai backend holds the plugin itself and its mock of HTTP.

OPENAI_FUZZ_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard plugins/openai/*.c)) \
                   $(B)/obj/tests/plugins/mock_http.o

$(B)/tests/fuzz/openai: tests/fuzz/fuzz_openai.c $(FUZZ_MAIN) $(OPENAI_FUZZ_OBJ) $(CORE_LIB) \
                        $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(TEST_CPPFLAGS) $(filter-out -fvisibility=hidden -MMD -MP,$(ALL_CFLAGS)) \
	    $(ALL_LDFLAGS) -o $@ $< $(FUZZ_MAIN) $(OPENAI_FUZZ_OBJ) $(CORE_LIB) $(HOST_LIBS)
