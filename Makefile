# Every target is one script: read that to see what it does. `make help` lists them; CI runs `make test` and nothing else.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
ONLY_STAGES = $(if $(ONLY),--only '$(ONLY)')

.PHONY: help setup build demo fleet check test test-all test-chaos test-fresh test-page soak fuzz vectors bench bench-emitter bench-jobs bench-scale bench-console results results-bottleneck results-fileserver results-fleet lint install install-c clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing, for tests and lint too
	@scripts/setup --dev

build: ## compile C, Go and Java into build/
	@scripts/setup
	@scripts/build

demo: ## copy 1 GB, find the bottleneck (BROKER=, SLOW=, SIZE=); PROGRAM=vsftpd: of an unmodified server
	@scripts/setup $(if $(PROGRAM),--dev)
	@scripts/build
	@examples/$(if $(PROGRAM),file-server,remote-copy)/demo

fleet: ## two minutes of 800 generators on an embedded NATS (SCENARIO=)
	@scripts/setup
	@scripts/build go
	@build/bin/fleet run $(or $(SCENARIO),demo) --out build/fleet

check: ## linters, unit tests and vectors of what changed, in seconds (ONLY=)
	@scripts/setup --dev
	@scripts/test --tier check $(ONLY_STAGES)

test: ## every language's tests, a quarter of an hour on 2 cores (ONLY=)
	@scripts/setup --dev
	@scripts/test $(ONLY_STAGES)

test-all: ## everything, with chaos in full
	@scripts/setup --dev
	@scripts/test --tier all $(ONLY_STAGES)

test-chaos: ## kill all there is, 2,000 times; half an hour (QUICK=1: 3 minutes)
	@scripts/setup --dev
	@scripts/test --tier chaos$(if $(filter-out 0,$(QUICK)),-quick)

soak: ## system tests in random order under load (MINUTES=60, ONLY=)
	@scripts/setup --dev --soak
	@scripts/soak --minutes $(or $(MINUTES),60) $(ONLY_STAGES)

fuzz: ## fuzz the decoders, 10 minutes each (MINUTES=60 for longer)
	@scripts/setup --dev
	@scripts/fuzz --seconds $$(($${MINUTES:-10} * 60))

test-fresh: ## make demo, then make test, in a bare Debian 12 and a bare 13; needs root
	@scripts/test-fresh

test-page: ## the console's page in Chromium, on an archive made for it
	@scripts/setup --dev
	@scripts/build
	@scripts/test-page

vectors: ## every producer of batches against every consumer
	@scripts/setup
	@scripts/build
	@schemas/vectors/run.py

bench: ## measure, write results/bench/*.json, print what took the time
	@scripts/setup
	@scripts/build
	@scripts/bench

bench-emitter: ## what an event costs, beside its floor, and to memcached (QUICK=1)
	@scripts/setup --bench
	@scripts/build c rivals memcached
	@scripts/bench-emitter $(if $(QUICK),--quick)
	@scripts/bench-memcached $(if $(QUICK),--quick)

bench-jobs: ## what the engines make of events, beside others (QUICK=1)
	@scripts/setup
	@scripts/build
	@scripts/bench-jobs $(if $(QUICK),--quick)

bench-scale: ## how long answers take, what many emitters and types cost (QUICK=1)
	@scripts/setup
	@scripts/build
	@scripts/bench-scale $(if $(QUICK),--quick)

bench-console: ## measure the page and its service (QUICK=1)
	@scripts/setup --dev
	@scripts/build
	@scripts/bench-console $(if $(QUICK),--quick)

results: ## write the tables in results/ anew
	@scripts/results

results-bottleneck: ## what limits real transfers, known and answered, an hour; root (ONLY=WORD: some cells)
	@scripts/setup --dev
	@scripts/build
	@scripts/results-bottleneck $(if $(ONLY),--only '$(ONLY)')

results-fileserver: ## what measuring costs a file server that nobody recompiled (MINUTES=20)
	@scripts/setup --dev
	@scripts/build c go
	@scripts/results-fileserver --minutes $(or $(MINUTES),20)

results-fleet: ## the generator fleet's study, 2 hours (HOURS=, QUICK=1: 15 minutes); goes on where it was stopped (AGAIN=1: anew)
	@scripts/setup
	@scripts/build
	@scripts/results-fleet $(if $(filter-out 0,$(AGAIN)),--again) $(if $(filter-out 0,$(QUICK)),--quick,--hours '$(or $(HOURS),2)')

lint: ## formatters and linters, changes nothing
	@scripts/setup --dev
	@scripts/lint

install: ## everything that runs (PREFIX=, DESTDIR=)
	@scripts/setup
	@scripts/build
	@DESTDIR='$(DESTDIR)' scripts/install '$(or $(PREFIX),/usr/local)'

install-c: ## library, tools, manual pages, Python: no jobs, page and fleet (PREFIX=, DESTDIR=)
	@scripts/setup
	@scripts/build c
	@DESTDIR='$(DESTDIR)' cmake --install build/emitter --prefix '$(or $(PREFIX),/usr/local)'

clean: ## remove what was built; fetched tools stay in build/deps
	@scripts/clean
