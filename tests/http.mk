# SPDX-License-Identifier: MIT
# The tests of the HTTP module load it; one of them answers libcurl's name look-ups itself.

HTTP_TESTS   := $(filter $(B)/tests/unit/sys/test_http% %/test_service_http,$(UNIT_BIN))
$(HTTP_TESTS): | $(HTTP_MODULE)
$(B)/tests/unit/sys/test_http_waits: private LDFLAGS += -Wl,--export-dynamic-symbol=getaddrinfo
