# Transcripts: commands, each behind `$ `, with the text that a real server lets kubectl print. What differs from run to run is replaced
# on both sides, and columns are not aligned.
#
# With TRANSCRIPTS=record the text is written, which a real server alone may do:
# `TRANSCRIPTS=record cargo xtask clients --target real kubectl`.

settled() {
    sed -E -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/<uid>/g' \
        -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/<time>/g' \
        -e 's/[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} [+-][0-9]{4}/<time>/g' \
        -e 's/(resourceVersion: |Resource Version: +)"?[0-9]+"?/\1<revision>/' \
        -e "s/\\b$ns\\b/<namespace>/g" \
        -e 's/(^| )([0-9]+m)?[0-9]+s( |$)/\1<age>\3/g' \
        -e 's/  +/ /g' -e 's/ +$//' -e '$a\'
}

# transcript FILE: plays its commands, and compares the text.
transcript() {
    local line
    while IFS= read -r line; do
        [[ $line == '$ '* ]] || continue
        printf '%s\n' "$line"
        eval "k ${line:2}" 2>&1 </dev/null | settled || true
    done < "$1" > played
    if [ "${TRANSCRIPTS:-}" = record ]; then cp played "$1"; fi
    diff "$1" played
}
