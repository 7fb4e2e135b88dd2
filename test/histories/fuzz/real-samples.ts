import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { FormatName } from "../../../src/histories/port/format.ts";
import type { Json } from "../../../src/kernel/index.ts";
import { Random } from "../../support/random.ts";
import type { Sample, SampleFile } from "./sample.ts";

const transcripts = join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts");
const manifest = join(transcripts, "manifest.json");

/** Whether this machine has real transcripts. */
export const HAS_TRANSCRIPTS = existsSync(manifest);

const FILES_A_FORMAT = 3;
const PIECE_RECORDS = 12;
const MAX_LINE_CHARACTERS = 8_000;
const MAX_STRING_CHARACTERS = 1_000;

/** Pieces of real transcripts, read in place. Long strings are shortened, because only the structure matters. */
export function realSamples(seed: number): readonly Sample[] {
  const random = new Random(seed);
  const files: { gz: string; fmt: FormatName }[] = JSON.parse(readFileSync(manifest, "utf8"));
  return [...Map.groupBy(files, ({ fmt }) => fmt).values()].flatMap((ofFormat) =>
    Array.from({ length: Math.min(FILES_A_FORMAT, ofFormat.length) }, () => {
      const { gz, fmt } = random.pick(ofFormat);
      const text = gunzipSync(readFileSync(join(transcripts, gz))).toString("utf8");
      const name = basename(gz, ".gz");
      const file = name.endsWith(".jsonl") ? pieceOfLines(text, random) : pieceOfWhole(text, random);
      return { format: fmt, name: "a real piece", files: { [`real/${name}`]: file } };
    }),
  );
}

/** The first line and a run of later ones. */
function pieceOfLines(text: string, random: Random): SampleFile {
  const lines = text.split("\n").filter((line) => line !== "" && line.length < MAX_LINE_CHARACTERS);
  const from = random.below(lines.length - PIECE_RECORDS);
  const piece = [lines[0] ?? "{}", ...lines.slice(from, from + PIECE_RECORDS)];
  return { kind: "lines", values: piece.map((line) => shortened(JSON.parse(line))) };
}

/** The document with some elements of each long top-level list. */
function pieceOfWhole(text: string, random: Random): SampleFile {
  const value: Json = JSON.parse(text);
  const pieceOf = (list: Json[]) => {
    const from = random.below(list.length - PIECE_RECORDS);
    return list.slice(from, from + PIECE_RECORDS);
  };
  if (Array.isArray(value)) return { kind: "json", values: [shortened(pieceOf(value))] };
  const fields = Object.entries(value as { [key: string]: Json }).map(([name, inner]): [string, Json] => [
    name,
    Array.isArray(inner) ? pieceOf(inner) : inner,
  ]);
  return { kind: "json", values: [shortened(Object.fromEntries(fields))] };
}

function shortened(value: Json): Json {
  if (typeof value === "string") return value.slice(0, MAX_STRING_CHARACTERS);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(shortened);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner as Json)]));
}
