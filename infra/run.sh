#!/bin/sh
# `sh infra/run.sh [PROGRAM [WORD…]]`: installs the packages, then becomes `bun PROGRAM WORD…`. Every script of package.json begins
# here, so that a machine's own settings are put right once, for the program and all its children.
set -eu
cd "$(dirname "$0")/.."

# The Bun that runs the script need not be on the PATH. `bun run` puts its path in npm_execpath, but leaves npm's there under npx.
bun=
for path in "${npm_execpath-}" "$(readlink "/proc/$PPID/exe" 2>/dev/null)"; do
  case $path in */bun | */bun.exe) bun=${bun:-$path} ;; esac
done

# npm runs this script: the folder gets a Bun of its own, which `npx bun` then finds, too. Its install script is run here, because npm
# runs none that its user has not allowed (npm 12), or none at all (`ignore-scripts`).
version=1.4.5
own=node_modules/.bun-$version
install_bun() {
  echo "Installing Bun $version in this folder …" >&2
  draft=$own.$$
  trap 'rm -rf "$draft"' EXIT
  cache=${npm_config_cache-}
  mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || cache=$draft/cache # HOME is read-only.
  npm install --prefix "$draft" --cache "$cache" --no-save --include=optional --ignore-scripts \
    --no-audit --no-fund --loglevel=error "bun@$version" >&2
  (cd "$draft/node_modules/bun" && node install.js) >&2
  "$draft/node_modules/bun/bin/bun.exe" --version >/dev/null
  [ -e "$own" ] || mv "$draft" "$own"
  mkdir -p node_modules/.bin
  ln -sf "../.bun-$version/node_modules/bun/bin/bun.exe" node_modules/.bin/bun
}
if [ -z "$bun" ]; then
  bun=$own/node_modules/bun/bin/bun.exe
  [ -x "$bun" ] || (install_bun)
fi

# Bun sends calls to this machine to a proxy, too. It reads the lower case first.
if [ -n "${http_proxy-}${HTTP_PROXY-}${https_proxy-}${HTTPS_PROXY-}${all_proxy-}${ALL_PROXY-}" ]; then
  no_proxy=${no_proxy:-${NO_PROXY-}}
  no_proxy=127.0.0.1,localhost,::1${no_proxy:+,$no_proxy}
  NO_PROXY=$no_proxy
  export no_proxy NO_PROXY
fi

# npm passes its options on: with the first, npm refuses to install packages (EALLOWSCRIPTS); with the second, Bun leaves Postgres unfinished.
unset npm_config_allow_scripts npm_config_ignore_scripts

"$bun" infra/local/start/install.ts
[ $# -eq 0 ] || exec "$bun" "$@"
