# SPDX-License-Identifier: MIT

$(B)/tests/bench/floor: tests/bench/floor.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(call pkg_cflags,libcurl) $(ALL_LDFLAGS) -o $@ $< \
	    $(call pkg_libs,libcurl)

$(B)/tests/bench/measure: tests/bench/measure.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $<

$(B)/tests/bench/call_cost: tests/bench/call_cost.c $(CORE_LIB) $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(CORE_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(CORE_LIB) $(HOST_LIBS)

.PHONY: bench
bench: all $(B)/tests/bench/floor $(B)/tests/bench/measure $(B)/tests/bench/call_cost
	@B=$(B) tests/bench/bench.py
