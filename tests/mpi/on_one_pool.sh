#!/usr/bin/env bash
#
# on_one_pool.sh - runs programs one after the other on one new pool, which is removed at the end
#
#   on_one_pool.sh -- PROGRAM POOL ARG... THEN PROGRAM POOL ARG... THEN ...
#   on_one_pool.sh MPIRUN OPTION... -- RANKS PROGRAM POOL ARG... THEN RANKS PROGRAM POOL ARG... THEN ...
#
# Each POOL becomes the pool's path (POOL/ a directory's). Exit status: that of the first program that fails, else 0.
set -euo pipefail

launch=()
while (($#)) && [[ $1 != -- ]]; do launch+=("$1"); shift; done
shift

folder=/dev/shm
[[ -w $folder ]] || folder=${TMPDIR:-/tmp}
folder=$(mktemp -d "$folder/pmemcpy-test.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# run RANKS PROGRAM ARG... with a launcher, run PROGRAM ARG... without
run() {
    if ((${#launch[@]})); then set -- "${launch[@]}" -n "$@"; fi
    printf '+ %s\n' "$*"
    "$@" </dev/null
}

step=()
for word in "$@" THEN; do
    if [[ $word != THEN ]]; then
        step+=("${word/#POOL/$folder/pool}")
    elif ((${#step[@]})); then
        run "${step[@]}"
        step=()
    fi
done
