import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT_FOLDER } from "../../corpus-files.ts";
import { findDataFolder, realPieces } from "../../real-strings.ts";

/** Kinds of text that agents read and write. */
export const KINDS = ["english", "code", "chinese", "json", "transcripts"] as const;

export type Kind = (typeof KINDS)[number];

const PIECE_CHARACTERS = 2_000;
const MIN_CHARACTERS = 300;
const CODE_BLOCK = /^(`{3,}|~{3,})[\s\S]*?^\1/gm;
/** Chinese is denser, and pages of it are shorter. */
const CHINESE_CHARACTERS = 600;
const TRANSCRIPT_FILES = 40;
const ALL_FILES = 1_000;

/** Pieces of text of one kind, sampled evenly from files of every clone and from real transcripts if available. */
export function samplesOf(kind: Kind, most: number): readonly string[] {
  const pieces = [...PIECES[kind]()];
  const stride = Math.max(1, pieces.length / most);
  return Array.from(
    { length: Math.min(most, pieces.length) },
    (_, index) => pieces[Math.floor(index * stride)] as string,
  );
}

const PIECES: Readonly<Record<Kind, () => Iterable<string>>> = {
  *english() {
    for (const text of [...filesIn("node_modules", /^(?!.*zh).*\.mdx?$/), ...filesIn("docs", /\.md$/)])
      yield* piecesOf(text.replaceAll(CODE_BLOCK, ""), isAscii);
  },
  *code() {
    for (const text of [...filesIn("node_modules", /(?<!\.min)\.[cm]?[jt]s$/), ...filesIn("src", /\.ts$/)])
      yield* piecesOf(text.slice(0, 20 * PIECE_CHARACTERS), isAscii);
  },
  *chinese() {
    for (const text of [...filesIn("node_modules", /zh-(?:CN|TW)\.(?:md|js)$/), ...chineseOfData()])
      yield* piecesOf(text.replaceAll(CODE_BLOCK, ""), isChinese, CHINESE_CHARACTERS);
  },
  *json() {
    for (const text of filesIn("node_modules", /^package\.json$/)) {
      yield* piecesOf(text);
      yield* piecesOf(JSON.stringify(JSON.parse(text)));
    }
  },
  *transcripts() {
    const data = findDataFolder();
    if (data) for (const piece of realPieces(data, TRANSCRIPT_FILES)) yield piece.toString();
  },
};

/** Every clone has only a few pages of Chinese; the real data has more. */
function* chineseOfData(): Generator<string> {
  const data = findDataFolder();
  if (!data) return;
  const seeds = join(data, "../seeds");
  for (const name of existsSync(seeds) ? readdirSync(seeds) : [])
    yield readFileSync(join(seeds, name), "utf8");
  for (const piece of realPieces(data, ALL_FILES)) yield piece.toString();
}

function* filesIn(folder: string, name: RegExp): Generator<string> {
  const entries = readdirSync(join(ROOT_FOLDER, folder), { recursive: true, withFileTypes: true });
  for (const entry of entries)
    if (entry.isFile() && name.test(entry.name))
      yield readFileSync(join(entry.parentPath, entry.name), "utf8");
}

function* piecesOf(
  text: string,
  isWanted: (piece: string) => boolean = () => true,
  characters = PIECE_CHARACTERS,
): Generator<string> {
  for (let start = 0; start < text.length; start += characters) {
    const piece = text.slice(start, start + characters);
    if (piece.length >= MIN_CHARACTERS && isWanted(piece)) yield piece;
  }
}

function isAscii(piece: string): boolean {
  return (piece.match(/[^\n -~]/g)?.length ?? 0) < piece.length / 100;
}

function isChinese(piece: string): boolean {
  return (piece.match(/\p{Script=Han}/gu)?.length ?? 0) > piece.length / 4;
}
