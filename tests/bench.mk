# SPDX-License-Identifier: MIT

$(B)/tests/bench/floor: tests/bench/floor.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(call pkg_cflags,libcurl) $(ALL_LDFLAGS) -o $@ $< \
	    $(call pkg_libs,libcurl)

$(B)/tests/bench/measure: tests/bench/measure.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $<

.PHONY: bench
bench: all $(B)/tests/bench/floor $(B)/tests/bench/measure
	@B=$(B) tests/bench/bench.py
