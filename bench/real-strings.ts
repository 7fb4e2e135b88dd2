import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { characterFrom, MAX_MESSAGE_BYTES, MIN_MESSAGE_BYTES } from "./corpus.ts";
import { ROOT_FOLDER } from "./corpus-files.ts";
import { Random } from "./random.ts";

/** Longer runs without a space are base64 images or keys, which are not comparable to text. */
const UNBROKEN = /\S{400}/;

/** The folder of real data, if there is one: `LONGHAUL_DATA`, else `shared/data` next to the repository. */
export function findDataFolder(): string | undefined {
  const folder = process.env.LONGHAUL_DATA ?? join(ROOT_FOLDER, "../shared/data");
  return existsSync(join(folder, "transcripts")) ? folder : undefined;
}

/** Message-sized pieces of strings from real agent transcripts; read in place, never copied. */
export function* realPieces(dataFolder: string, fileCount: number): Generator<Buffer> {
  const random = new Random(1);
  const folder = join(dataFolder, "transcripts");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".gz"),
  );
  const stride = Math.max(1, Math.floor(names.length / fileCount));
  for (const name of names.sort().filter((_, index) => index % stride === 0)) {
    for (const text of stringsIn(gunzipSync(readFileSync(join(folder, name))).toString())) {
      if (UNBROKEN.test(text)) continue;
      for (let rest = Buffer.from(text); rest.length >= MIN_MESSAGE_BYTES; ) {
        const end = characterFrom(rest, random.between(MIN_MESSAGE_BYTES, MAX_MESSAGE_BYTES + 1));
        yield rest.subarray(0, end);
        rest = rest.subarray(end);
      }
    }
  }
}

/** All strings in a JSON document or in JSON lines. */
function* stringsIn(text: string): Generator<string> {
  try {
    yield* stringsOf(JSON.parse(text));
  } catch {
    for (const line of text.split("\n")) yield* stringsOfLine(line);
  }
}

function* stringsOfLine(line: string): Generator<string> {
  try {
    yield* stringsOf(JSON.parse(line));
  } catch {
    // Real transcripts have some lines that were truncated when their writer crashed.
  }
}

function* stringsOf(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* stringsOf(inner);
  }
}
