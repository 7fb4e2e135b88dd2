/**
 * Builds the product's weights file from the output of train.py.
 * node training/embedder/pack.ts <prepared folder> <trained folder> <name> <weights file> <id>
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packWeights } from "../../src/recall/embed/static/static-weights.ts";

const [, , prepared, trained, name, target, id] = process.argv;
if (!prepared || !trained || !name || !target || !id)
  throw new Error("usage: pack.ts <prepared> <trained> <name> <target> <id>");
const rows = readFileSync(join(trained, `${name}.rows.i8`));
const factors = readFileSync(join(trained, `${name}.factors.u16`));
const { pieces } = JSON.parse(readFileSync(join(prepared, "facts.json"), "utf8")) as { pieces: number };
const count = factors.length / 2;
writeFileSync(
  target,
  packWeights({
    id,
    dimensions: rows.length / count,
    words: readFileSync(join(prepared, "words.txt"), "utf8"),
    pieces,
    factors: new Uint16Array(factors.buffer.slice(factors.byteOffset, factors.byteOffset + factors.length)),
    rows: new Int8Array(rows.buffer, rows.byteOffset, rows.length),
  }),
);
