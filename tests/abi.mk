# SPDX-License-Identifier: MIT
# Fixture plugins of tests/abi: each NAME.c or NAME.cc becomes $(B)/tests/abi/NAME.so. They are
# plugins that break rules, so they are linked without -z defs.

ABI          := $(B)/tests/abi
ABI_SO       := $(patsubst tests/abi/%,$(ABI)/%.so,$(basename $(filter-out %/offsets.c,\
                $(wildcard tests/abi/*.c tests/abi/*.cc))))
ABI_CXXFLAGS  = $(filter-out -std=% -Wstrict-prototypes -Wmissing-prototypes,$(PLUGIN_CFLAGS)) \
                -std=c++11

$(ABI)/%.so: tests/abi/%.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(PLUGIN_CFLAGS) $(ALL_LDFLAGS) -shared -o $@ $< $(ABI_LIBS_$*)

$(ABI)/%.so: tests/abi/%.cc $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CXX) $(ABI_CXXFLAGS) $(ALL_LDFLAGS) -shared -o $@ $<

# A library to link with that is found nowhere afterwards.
$(ABI)/gone/libgudgeon_absent.so: $(FLAGS_STAMP)
	@mkdir -p $(@D)
	printf 'void gudgeon_absent(void) {}\n' | \
	    $(CC) -shared -fPIC -Wl,-soname,libgudgeon_absent.so.1 -o $@ -x c -
$(ABI)/missing_library.so: $(ABI)/gone/libgudgeon_absent.so
ABI_LIBS_missing_library = -L$(ABI)/gone -lgudgeon_absent

# Bound late, unless whoever loads it asks for everything at once.
ABI_LIBS_undefined_symbol = -Wl,-z,lazy

# The tests of the loader also run the worker.
.PHONY: fixtures
fixtures: $(ABI_SO) $(B)/gudgeon-worker
unit: fixtures
