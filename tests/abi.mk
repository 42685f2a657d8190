# SPDX-License-Identifier: MIT
# Fixture plugins of tests/abi: each NAME.c or NAME.cc becomes $(B)/tests/abi/NAME.so.

ABI_C        := $(filter-out tests/abi/offsets.c,$(wildcard tests/abi/*.c))
ABI_SO       := $(ABI_C:tests/abi/%.c=$(B)/tests/abi/%.so)

$(B)/tests/abi/%.so: tests/abi/%.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(PLUGIN_CFLAGS) $(ALL_LDFLAGS) -shared -o $@ $< $(ABI_LIBS_$*)

.PHONY: fixtures
fixtures: $(ABI_SO)
unit: fixtures
