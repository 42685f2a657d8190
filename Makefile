# SPDX-License-Identifier: MIT
# gudgeon: `make help` prints the targets.

VERSION      := 0.1.0

CC           ?= cc
CXX          ?= c++
PKG_CONFIG   ?= pkg-config
PREFIX       ?= /usr/local
LIBDIR       ?= $(PREFIX)/lib
LIBEXECDIR   ?= $(PREFIX)/libexec
SYSCONFDIR   ?= /etc
DATADIR      ?= $(PREFIX)/share
PLUGINDIR    ?= $(LIBDIR)/gudgeon/plugins
DESTDIR      ?=

# SANITIZE=address,undefined or SANITIZE=thread builds into a directory of its own.
SANITIZE     ?=
# WERROR=1 turns warnings into errors (the tests' builds do).
WERROR       ?=

ifeq ($(SANITIZE),)
B            ?= build
else
comma        := ,
B            ?= build/$(subst $(comma),-,$(SANITIZE))
endif

CFLAGS       ?= -O2 -g
WARNINGS     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
                -Wundef -Wwrite-strings
HARDENING    := -fstack-protector-strong -fcf-protection
ifeq ($(SANITIZE),)
HARDENING    += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-clash-protection
else
SANITIZER    := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
LINK_HARDENING := -Wl,-z,relro,-z,now,-z,noexecstack

pkg_cflags    = $(shell $(PKG_CONFIG) --cflags $(1))
pkg_libs      = $(shell $(PKG_CONFIG) --libs $(1))

HOST_PACKAGES := json-c yaml-0.1 libpcre2-8 libmd
# pkg-config is asked once for each list; the results are kept for the whole run.
HOST_CFLAGS   := $(call pkg_cflags,$(HOST_PACKAGES))
HOST_LIBS     := $(call pkg_libs,$(HOST_PACKAGES)) -ldl -lpthread

DEFINES      := -D_GNU_SOURCE -DGUDGEON_VERSION='"$(VERSION)"' \
                -DGUDGEON_PLUGINDIR='"$(PLUGINDIR)"' -DGUDGEON_LIBDIR='"$(LIBDIR)/gudgeon"' \
                -DGUDGEON_LIBEXECDIR='"$(LIBEXECDIR)/gudgeon"' \
                -DGUDGEON_SYSCONFDIR='"$(SYSCONFDIR)/gudgeon"'
ALL_CFLAGS    = -std=gnu17 $(WARNINGS) $(if $(WERROR),-Werror) $(HARDENING) $(SANITIZER) \
                -fPIC -fvisibility=hidden -MMD -MP $(CFLAGS)
CORE_CPPFLAGS = $(DEFINES) -Icore -Iinclude -I$(B)/gen $(HOST_CFLAGS) $(CPPFLAGS)
ALL_LDFLAGS   = $(SANITIZER) $(LINK_HARDENING) $(LDFLAGS)

# ---- what there is -------------------------------------------------------------------------------

