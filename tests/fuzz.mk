# SPDX-License-Identifier: MIT
# tests/fuzz/fuzz_NAME.c becomes $(B)/tests/fuzz/NAME, which replays its corpus; `make fuzz-NAME
# CC=clang SANITIZE=fuzzer,address,undefined [FUZZ_SECONDS=60]` looks for more.

FUZZ_NAMES   := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN     := $(FUZZ_NAMES:%=$(B)/tests/fuzz/%)
FUZZ_SECONDS ?= 60
FUZZ_MAIN    := $(if $(findstring fuzzer,$(SANITIZE)),,tests/fuzz/replay.c)

$(B)/tests/fuzz/%: tests/fuzz/fuzz_%.c $(FUZZ_MAIN) $(CORE_LIB) $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(TEST_CPPFLAGS) $(filter-out -fvisibility=hidden -MMD -MP,$(ALL_CFLAGS)) \
	    $(ALL_LDFLAGS) -o $@ $< $(FUZZ_MAIN) $(CORE_LIB) $(HOST_LIBS)

.PHONY: fuzz-replay
fuzz-replay: $(FUZZ_BIN)
	@for name in $(FUZZ_NAMES); do \
	    printf '%s: ' $$name; $(B)/tests/fuzz/$$name tests/fuzz/corpus/$$name || exit 1; done

fuzz-%: $(B)/tests/fuzz/%
	@mkdir -p $(B)/corpus/$*
	$< -max_total_time=$(FUZZ_SECONDS) $(B)/corpus/$* tests/fuzz/corpus/$*
