import { analyzeText } from "../text/analyze-text.ts";
import { type CodeQuery, parseCodeQuery } from "./code-query.ts";
import { countTouches, type FileTouch, findRelativePath, type TouchRecord } from "./file-touches.ts";
import { computeOkapi } from "./term-match.ts";
import type { CandidateChunk, Statistics } from "./turn-candidate.ts";

/** A file that may answer a question about code, with those of its chunks that the index found. */
export interface FileCandidate {
  readonly id: number;
  readonly path: string;
  /** The indexed folder that contains the file; without it, the path is relative. */
  readonly root?: string;
  /** Number of terms in the whole file. */
  readonly length: number;
  /** Names that the file defines, from `listDefinitions`. */
  readonly definitions: readonly string[];
  readonly chunks: readonly CandidateChunk[];
}

/** Context of ranking files other than the candidates. */
export interface FileContext {
  readonly statistics: Pick<Statistics, "chunks" | "averageChunkLength" | "averageLength" | "frequencyOf">;
  /** Accesses to files by the scope's sessions, newest first. */
  readonly touches?: readonly FileTouch[];
}

/** Kinds of files that repeat code implemented elsewhere and are rarely the cause of a problem. */
const FILE_KINDS = {
  test: /(?:^|\/)(?:tests?|testing|__tests__|spec)\/|(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.\w+$|\.(?:test|spec)\.\w+$/i,
  document: /(?:^|\/)(?:docs?|examples?|samples?|bench(?:mark)?s?|tutorials?)\//i,
  vendored: /(?:^|\/)(?:vendor|vendored|_vendor|third_party|node_modules)\//i,
  setup: /(?:^|\/)(?:setup|__init__|__version__|version|conf)\.\w+$/i,
} as const;

/** The parts by which a file's score is reported. */
export type FileScorePart = "words" | "definitions" | "path" | "meaning" | "kind" | "history";

/**
 * The features of files, and the part of the score that each belongs to; all but `similarity` are between 0 and 1. Each
 * access has two features. The one that ends in `Named` counts if the question names a file or a definition, and the other
 * one counts if it does not.
 */
export const FILE_PART_OF = {
  whole: "words",
  chunk: "words",
  definitions: "definitions",
  name: "path",
  folder: "path",
  pointed: "path",
  similarity: "meaning",
  test: "kind",
  testAsked: "kind",
  document: "kind",
  vendored: "kind",
  setup: "kind",
  lastTouched: "history",
  lastEdited: "history",
  touched: "history",
  lastTouchedNamed: "history",
  touchedNamed: "history",
} as const satisfies Readonly<Record<string, FileScorePart>>;

export type FileFeature = keyof typeof FILE_PART_OF;

export const FILE_FEATURES: readonly FileFeature[] = Object.keys(FILE_PART_OF) as FileFeature[];

/** The features of one file, and its best chunk. */
interface FileFeatures {
  readonly values: Record<FileFeature, number>;
  /** Null if only the path or a definition matched. */
  readonly chunk: number | null;
}

/** Features that are divided by the best candidate's. */
const SCALED: readonly FileFeature[] = ["whole", "chunk", "definitions", "name", "folder"];
const WHOLE = { saturation: 1.2, lengthShare: 0.6 };
const CHUNK = { saturation: 1.2, lengthShare: 0.5 };
/** Logarithm of one more than the accesses that count fully: three and a half. */
const FULLY_TOUCHED = 1.5;

/** The features of each file, in order. */
export function computeFileFeatures(
  question: string,
  files: readonly FileCandidate[],
  context: FileContext,
): FileFeatures[] {
  const query = parseCodeQuery(question);
  const rarities = computeRarities(query, context);
  const definers = countDefiners(query, files);
  const steps = files.map((file) => splitPath(findRelativePath(file)));
  const pathRarityOf = buildPathRarity(steps);
  const touches = countTouches(files, context.touches ?? []);
  const all = files.map((file, index): FileFeatures => {
    const { path, name, folder } = steps[index] as PathTerms;
    const isKind = (kind: keyof typeof FILE_KINDS) => (FILE_KINDS[kind].test(path) ? 1 : 0);
    const isTest = isKind("test");
    const found = scoreTexts(file, rarities, context);
    const values = {
      whole: found.whole,
      chunk: found.best,
      definitions: scoreDefinitions(file, definers),
      name: sumOf(name, (term) => rarities.get(term) ?? 0),
      folder: sumOf(folder, (term) => (query.weights.get(term) ?? 0) * pathRarityOf(term)),
      pointed: scorePointer(path, query),
      similarity: Math.max(...file.chunks.map(({ similarity }) => similarity ?? Number.NEGATIVE_INFINITY)),
      test: isTest,
      testAsked: query.mentionsTests ? isTest : 0,
      document: isKind("document"),
      vendored: isKind("vendored"),
      setup: isKind("setup"),
      ...NO_TOUCHES,
    };
    return { values, chunk: found.chunk };
  });
  const isNamed = all.some(({ values }) => values.pointed > 0 || values.definitions > 0);
  for (const [index, { values }] of all.entries())
    Object.assign(values, scoreTouches(touches.get(index), isNamed));
  for (const feature of SCALED) {
    const most = Math.max(1e-9, ...all.map(({ values }) => values[feature]));
    for (const { values } of all) values[feature] /= most;
  }
  relateSimilarities(all);
  return all;
}

/** The difference to the most similar file; files without vectors count like the least similar one. */
function relateSimilarities(all: readonly FileFeatures[]): void {
  const known = all.map(({ values }) => values.similarity).filter(Number.isFinite);
  const [most, least] = [Math.max(...known), Math.min(...known)];
  for (const { values } of all) {
    const similarity = Number.isFinite(values.similarity) ? values.similarity : least;
    values.similarity = known.length === 0 ? 0 : similarity - most;
  }
}

const NO_TOUCHES = { lastTouched: 0, lastEdited: 0, touched: 0, lastTouchedNamed: 0, touchedNamed: 0 };

/** Many accesses count no more than some, so that history alone does not outweigh the words of a question. */
function scoreTouches(record: TouchRecord | undefined, isNamed: boolean): typeof NO_TOUCHES {
  if (!record) return NO_TOUCHES;
  const last = 1 / (1 + record.touchedSince);
  const touched = Math.min(1, Math.log1p(record.decayedCount) / FULLY_TOUCHED);
  if (isNamed) return { ...NO_TOUCHES, lastTouchedNamed: last, touchedNamed: touched };
  return { ...NO_TOUCHES, lastTouched: last, lastEdited: 1 / (1 + record.editedSince), touched };
}

function computeRarities({ weights }: CodeQuery, { statistics }: FileContext): Map<string, number> {
  return new Map(
    [...weights].map(([term, weight]) => {
      const frequency = statistics.frequencyOf(term);
      return [term, weight * Math.log(1 + (statistics.chunks - frequency + 0.5) / (frequency + 0.5))];
    }),
  );
}

interface PathTerms {
  /** Within the indexed folder. */
  readonly path: string;
  readonly name: ReadonlySet<string>;
  readonly folder: ReadonlySet<string>;
}

function splitPath(path: string): PathTerms {
  const end = path.lastIndexOf("/");
  return {
    path,
    name: new Set(analyzeText(path.slice(end + 1).replace(/\.\w+$/, ""))),
    folder: new Set(analyzeText(path.slice(0, Math.max(0, end)))),
  };
}

/** Rarity of a term among the candidates' paths, so that a folder that contains everything does not count. */
function buildPathRarity(paths: readonly PathTerms[]): (term: string) => number {
  const counts = new Map<string, number>();
  for (const { name, folder } of paths)
    for (const term of new Set([...name, ...folder])) counts.set(term, (counts.get(term) ?? 0) + 1);
  return (term) => {
    const count = counts.get(term) ?? 0;
    return Math.log(1 + (paths.length - count + 0.5) / (count + 0.5));
  };
}

function sumOf(terms: ReadonlySet<string>, weightOf: (term: string) => number): number {
  let sum = 0;
  for (const term of terms) sum += weightOf(term);
  return sum;
}

/** Number of candidates that define each identifier of the question. */
function countDefiners({ identifiers }: CodeQuery, files: readonly FileCandidate[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { definitions } of files) {
    for (const name of new Set(definitions.map((definition) => definition.toLowerCase()))) {
      if (identifiers.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

function scoreTexts(
  file: FileCandidate,
  rarities: ReadonlyMap<string, number>,
  { statistics }: FileContext,
): { whole: number; best: number; chunk: number | null } {
  const total = new Map<string, number>();
  let chunk: number | null = null;
  let best = 0;
  for (const { id, terms } of file.chunks) {
    const counts = new Map<string, number>();
    for (const term of terms) if (rarities.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) total.set(term, (total.get(term) ?? 0) + count);
    const score = scoreTerms(counts, rarities, terms.length / statistics.averageChunkLength, CHUNK);
    if (score > best) [best, chunk] = [score, id];
  }
  return {
    whole: scoreTerms(total, rarities, file.length / statistics.averageLength, WHOLE),
    best,
    chunk,
  };
}

function scoreTerms(
  counts: ReadonlyMap<string, number>,
  rarities: ReadonlyMap<string, number>,
  length: number,
  shape: typeof WHOLE,
): number {
  let score = 0;
  for (const [term, count] of counts) score += (rarities.get(term) ?? 0) * computeOkapi(count, length, shape);
  return score;
}

/** An identifier that one file defines points to that file; one that many files define does not. */
function scoreDefinitions({ definitions }: FileCandidate, definers: ReadonlyMap<string, number>): number {
  let score = 0;
  for (const name of new Set(definitions.map((definition) => definition.toLowerCase()))) {
    const count = definers.get(name);
    if (count !== undefined) score += 1 / count;
  }
  return Math.sqrt(score);
}

function scorePointer(path: string, { paths }: CodeQuery): number {
  const own = path
    .replace(/\.\w{1,5}$/, "")
    .replace(/\/__init__$/, "")
    .toLowerCase();
  let strength = 0;
  for (const [end, value] of paths)
    if (own === end || own.endsWith(`/${end}`)) strength = Math.max(strength, value);
  return strength;
}