LAYERS       := base data sys event plugin agent
CORE_SRC     := $(foreach l,$(LAYERS),$(wildcard core/$(l)/*.c))
HTTP_SRC     := $(wildcard core/sys/http/*.c)
SANDBOX_SRC  := $(wildcard core/sys/sandbox/*.c)
CLI_SRC      := $(wildcard core/cli/*.c)
WORKER_SRC   := $(wildcard core/worker/*.c)
PLUGINS      := $(filter-out plugins/README.md,$(notdir $(wildcard plugins/*)))
PROMPTS      := $(wildcard config/prompts/*.md)

obj           = $(patsubst %.c,$(B)/obj/%.o,$(1))
CORE_OBJ     := $(call obj,$(CORE_SRC))
CORE_LIB     := $(B)/libcore.a
HTTP_MODULE  := $(B)/lib/gudgeon-http.so
PLUGIN_SO    := $(PLUGINS:%=$(B)/plugins/%.so)
BIN          := $(B)/gudgeon $(B)/gudgeon-worker

.PHONY: all
all: $(BIN) $(HTTP_MODULE) $(PLUGIN_SO)

# Changed flags rebuild everything: the stamp's text is the flags.
FLAGS_STAMP  := $(B)/flags
FLAGS_TEXT    = $(CC) $(ALL_CFLAGS) $(CORE_CPPFLAGS) $(ALL_LDFLAGS)
.PHONY: always
$(FLAGS_STAMP): always
	@mkdir -p $(B) && touch $(B)/.build-tree
	@printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' >$@

$(B)/obj/core/%.o: core/%.c $(FLAGS_STAMP) | $(B)/gen/prompts.inc
	@mkdir -p $(@D)
	$(CC) $(CORE_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# The built-in prompts, each file as one row {name, text}.
$(B)/gen/prompts.inc: $(PROMPTS) packaging/embed
	@mkdir -p $(@D)
	sh packaging/embed $(PROMPTS) >$@

$(CORE_LIB): $(CORE_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/gudgeon: $(call obj,$(CLI_SRC)) $(CORE_LIB)
	$(CC) $(ALL_LDFLAGS) -pie -o $@ $^ $(HOST_LIBS)

# The sandbox belongs to the worker alone, so that the host does not load libseccomp.
SANDBOX_OBJ  := $(call obj,$(SANDBOX_SRC))
SANDBOX_LIBS := $(call pkg_libs,libseccomp)
$(B)/gudgeon-worker: $(call obj,$(WORKER_SRC)) $(SANDBOX_OBJ) $(CORE_LIB)
	$(CC) $(ALL_LDFLAGS) -pie -o $@ $^ $(SANDBOX_LIBS) $(HOST_LIBS)

# The HTTP module: loaded by the host on first use, so that only it pays for libcurl.
$(HTTP_MODULE): $(call obj,$(HTTP_SRC)) $(CORE_LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -shared $(if $(SANITIZE),,-Wl$(comma_)-z$(comma_)defs) -Wl,--exclude-libs,ALL \
	    -o $@ $^ $(call pkg_libs,libcurl) -lpthread

# ---- plugins: plugins/NAME/*.c → NAME.so; a plugin.mk may add to PLUGIN_PACKAGES_NAME ------------

-include $(wildcard plugins/*/plugin.mk)

PLUGIN_CFLAGS = -Iinclude -std=gnu17 -D_GNU_SOURCE $(WARNINGS) $(if $(WERROR),-Werror) \
                $(HARDENING) $(SANITIZER) -fPIC -fvisibility=hidden -MMD -MP $(CFLAGS)
define plugin_rules
$(B)/plugins/$(1).so: $(patsubst %.c,$(B)/obj/%.o,$(wildcard plugins/$(1)/*.c))
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_LDFLAGS) -shared $(if $(SANITIZE),,-Wl$(comma_)-z$(comma_)defs) -o $$@ $$^ \
	    $$(if $$(PLUGIN_PACKAGES_$(1)),$$(call pkg_libs,$$(PLUGIN_PACKAGES_$(1))))
$(B)/obj/plugins/$(1)/%.o: plugins/$(1)/%.c $(FLAGS_STAMP)
	@mkdir -p $$(@D)
	$$(CC) $$(PLUGIN_CFLAGS) \
	    $$(if $$(PLUGIN_PACKAGES_$(1)),$$(call pkg_cflags,$$(PLUGIN_PACKAGES_$(1)))) -c -o $$@ $$<
endef
comma_       := ,
$(foreach p,$(PLUGINS),$(eval $(call plugin_rules,$(p))))

# ---- tests ---------------------------------------------------------------------------------------

UNIT_SRC     := $(wildcard tests/unit/*/test_*.c)
UNIT_BIN     := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/unit/%)
TEST_CPPFLAGS = $(CORE_CPPFLAGS) -Itests/unit -I.
TEST_LIBS     = $(call pkg_libs,cunit) $(HOST_LIBS)

$(B)/tests/unit/%: tests/unit/%.c $(CORE_LIB) $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(CC) $(TEST_CPPFLAGS) $(filter-out -fvisibility=hidden,$(ALL_CFLAGS)) $(ALL_LDFLAGS) \
	    -o $@ $< $(UNIT_OBJ) $(CORE_LIB) $(UNIT_LIBS) $(TEST_LIBS)

# Those that are about what only the worker has.
SANDBOX_TESTS := $(filter %/test_sandbox %/test_sandbox_process %/test_sandbox_calls,$(UNIT_BIN))
$(SANDBOX_TESTS): $(SANDBOX_OBJ)
$(SANDBOX_TESTS): UNIT_OBJ = $(SANDBOX_OBJ)
$(SANDBOX_TESTS): UNIT_LIBS = $(SANDBOX_LIBS)

# check.mk comes last: it names what the others define.
include $(filter-out tests/check.mk,$(wildcard tests/*.mk)) tests/check.mk

.PHONY: unit
unit: $(UNIT_BIN)

# What editors check agent definitions by; made from the loader's own table.
.PHONY: schema
schema: $(B)/tests/unit/agent/test_definition_schema
	$< --write config/agent.schema.json

# ---- installing ----------------------------------------------------------------------------------

# The directories are compiled in: give the same PREFIX and its like when building and installing.
INSTALL      ?= install
BINDIR       ?= $(PREFIX)/bin
INCLUDEDIR   ?= $(PREFIX)/include
DOCDIR       ?= $(DATADIR)/doc/gudgeon
ABI_HEADERS  := $(wildcard include/gudgeon/*.h include/gudgeon/*.json)
EXT_HEADERS  := $(wildcard include/gudgeon/ext/*.h)

.PHONY: install
install: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBEXECDIR)/gudgeon $(DESTDIR)$(PLUGINDIR) \
	    $(DESTDIR)$(INCLUDEDIR)/gudgeon/ext $(DESTDIR)$(DATADIR)/gudgeon/template $(DESTDIR)$(DOCDIR)/examples
	$(INSTALL) -m 755 $(B)/gudgeon $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 755 $(B)/gudgeon-worker $(DESTDIR)$(LIBEXECDIR)/gudgeon
	$(INSTALL) -m 644 $(HTTP_MODULE) $(DESTDIR)$(LIBDIR)/gudgeon
	$(INSTALL) -m 644 $(filter-out %/template.so,$(PLUGIN_SO)) $(DESTDIR)$(PLUGINDIR)
	$(INSTALL) -m 644 $(ABI_HEADERS) $(DESTDIR)$(INCLUDEDIR)/gudgeon
	$(INSTALL) -m 644 $(EXT_HEADERS) $(DESTDIR)$(INCLUDEDIR)/gudgeon/ext
	$(INSTALL) -m 644 config/*.schema.json $(DESTDIR)$(DATADIR)/gudgeon
	$(INSTALL) -m 644 plugins/template/* $(DESTDIR)$(DATADIR)/gudgeon/template
	$(INSTALL) -m 644 README.md $(DESTDIR)$(DOCDIR)
	$(INSTALL) -m 644 config/agents/*.yaml $(DESTDIR)$(DOCDIR)/examples

.PHONY: uninstall
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/gudgeon $(PLUGINS:%=$(DESTDIR)$(PLUGINDIR)/%.so)
	rm -rf $(DESTDIR)$(LIBEXECDIR)/gudgeon $(DESTDIR)$(LIBDIR)/gudgeon/$(notdir $(HTTP_MODULE)) \
	    $(DESTDIR)$(INCLUDEDIR)/gudgeon $(DESTDIR)$(DATADIR)/gudgeon $(DESTDIR)$(DOCDIR)

# ---- the rest ------------------------------------------------------------------------------------

.PHONY: format
format:
	clang-format -i $$(git ls-files '*.c' '*.h')

.PHONY: clean
clean:
	rm -rf build

.PHONY: help
help:
	@echo 'make                build the host, the worker, the HTTP module and the plugins'
	@echo 'make check          all tests, short forms'
	@echo 'make unit           build the unit tests'
	@echo 'make bench          measure start, CPU a step and memory beside bare libcurl'
	@echo 'make schema         write config/agent.schema.json anew'
	@echo 'make install        into PREFIX (/usr/local), below DESTDIR; make uninstall'
	@echo 'make format         clang-format all sources'
	@echo 'make clean          remove build/'
	@echo 'SANITIZE=address,undefined | SANITIZE=thread, WERROR=1, CC, CFLAGS, PREFIX, DESTDIR'

-include $(shell find $(B) -name '*.d' 2>/dev/null)
