/**
 * Converts the training pairs to token numbers for train.py, with the product's tokenizer.
 * node training/embedder/prepare.ts <folder of pairs> <output folder> [<more pairs.jsonl> …]
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createVocabulary } from "../../src/recall/embed/static/static-embedder.ts";
import { createTokenizer } from "../../src/recall/embed/static/static-tokenizer.ts";
import { buildWordTable } from "../../src/recall/embed/static/word-table.ts";
import { chooseWords, countWords } from "./choose-words.ts";
import { HELD_OUT, type Pair, readPairs, trainingFiles } from "./pairs.ts";

const WORDS = Number(process.env.WORDS ?? 108_000);
const PIECES = Number(process.env.PIECES ?? 6_144);

const [, , from, to, ...more] = process.argv;
if (from === undefined || to === undefined)
  throw new Error("usage: prepare.ts <pairs> <target> [<more pairs> …]");
mkdirSync(to, { recursive: true });

/** Repositories that a benchmark of this project takes its questions from. */
const LEFT_OUT = new Set(["django/django", "scikit-learn/scikit-learn", "sympy/sympy"]);
const isHeldOut = (path: string) => path.includes("heldout");
const pairs = [...trainingFiles(from), ...more.filter((path) => !isHeldOut(path))]
  .flatMap(readPairs)
  .filter(({ source }) => !LEFT_OUT.has(source));
const heldOut = [join(from, HELD_OUT), ...more.filter(isHeldOut)].flatMap(readPairs);
const known = readFileSync(join(from, "init/glove100-60k.txt"), "utf8").trimEnd().split("\n");
const counts = countWords(
  pairs.flatMap((pair) => [pair.a, pair.b]),
  new Set(known),
);
const words = chooseWords(counts, known, WORDS);
const vocabulary = createVocabulary(buildWordTable(words.join("\n"), words.length), PIECES);
const tokenize = createTokenizer(vocabulary);

writeFileSync(join(to, "words.txt"), words.join("\n"));
writeNumbers("start-rows", startRows());
writeNumbers(
  "word-counts",
  Int32Array.from(words, (word) => counts.get(word) ?? 0),
);
writePairs("train", pairs);
writePairs("heldout", heldOut);
writeEnglishTexts();
writeFileSync(join(to, "facts.json"), JSON.stringify({ words: words.length, pieces: PIECES }));
console.log(`${pairs.length} pairs, ${heldOut.length} held out, ${words.length} words, ${PIECES} pieces`);

/** For each word, its rank among the most frequent English words, or -1. */
function startRows(): Int32Array {
  const rowOf = new Map(known.map((word, row) => [word, row]));
  return Int32Array.from(words, (word) => rowOf.get(word) ?? -1);
}

function writePairs(name: string, list: readonly Pair[]): void {
  const numbers: number[] = [];
  const lengths = new Int32Array(list.length * 2);
  const labels = list.map((pair) => `${pair.kind}/${pair.lang}\t${pair.source}`);
  list.forEach((pair, index) => {
    [pair.a, pair.b].forEach((text, side) => {
      const tokens = tokenize(text);
      lengths[index * 2 + side] = tokens.count;
      for (let at = 0; at < tokens.count; at++) numbers.push(tokens.numbers[at] as number);
    });
  });
  writeNumbers(`${name}-tokens`, Int32Array.from(numbers));
  writeNumbers(`${name}-lengths`, lengths);
  writeFileSync(join(to as string, `${name}-labels.txt.gz`), gzipSync(labels.join("\n")));
  console.log(name, numbers.length, "tokens");
}

/** Each distinct text that the teachers can read, and for each side of the training pairs its number or -1. */
function writeEnglishTexts(): void {
  const numberOf = new Map<string, number>();
  const sides = pairs.flatMap(({ a, b }) => [a, b]);
  const numbers = Int32Array.from(sides, (text) => {
    if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(text)) return -1;
    const number = numberOf.get(text) ?? numberOf.size;
    numberOf.set(text, number);
    return number;
  });
  writeNumbers("train-english", numbers);
  writeFileSync(join(to as string, "english-texts.json.gz"), gzipSync(JSON.stringify([...numberOf.keys()])));
}

function writeNumbers(name: string, numbers: Int32Array): void {
  writeFileSync(join(to as string, `${name}.i32.gz`), gzipSync(new Uint8Array(numbers.buffer), { level: 6 }));
}
