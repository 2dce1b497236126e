# Everything runs in the virtual environment .venv, which is made when it is not there.
BIN := .venv/bin

.PHONY: test lint

test: lint
	$(BIN)/lit -sv test
	$(BIN)/pytest -q -n 2

lint: $(BIN)/trivium-opt
	$(BIN)/ruff check
	$(BIN)/ruff format --check --quiet
	$(BIN)/pyright
	$(BIN)/lint-imports

$(BIN)/trivium-opt: pyproject.toml
	test -x $(BIN)/python || python3 -m venv .venv
	$(BIN)/pip install -q -e '.[test]'
	touch $@
