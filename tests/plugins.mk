# SPDX-License-Identifier: MIT
# The shipped plugins against a mock host: tests/plugins/test_NAME.c → build/tests/plugins/test_NAME

PLUGIN_TEST_SRC := $(wildcard tests/plugins/test_*.c)
PLUGIN_TEST_BIN := $(PLUGIN_TEST_SRC:tests/plugins/%.c=$(B)/tests/plugins/%)
PLUGIN_TEST_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/plugins/mock_*.c))

$(B)/obj/tests/plugins/%.o: tests/plugins/%.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(TEST_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(B)/tests/plugins/%: $(B)/obj/tests/plugins/%.o $(PLUGIN_TEST_OBJ) $(CORE_LIB) | $(PLUGIN_SO)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TEST_LIBS)

.PHONY: plugin-tests
plugin-tests: $(PLUGIN_TEST_BIN)
.SECONDARY: $(PLUGIN_TEST_OBJ)
