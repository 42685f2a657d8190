# SPDX-License-Identifier: MIT
# `make check`: all tests in their short forms, in four builds, ending with `N passed, N failed`.
#
#   build/                     gcc, everything
#   build/clang                clang, that it builds without a warning
#   build/address-undefined    unit tests, plugins and corpora under ASan and UBSan, and end to end
#   build/thread               unit tests and plugins under TSan; `make check-one SANITIZE=thread` has all of them

E2E_TESTS    := $(wildcard tests/e2e/test_*.py)
LINT_TESTS   := $(wildcard tests/lint/*.py)
ABI_TESTS    := $(wildcard tests/abi/*.sh tests/abi/*.py)
SCRIPT_TESTS := $(wildcard tests/plugins/*.sh tests/plugins/test_*.py)
SERVER_TESTS := $(wildcard tests/servers/test_*.py)
FUZZ_TESTS   := $(if $(wildcard tests/fuzz/replay.sh),tests/fuzz/replay.sh)

# What one build must have before its tests run.
.PHONY: test-programs
test-programs: all unit plugin-tests fixtures $(FUZZ_BIN) $(NPM_READY)

.PHONY: check
check:
	@$(MAKE) --no-print-directory WERROR=1 test-programs
	@$(MAKE) --no-print-directory WERROR=1 CC=clang CXX=clang++ B=build/clang all unit
	@$(MAKE) --no-print-directory WERROR=1 SANITIZE=address,undefined test-programs
	@$(MAKE) --no-print-directory WERROR=1 SANITIZE=thread test-programs
	@tests/run $(RUN_FLAGS) \
	    B=build $(LINT_TESTS) $(SERVER_TESTS) $(UNIT_BIN) $(PLUGIN_TEST_BIN) $(ABI_TESTS) \
	        $(SCRIPT_TESTS) $(FUZZ_TESTS) $(E2E_TESTS) \
	    B=build/address-undefined $(call of_build,address-undefined,$(UNIT_BIN) $(PLUGIN_TEST_BIN)) \
	        $(FUZZ_TESTS) $(E2E_TESTS) \
	    B=build/thread $(filter-out %/test_http_waits,$(call of_build,thread,$(UNIT_BIN) $(PLUGIN_TEST_BIN)))

of_build      = $(patsubst $(B)/%,build/$(1)/%,$(2))

# One build's tests: `make check-one`, `make check-one SANITIZE=thread`.
.PHONY: check-one
check-one: test-programs
	@tests/run $(RUN_FLAGS) B=$(B) $(UNIT_BIN) $(PLUGIN_TEST_BIN) $(ABI_TESTS) $(SCRIPT_TESTS) \
	    $(FUZZ_TESTS) $(E2E_TESTS)
