import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { POOL_FILE } from "./corpus.ts";
import { type RealFile, type RealText, readRealText } from "./corpus-files.ts";
import { Random } from "./random.ts";

const POOL_BYTES = 16_000_000;
const MIN_PIECE_BYTES = 500;
const MAX_PIECE_BYTES = 4_000;

/** Writes one piece to the pool, up to at least `end`, which must be within the pool. */
type Writer = (pool: Sheet, end: number, text: RealText, random: Random) => void;

/** Content of agent messages by share: prose, code and tool output. */
const WRITERS: readonly Writer[] = [
  ...Array<Writer>(12).fill(writePassage),
  ...Array<Writer>(4).fill(writeNumberedRead),
  ...Array<Writer>(2).fill(writeSearchOutput),
  writeListing,
  writeJsonOutput,
];

/** Writes the pool that all messages of a bench are cut from; the same files give the same pool. */
export function writeCorpus(folder: string): void {
  const text = readRealText();
  const random = new Random(1);
  const pool = new Sheet(POOL_BYTES);
  while (pool.used < POOL_BYTES) {
    const write = WRITERS[random.between(0, WRITERS.length)] as Writer;
    const end = Math.min(pool.used + random.between(MIN_PIECE_BYTES, MAX_PIECE_BYTES), POOL_BYTES);
    write(pool, end, text, random);
    pool.write("\n");
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, POOL_FILE), pool.bytes);
}

/** A fixed-size buffer that is filled piece by piece; excess content is dropped. */
class Sheet {
  readonly bytes: Buffer;
  used = 0;

  constructor(sizeBytes: number) {
    this.bytes = Buffer.alloc(sizeBytes);
  }

  copy(source: Buffer, from: number, to: number): void {
    this.used += source.copy(this.bytes, this.used, from, to);
  }

  write(text: string): void {
    this.used += this.bytes.write(text, this.used);
    // A character that does not fit would otherwise be retried forever.
    if (this.used > this.bytes.length - 4) this.used = this.bytes.length;
  }
}

/** A random passage of prose or code. */
function writePassage(pool: Sheet, end: number, { bytes }: RealText, random: Random): void {
  const start = random.between(0, bytes.length - MAX_PIECE_BYTES);
  pool.copy(bytes, start, start + end - pool.used);
}

/** `path:line:text`, the format of search tools. */
function writeSearchOutput(pool: Sheet, end: number, text: RealText, random: Random): void {
  writeLines(pool, end, text, random, 0.25, (path, number) => `${path}:${number}:`);
}

/** A file with numbered lines, the format of read tools. */
function writeNumberedRead(pool: Sheet, end: number, text: RealText, random: Random): void {
  writeLines(pool, end, text, random, 1, (_, number) => `${String(number).padStart(6)}\t`);
}

/** Lines of consecutive files from a random position, each included with the given probability. */
function writeLines(
  pool: Sheet,
  end: number,
  { bytes, files }: RealText,
  random: Random,
  chance: number,
  label: (path: string, number: number) => string,
): void {
  for (let index = random.between(0, files.length); pool.used < end; index = (index + 1) % files.length) {
    const file = files[index] as RealFile;
    const path = file.path.replace(/^node_modules\/(?:@[^/]+\/)?/, "");
    // Line numbers start at an arbitrary value, because counting real lines would be too slow.
    let number = random.between(1, 400);
    let at = bytes.indexOf(10, random.between(file.start, file.end)) + 1 || file.end;
    while (at < file.end && pool.used < end) {
      const next = bytes.indexOf(10, at) + 1 || file.end;
      if (random.next() < chance) {
        pool.write(label(path, number));
        pool.copy(bytes, at, Math.min(next, at + MAX_PIECE_BYTES));
      }
      number++;
      at = next;
    }
  }
}

/** Matches in a file as JSON, the format of scripted tools. */
function writeJsonOutput(pool: Sheet, end: number, { bytes, files }: RealText, random: Random): void {
  const file = files[random.between(0, files.length)] as RealFile;
  pool.write(`{"path":${JSON.stringify(file.path)},"matches":[`);
  while (pool.used < end) {
    const at = random.between(file.start, file.end);
    const text = bytes.toString("utf8", at, Math.min(at + random.between(20, 200), file.end));
    pool.write(`${JSON.stringify({ offset: at - file.start, text })},`);
  }
  pool.write("]}");
}

/** A long directory listing. */
function writeListing(pool: Sheet, end: number, { files }: RealText, random: Random): void {
  for (let index = random.between(0, files.length); pool.used < end; index = (index + 1) % files.length) {
    const file = files[index] as RealFile;
    const size = String(file.end - file.start).padStart(7);
    const time = `${random.between(10, 29)} ${random.between(10, 24)}:${random.between(10, 60)}`;
    pool.write(`-rw-r--r-- 1 agent agent ${size} Mar ${time} ${basename(file.path)}\n`);
  }
}
