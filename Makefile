# Everything runs in the virtual environment .venv, which is made when it is not there.
BIN := .venv/bin
LINT := 'ruff check' 'ruff format --check --quiet' 'pyright' 'lint-imports'
RUN = status=0; for check in $(1); do $(BIN)/$$check || status=1; done; exit $$status

.PHONY: demo test lint

# Compile a small network, save it, load it and run it.
demo: $(BIN)/trivium-opt
	$(BIN)/python docs/demo.py

# All checks, also after one has failed; the last line is pytest's summary.
test: $(BIN)/trivium-opt
	@$(call RUN,$(LINT) 'lit -sv test' 'pytest -q -n 2')

lint: $(BIN)/trivium-opt
	@$(call RUN,$(LINT))

$(BIN)/trivium-opt: pyproject.toml
	test -x $(BIN)/python || python3 -m venv .venv
	$(BIN)/pip install -q -e '.[test]'
	touch $@
