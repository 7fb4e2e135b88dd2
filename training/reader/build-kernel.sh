#!/bin/sh
# Builds the reader's two kernels: kernel.wasm with relaxed SIMD, kernel-plain.wasm for machines without it.
set -e
cd "$(dirname "$0")"
CLANG="${CLANG:-clang-16}"
OUT=../../models/reader
FLAGS="--target=wasm32 -O3 -ffast-math -nostdlib -fno-builtin -msimd128 -Wl,--no-entry -Wl,-z,stack-size=65536 -Wl,--strip-all"
"$CLANG" $FLAGS -mrelaxed-simd -o "$OUT/kernel.wasm" kernel.c
"$CLANG" $FLAGS -DPLAIN -o "$OUT/kernel-plain.wasm" kernel.c
