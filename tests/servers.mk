# SPDX-License-Identifier: MIT
# Servers that others have written, from npm, for the end-to-end tests: built once, into build/npm.
# Without the registry their tests pass over it and say so, except in CI.

NPM_READY    := build/npm/ready

$(NPM_READY): tests/servers/package.json
	@mkdir -p build/npm
	cp tests/servers/package.json build/npm/
	npm install --prefix build/npm --no-audit --no-fund --ignore-scripts --loglevel=error \
	    && touch $@ || [ -z "$$CI" ]
