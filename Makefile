# SPDX-License-Identifier: MIT
#
# Adding an operator = adding lib/op/WING/op_NAME.c (its object is called op_NAME).
# Adding a program   = adding cmd/dsvc-NAME/main.c.
# Adding a test      = adding tests/unit/ROOM/NAME_test.c, tests/cases/NAME.case
#                      or tests/bats/NAME.bats.
# No list has to be edited for any of them. `make help` shows the targets.

# What a user may set. CPPFLAGS, CFLAGS and LDFLAGS are the user's; ours stand apart.
CPPFLAGS?=
CFLAGS  ?= $(if $(SAN),-O1 -g,-O2 -g)
CXXFLAGS?= $(CFLAGS)
LDFLAGS ?=
# Where `make install` puts things, below DESTDIR; tools/install.sh knows the folders of one prefix.
PREFIX  ?= /usr/local
prefix  ?= $(PREFIX)
DESTDIR ?=
FOLDERS := bindir libdir includedir datadir mandir docdir pythondir sysusersdir tmpfilesdir unitdir
B       ?= build
SAN     ?=
WERROR  ?=
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
# Only these rooms are built and tested: make ROOMS='base value' check-unit
ROOMS   ?= $(notdir $(patsubst %/,%,$(wildcard lib/*/)))
SHELL   := /bin/bash

# Discovery
LIB_C   := $(foreach r,$(ROOMS),$(wildcard lib/$r/*.c lib/$r/*/*.c))
LIB_CC  := $(foreach r,$(ROOMS),$(wildcard lib/$r/*.cc lib/$r/*/*.cc))
LIB_H   := $(foreach r,$(ROOMS),$(wildcard lib/$r/*.h lib/$r/*/*.h))
OPS     := $(sort $(patsubst op_%.c,%,$(notdir $(wildcard lib/op/*/op_*.c))))
FNS     := $(patsubst lib/expr/fn/fn_%.c,%,$(sort $(wildcard lib/expr/fn/fn_*.c)))
FORMATS := $(sort $(patsubst format_%.c,%,$(notdir $(wildcard lib/value/format/format_*.c))))
CMDS    := $(patsubst cmd/%/main.c,%,$(wildcard cmd/*/main.c))
UNIT_C  := $(foreach r,$(ROOMS),$(wildcard tests/unit/$r/*_test.c))
SIM_C   := $(wildcard tests/sim/*_sim.c)
SIM_O   := $(patsubst %.c,$(B)/%.o,$(filter-out $(SIM_C),$(wildcard tests/sim/*.c)))
FUZZ_C  := $(wildcard tests/fuzz/*_fuzz.c)
BATS    := $(wildcard tests/bats/*.bats)
SUITES  := hdr rooms unit cases diff replay $(if $(SIM_C),sim) $(if $(BATS),bats) docs gen lint

VERSION := $(shell cat VERSION)
GEN     := $(B)/gen/version.h $(B)/gen/op_list.h $(B)/gen/fn_list.h $(B)/gen/format_list.h $(B)/gen/verb_list.h \
	$(B)/gen/site_list.h
LIB     := $(B)/libdsvc.a
LIB_O   := $(LIB_C:%.c=$(B)/%.o) $(LIB_CC:%.cc=$(B)/%.o)
BIN     := $(CMDS:%=$(B)/bin/%)
UNIT    := $(UNIT_C:tests/%.c=$(B)/%)
SIM     := $(SIM_C:tests/%.c=$(B)/%)
FUZZ    := $(FUZZ_C:tests/%.c=$(B)/%)
REPLAY  := $(FUZZ_C:tests/fuzz/%.c=$(B)/replay/%)
YARD    := $(patsubst bench/yard/%.c,$(B)/yard/%,$(wildcard bench/yard/*.c))

# Asked for at the first use and not while parsing: on a bare machine this
# file is read before `make deps` has installed pkg-config.
PKGS    := libzmq libczmq snappy sqlite3 simdjson libpcre2-8 libarchive libisal libsodium nettle libmicrohttpd
# Their headers only: the programs load them at the first image (lib/image/image_lib.h) or address
# (lib/fetch/fetch_lib.h). Of those above libarchive is loaded late, too; tests are linked with it.
PKGS_LATE := libjpeg libpng libwebp libcurl libxml-2.0
PKG_ALL  = $(PKGS) $(shell pkg-config --exists msgpack 2>/dev/null && echo msgpack || echo msgpack-c)
PKG_OK   = $(if $(shell pkg-config --exists $(PKG_ALL) $(PKGS_LATE) 2>/dev/null && echo y),,$(error \
	some libraries are missing: run `make deps`, or see tools/deps.sh for the list of packages))
PKG_CFLAGS = $(PKG_OK)$(eval PKG_CFLAGS := $$(patsubst -I%,-isystem %,$$(shell pkg-config --cflags $$(PKG_ALL) $$(PKGS_LATE))))$(PKG_CFLAGS)
PKG_LIBS   = $(PKG_OK)$(eval PKG_LIBS := $$(shell pkg-config --libs $$(PKG_ALL)))$(PKG_LIBS)

# Arrow's C++ libraries, for the plugin that reads Parquet: the system's, or those of a wheel of pyarrow that
# `make deps` has put into ARROW_DIR. ARROW=no builds without it, and so does make where there are none.
ARROW     ?=
ARROW_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/dsvc/arrow
export ARROW_DIR
ARROW_PC  := $(if $(filter no,$(ARROW)),,$(shell pkg-config --atleast-version=21 arrow parquet 2>/dev/null && echo y))
ARROW_SO  := $(if $(filter no,$(ARROW))$(ARROW_PC),,$(firstword $(wildcard $(ARROW_DIR)/pyarrow/libparquet.so.*)))
ARROW_LIB := $(dir $(ARROW_SO))
ARROW_V   := $(patsubst .%,%,$(suffix $(ARROW_SO)))
PLUGIN    := $(if $(ARROW_PC)$(ARROW_SO),$(B)/lib/dsvc/libdsvc_arrow.so)
ARROW_CFLAGS = $(if $(ARROW_PC),$(shell pkg-config --cflags arrow parquet),-isystem $(ARROW_LIB)include)
ARROW_LIBS   = $(if $(ARROW_PC),$(shell pkg-config --libs arrow parquet),-L$(ARROW_LIB) -l:libparquet.so.$(ARROW_V) -l:libarrow.so.$(ARROW_V))

WARN_ALL := -Wall -Wextra -Wshadow -Wwrite-strings -Wvla -Wundef $(if $(WERROR),-Werror)
WARN_C   := -Wstrict-prototypes -Wmissing-prototypes
SAN_F    := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
# Sections let the linker leave out what a program does not reach, and the
# libraries only that needed: start-up time is made of those.
OURS     := -D_GNU_SOURCE -Ilib -I$(B)/gen -pthread -fno-common -ffunction-sections \
	-fdata-sections -fno-semantic-interposition -MMD -MP $(SAN_F)
LD_OURS  := -pthread -Wl,--gc-sections -Wl,--as-needed -Wl,-O1 $(or $(SAN_F),-static-libgcc)

.PHONY: all help deps demo check check-run build-check install uninstall dist portable oci gen clean FORCE \
	$(addprefix check-,hdr rooms unit cases diff replay bats engines engines-quick k8s docs gen sim asan ubsan tsan) lint fuzz sim diff chaos sizes bench bench-peers
.DELETE_ON_ERROR:
.SUFFIXES:

all: $(BIN) $(B)/libdsvcfeed.a $(PLUGIN) ## the programs, in $(B)/bin

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## */\1\t/p' $(MAKEFILE_LIST) | sort -u | expand -t 14

deps: ## install the Debian packages that are missing, and get Arrow
	@ARROW='$(ARROW)' ARROW_DIR='$(ARROW_DIR)' bash tools/deps.sh

demo: deps ## the same question asked of dsvc-run and of a service
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@PATH="$(abspath $(B)/bin):$$PATH" bash demo/run.sh

# Rules. One word and the target; V=1 shows the commands.
say = $(if $(V),,@echo '  $(if $(filter %.o,$@),compile,$(if $(filter %.a,$@),archive,link   )) $(@:$(B)/%=%)';)
$(B)/%.o: %.c $(B)/flags | $(GEN)
	@mkdir -p $(@D)
	$(say)$(CC) -std=gnu11 $(WARN_ALL) $(WARN_C) $(OURS) $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/%.o: %.cc $(B)/flags | $(GEN)
	@mkdir -p $(@D)
	$(say)$(CXX) -std=c++17 $(WARN_ALL) $(OURS) $(PKG_CFLAGS) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

# Unit tests are found, not listed: a main that runs every test of the file is made beside it.
$(UNIT_C:%.c=$(B)/%.o): $(B)/%.o: %.c $(B)/flags tools/test-main.sh | $(GEN)
	@mkdir -p $(@D)
	@bash tools/test-main.sh $< >$(@:.o=.main.c)
	$(say)$(CC) -std=gnu11 $(WARN_ALL) $(WARN_C) $(OURS) -I. $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $(@:.o=.main.c)

# The archive is removed first, or an object whose source is gone stays in it.
$(LIB): $(LIB_O) $(B)/gen/lib_list
	@rm -f $@
	$(say)$(AR) rcs $@ $(LIB_O)

# C++ links, because the JSON parser is C++; --as-needed drops its runtime
# from the programs that do not parse JSON.
link = $(CXX) $(CXXFLAGS) $(LD_OURS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(1) $(PKG_LIBS) -lm

.SECONDEXPANSION:
$(BIN): $(B)/bin/%: $$(addprefix $(B)/,$$(addsuffix .o,$$(basename $$(wildcard cmd/$$*/*.c)))) $(LIB)
	@mkdir -p $(@D)
	$(say)$(call link)
$(UNIT): $(B)/%: $(B)/tests/%.o $(LIB)
	@mkdir -p $(@D)
	$(say)$(call link,-lcmocka)
$(SIM): $(B)/%: $(B)/tests/%.o $(SIM_O) $(LIB)
	@mkdir -p $(@D)
	$(say)$(call link,-lcmocka)
# The file that a fuzz program takes from a program of the tool set.
$(B)/fuzz/position_fuzz $(B)/replay/position_fuzz: $(B)/cmd/dsvc-read/save.o
$(FUZZ): $(B)/%: $(B)/tests/%.o $(LIB)
	@mkdir -p $(@D)
	$(say)$(call link,-fsanitize=fuzzer)
$(REPLAY): $(B)/replay/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(LIB)
	@mkdir -p $(@D)
	$(say)$(call link)

# The client of dsvc-feed: a file that others copy, so it is built as they would, with libc alone.
$(B)/libdsvcfeed.a: client/dsvc_feed.c client/dsvc_feed.h
	@mkdir -p $(@D)
	$(say)$(CC) -std=gnu11 $(WARN_ALL) $(WARN_C) $(CPPFLAGS) $(CFLAGS) -fPIC -c -o $(B)/dsvc_feed.o $< && rm -f $@ && $(AR) rcs $@ $(B)/dsvc_feed.o

# The plugin finds Arrow beside itself: there are links in $(B), and `make install` copies what they point to.
# Never under a sanitizer, since Arrow is not.
PLUGIN_O := $(B)/plugin/arrow.o $(B)/plugin/ipc.o
$(PLUGIN_O): $(B)/plugin/%.o: plugin/%.cc plugin/arrow.hh lib/value/arrow/arrow_plugin.h lib/base/err.h $(ARROW_SO)
	@mkdir -p $(@D)
	$(say)$(CXX) -std=c++20 $(WARN_ALL) -O2 -g1 -fPIC -fvisibility=hidden -Ilib $(ARROW_CFLAGS) $(CPPFLAGS) -c -o $@ $<
$(B)/lib/dsvc/libdsvc_arrow.so: $(PLUGIN_O)
	@mkdir -p $(@D)
	@rm -f $(@D)/libparquet.so.* $(@D)/libarrow.so.*
	@$(if $(ARROW_SO),ln -sf $(ARROW_LIB)libparquet.so.$(ARROW_V) $(ARROW_LIB)libarrow.so.$(ARROW_V) $(@D)/)
	$(say)$(CXX) -shared -Wl,-z,lazy -Wl,--as-needed -Wl,-rpath,'$$ORIGIN' $(LDFLAGS) -o $@ $^ $(ARROW_LIBS)

# Yardsticks are nobody's library: a file each, and the plain optimisation of a user.
$(YARD): $(B)/yard/%: bench/yard/%.c
	@mkdir -p $(@D)
	$(say)$(CC) -std=gnu11 -O2 $(WARN_ALL) -D_GNU_SOURCE $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS) -o $@ $< $(PKG_LIBS)

# Rewritten only when they change, so that nothing is built again in vain.
keep = @mkdir -p $(@D); { cat >$@.new; if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi; }
$(B)/gen/version.h: FORCE
	$(keep) <<<'#define PROGRAM_VERSION "$(VERSION)" /* from the file VERSION, by make */'
$(B)/gen/op_list.h: FORCE
	$(keep) < <(echo '/* from the names of op_*.c in the wings of lib/op, by make */'; for o in $(OPS); do echo "OP($$o)"; done)
$(B)/gen/fn_list.h: FORCE
	$(keep) < <(echo '/* from the names of lib/expr/fn/fn_*.c, by make */'; for f in $(FNS); do echo "FN($$f)"; done)
$(B)/gen/format_list.h: FORCE
	$(keep) < <(echo '/* from the names of lib/value/format/format_*.c, by make */'; \
		echo "#define FORMAT_LIST(F)$$(for f in $(FORMATS); do printf ' F(%s, %s)' $$f $${f^^}; done)"; \
		f='$(FORMATS)'; echo "#define FORMAT_CHOICES \"auto|$${f// /|}\"")
$(B)/gen/verb_list.h: FORCE
	$(keep) < <(echo '/* from the names and first lines of man/dsvc-*.1, by make */'; \
		for p in man/dsvc-*.1; do v=$${p#man/dsvc-}; echo "VERB(\"$${v%.1}\", \"$$(sed -n 's/^\.Nd //p' $$p)\")"; done)
$(B)/gen/site_list.h: tools/embed.sh $(wildcard cmd/dsvc-export/page/*)
	$(keep) < <(bash tools/embed.sh SITE_LIST $(sort $(filter cmd/%,$^)))
$(B)/gen/lib_list: FORCE
	$(keep) <<<'$(LIB_O)'
$(B)/flags: FORCE
	$(keep) <<<'$(CC) $(CXX) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) $(WARN_ALL) $(OURS)'

# Checks. Each suite adds its counts to the tally; the sum is the last line.
check: deps ## everything that is tested; ends with the total
	@$(MAKE) --no-print-directory check-run

check-run:
	@B=$(B) MAKE='$(MAKE)' JOBS=$(JOBS) bash tools/check.sh $(SUITES)

build-check: $(UNIT) $(SIM) $(REPLAY) $(BIN) $(PLUGIN)

check-unit: $(PLUGIN) ## the rooms, function by function (cmocka)
	-@$(MAKE) --no-print-directory -s -k -j$(JOBS) $(UNIT)
	@B=$(B) JOBS=$(JOBS) bash tests/run-unit $(UNIT)
check-sim: ## the state machines in a simulated network, quick
	-@$(MAKE) --no-print-directory -s -k -j$(JOBS) $(SIM)
	@B=$(B) JOBS=$(JOBS) bash tests/run-unit $(SIM)
check-cases: $(filter %/dsvc-run,$(BIN)) $(PLUGIN) ## pipeline, input, output (tests/cases)
	@B=$(B) JOBS=$(JOBS) bash tests/run-cases $(wildcard tests/cases/*.case)
check-diff: $(BIN) ## the same asked of other programs, of Python, and of a service (tests/diff)
	@B=$(B) JOBS=$(JOBS) SEED= RUNS= bash tests/diff/run
check-replay: $(PLUGIN) ## each decoder over what fuzzing has found (tests/fuzz/corpus)
	-@$(MAKE) --no-print-directory -s -k -j$(JOBS) $(REPLAY)
	@B=$(B) JOBS=$(JOBS) bash tests/run-replay $(REPLAY)
check-bats: $(BIN) $(B)/libdsvcfeed.a $(PLUGIN) ## the programs from outside (tests/bats)
	@B=$(B) JOBS=$(JOBS) bash tests/run-bats $(BATS)
check-engines: $(BIN) $(B)/libdsvcfeed.a $(PLUGIN) ## engines/ under a real Slurm and sshd, which needs root; packages, the page in a browser
	@B=$(B) JOBS=$(JOBS) bash tests/engines/run
check-engines-quick: $(BIN) $(B)/libdsvcfeed.a $(PLUGIN) ## the same without what takes minutes, as continuous integration does
	@B=$(B) JOBS=$(JOBS) DEADLINE=600 bash tests/engines/run quick
check-k8s: oci ## engines/kubernetes on a real cluster, which is built once in ~/.cache/dsvc/k8s (root, go, half an hour, 7 GB)
	@B=$(B) JOBS=$(JOBS) bash tests/engines/k8s/run
check-docs: $(BIN) $(PLUGIN) ## every example of README and manual is run
	@B=$(B) bash tests/run-docs README.md doc/tutorial.md doc/cookbook.md doc/coming-from.md $(wildcard man/*.[1-8])
check-hdr: $(GEN) ## each header compiles alone
	@CC='$(CC)' FLAGS='-std=gnu11 $(WARN_ALL) $(WARN_C) -D_GNU_SOURCE -Ilib -I$(B)/gen $(PKG_CFLAGS)' \
		JOBS=$(JOBS) bash tools/check-hdr.sh $(LIB_H)
check-rooms: ## no include points upwards (lib/ROOMS)
	@bash tools/check-rooms.sh
check-gen: $(BIN) ## what is generated and committed is fresh
	@B=$(B) bash tools/gen.sh --check
lint: ## shellcheck, mandoc, limits of size
	@bash tools/lint.sh

check-asan: ## unit, cases, replay and bats under the address sanitizer
	@SEEDS=$(or $(SEEDS),200) $(MAKE) --no-print-directory B=$(B)/asan SAN=address SUITES='unit cases replay $(if $(SIM_C),sim) $(if $(BATS),bats)' check-run
check-ubsan: ## unit, cases and replay under the undefined behaviour sanitizer
	@SEEDS=$(or $(SEEDS),500) $(MAKE) --no-print-directory B=$(B)/ubsan SAN=undefined SUITES='unit cases replay $(if $(SIM_C),sim)' check-run
# Unit tests of other rooms start no threads.
THREADS := base host lang net op
check-tsan: ## unit tests of the rooms with threads, and cases, under the thread sanitizer
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tests/tsan.supp $(MAKE) --no-print-directory B=$(B)/tsan SAN=thread \
		UNIT_C='$(foreach r,$(THREADS),$(wildcard tests/unit/$r/*_test.c))' SUITES='unit cases' check-run

fuzz: ## each decoder for FUZZ_TIME seconds (needs clang)
	@$(MAKE) --no-print-directory B=$(B)/fuzz CC=clang CXX=clang++ SAN=fuzzer-no-link,address,undefined fuzz-run
fuzz-run: $(PLUGIN)
	-@$(MAKE) --no-print-directory -s -k -j$(JOBS) $(FUZZ)
	@B=$(B) FUZZ_TIME=$(or $(FUZZ_TIME),60) bash tests/run-fuzz $(FUZZ)
sim: $(SIM) ## the simulator with many seeds (SEEDS=N)
	@SEEDS=$(or $(SEEDS),1000) B=$(B) JOBS=$(JOBS) bash tests/run-unit $(SIM)
diff: $(BIN) ## check-diff with other inputs (RUNS=N SEED=N NAMES='expr service': only these)
	@B=$(B) JOBS=$(JOBS) RUNS=$(or $(RUNS),20) SEED=$(or $(SEED),new) bash tests/diff/run $(NAMES)
chaos: all ## real processes killed at random (tests/chaos/run)
	@PATH="$(abspath $(B)/bin):$$PATH" bash tests/chaos/run
sizes: ## the ten largest files and functions
	@bash tools/check-sizes.sh
bench: all $(YARD) $(B)/sim/scale_sim ## speed beside the yardsticks (ROWS='squares mib': only these)
	@bash bench/run.sh $(B)/bin $(B)/yard $(ROWS)
bench-peers: all ## speed beside tf.data service and Ray Data
	@bash bench/peers.sh $(B)/bin

gen: $(BIN) ## completions and generated parts of the manual
	@B=$(B) bash tools/gen.sh

place = @B=$(B) DESTDIR='$(DESTDIR)' prefix='$(prefix)' $(foreach f,$(FOLDERS),$(if $($f),$f='$($f)')) \
	bash tools/install.sh $(1) $(CMDS)
install: all ## into DESTDIR, below prefix (/usr/local) or where bindir, mandir, ... say
	$(call place,install)
uninstall: ## what install put there
	$(call place,uninstall)
dist: ## the sources as $(B)/dsvc-VERSION.tar.gz, the same bytes each time
	@B=$(B) bash tools/dist.sh
portable: all ## a folder of programs and libraries that runs without root, and the same as $(B)/dsvc-VERSION-ARCH.tar.gz
	@B=$(B) CC='$(CC)' bash tools/portable.sh $(CMDS)
oci: portable ## the same as an image, $(B)/dsvc-VERSION-ARCH.oci.tar
	@B=$(B) CC='$(CC)' bash tools/oci.sh

clean: ## remove $(B)
	rm -rf $(B)

-include $(LIB_O:.o=.d) $(SIM_O:.o=.d) $(FUZZ:$(B)/%=$(B)/tests/%.d) $(B)/tests/fuzz/replay.d $(UNIT:$(B)/%=$(B)/tests/%.d) $(SIM:$(B)/%=$(B)/tests/%.d) $(patsubst cmd/%.c,$(B)/cmd/%.d,$(wildcard cmd/*/*.c))
