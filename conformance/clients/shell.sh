# What suites in the shell share: the words of checks, and how they are run. `$kubectl` is the program.
#
# A check is a function `check:NAME`, run in a namespace of its own; it fails with the first command that fails.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

# kubectl in the namespace of the check. Nothing here takes long, unless a server does not answer as it should.
k() { timeout 20 "$kubectl" --namespace="$ns" "$@"; }
# is ACTUAL EXPECTED: they are equal.
is() { [ "$1" = "$2" ] || { printf 'expected %q, was %q\n' "$2" "$1"; return 1; }; }
# has TEXT PART: the text contains the part.
has() { [[ $1 == *"$2"* ]] || { printf 'expected %q in %q\n' "$2" "$1"; return 1; }; }
# refused PART COMMAND...: the command fails, and says so.
refused() {
    local part=$1 text
    shift
    if text=$("$@" 2>&1); then printf 'expected a refusal, was %q\n' "$text"; return 1; fi
    has "$text" "$part"
}
# count PART: the number of lines that contain the part.
count() { grep -c -e "$1" || true; }
# editor SCRIPT: an editor that carries out a script of sed.
editor() {
    printf '#!/bin/sh\nsed -i "%s" "$1"\n' "$1" > editor.sh
    chmod +x editor.sh
    export KUBE_EDITOR=$work/editor.sh
}
# field NAME PATH: a JSONPath of an object.
field() { k get "$1" -o "jsonpath={$2}"; }

# run NAME: runs one check, and prints its line.
run() {
    local name=$1 ns=c-$((number += 1)) log=$work/log
    (
        set -eE -o pipefail
        trap 'echo "failed: $BASH_COMMAND" >&3' ERR
        cd "$work"
        "$kubectl" create namespace "$ns" >/dev/null
        "check:$name"
        "$kubectl" delete namespace "$ns" --wait=false >/dev/null
    ) >"$log" 2>&1 3>"$log.failed"
    if [ $? = 0 ]; then
        echo "ok $name"
    else
        echo "FAIL $name: $({ tail -n 3 "$log"; head -n 1 "$log.failed"; } | tr '\n' ' ' | cut -c1-300)"
    fi
}
# run_file FILE: runs its checks in their order.
run_file() {
    local name
    . "$1"
    for name in $(sed -n 's/^check:\([a-z0-9-]*\)().*/\1/p' "$1"); do run "$name"; done
}
