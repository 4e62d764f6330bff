#!/bin/sh
# Installs rulebook @VERSION@ for one person: downloads the archive for this system, checks its SHA-256 and copies the binary.
#
#   sh install.sh [FOLDER]    by default ~/.local/bin
#
# To uninstall, remove the binary.
set -eu

fail() { echo "error: $1" >&2; exit 1; }

folder=${1:-${HOME:?}/.local/bin}
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64 | Linux-amd64) target=x86_64-unknown-linux-musl sum=@SHA256 x86_64-unknown-linux-musl@ ;;
    Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl sum=@SHA256 aarch64-unknown-linux-musl@ ;;
    Darwin-arm64) target=aarch64-apple-darwin sum=@SHA256 aarch64-apple-darwin@ ;;
    Darwin-x86_64) target=x86_64-apple-darwin sum=@SHA256 x86_64-apple-darwin@ ;;
    *) fail "there is no binary for $(uname -s) on $(uname -m); see the other ways to install in README.md" ;;
esac

name=rulebook-@VERSION@-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
url=@URL@/$name.tar.gz
if command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$work/archive" "$url" || fail "$url cannot be downloaded"
elif command -v wget >/dev/null; then
    wget -q -O "$work/archive" "$url" || fail "$url cannot be downloaded"
else
    fail "install curl or wget first"
fi

if command -v sha256sum >/dev/null; then found=$(sha256sum "$work/archive"); else found=$(shasum -a 256 "$work/archive"); fi
[ "${found%% *}" = "$sum" ] || fail "$url has another checksum: found ${found%% *}, expected $sum"

tar -xzf "$work/archive" -C "$work"
mkdir -p "$folder"
# In two steps: a running binary can be replaced, but not written to.
cp "$work/$name/rulebook" "$folder/.rulebook.new"
chmod 755 "$folder/.rulebook.new"
mv -f "$folder/.rulebook.new" "$folder/rulebook"
echo "installed $folder/rulebook"
case ":$PATH:" in
    *":$folder:"*) ;;
    *) echo "add $folder to your PATH: agents run rulebook by its name" ;;
esac
