import { analyzeText } from "../text/analyze-text.ts";
import { type CodeQuery, parseCodeQuery } from "./code-query.ts";
import { computeOkapi } from "./term-match.ts";
import type { CandidateChunk, Statistics } from "./turn-candidate.ts";

/** A file that may answer a question about code, with those of its chunks that the index found. */
export interface FileCandidate {
  readonly id: number;
  readonly path: string;
  /** Number of terms in the whole file. */
  readonly length: number;
  /** Names that the file defines, from `definitionsOf`. */
  readonly definitions: readonly string[];
  readonly chunks: readonly CandidateChunk[];
}

/** Context of ranking files other than the candidates. */
interface FileContext {
  readonly statistics: Pick<Statistics, "chunks" | "averageChunkLength" | "averageLength" | "frequencyOf">;
}

/** A file with its score and the parts of the score. */
interface RankedFile {
  readonly id: number;
  /** Id of the best chunk; null if only the path or a definition matched. */
  readonly chunk: number | null;
  readonly score: number;
  readonly parts: Readonly<Record<FileScorePart, number>>;
}

/** The parts of a file's score. */
type FileScorePart = "whole" | "chunk" | "definitions" | "path" | "pointed";

const WEIGHTS: Readonly<Record<FileScorePart, number>> = {
  whole: 1,
  chunk: 0.5,
  definitions: 0.6,
  path: 0.5,
  pointed: 0.8,
};
const WHOLE = { saturation: 1.2, lengthShare: 0.6 };
const CHUNK = { saturation: 1.2, lengthShare: 0.5 };

/** Paths that repeat code implemented elsewhere and are rarely the cause of a problem. */
const SECONDARY_PATHS: readonly (readonly [RegExp, number])[] = [
  [
    /(?:^|\/)(?:tests?|testing|__tests__|spec)\/|(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.\w+$|\.(?:test|spec)\.\w+$/i,
    0.4,
  ],
  [/(?:^|\/)(?:docs?|examples?|samples?|bench(?:mark)?s?|tutorials?)\//i, 0.5],
  [/(?:^|\/)(?:vendor|vendored|_vendor|third_party|node_modules)\//i, 0.5],
  [/(?:^|\/)(?:setup|__init__|__version__|version|conf)\.\w+$/i, 0.7],
];

/** Orders files by how likely they answer a question about code. */
export function rankFiles(
  question: string,
  files: readonly FileCandidate[],
  context: FileContext,
): RankedFile[] {
  const query = parseCodeQuery(question);
  const rarities = computeRarities(query, context);
  const definers = countDefiners(query, files);
  const raw = files.map((file) => scoreParts(file, query, rarities, definers, context));
  const most = (part: FileScorePart) => Math.max(1e-9, ...raw.map(({ parts }) => parts[part]));
  const scale = {
    whole: most("whole"),
    chunk: most("chunk"),
    definitions: most("definitions"),
    path: most("path"),
    pointed: 1,
  };
  const hits = raw.map(({ id, chunk, path, parts }): RankedFile => {
    const aside = computeFactor(path, query);
    const weighed = Object.fromEntries(
      Object.entries(parts).map(([part, value]) => [
        part,
        (aside * WEIGHTS[part as FileScorePart] * value) / scale[part as FileScorePart],
      ]),
    ) as Record<FileScorePart, number>;
    return {
      id,
      chunk,
      score: Object.values(weighed).reduce((sum, value) => sum + value, 0),
      parts: weighed,
    };
  });
  return hits.sort((left, right) => right.score - left.score || left.id - right.id);
}

function computeRarities({ weights }: CodeQuery, { statistics }: FileContext): Map<string, number> {
  return new Map(
    [...weights].map(([term, weight]) => {
      const frequency = statistics.frequencyOf(term);
      return [term, weight * Math.log(1 + (statistics.chunks - frequency + 0.5) / (frequency + 0.5))];
    }),
  );
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

function scoreParts(
  file: FileCandidate,
  query: CodeQuery,
  rarities: ReadonlyMap<string, number>,
  definers: ReadonlyMap<string, number>,
  { statistics }: FileContext,
) {
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
  const parts: Record<FileScorePart, number> = {
    whole: scoreTerms(total, rarities, file.length / statistics.averageLength, WHOLE),
    chunk: best,
    definitions: scoreDefinitions(file, definers),
    path: scorePath(file, rarities),
    pointed: scorePointer(file, query),
  };
  return { id: file.id, path: file.path, chunk, parts };
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

function scorePath({ path }: FileCandidate, rarities: ReadonlyMap<string, number>): number {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
  let score = 0;
  for (const term of new Set(analyzeText(name))) score += rarities.get(term) ?? 0;
  return score;
}

function scorePointer({ path }: FileCandidate, { paths }: CodeQuery): number {
  const own = path
    .replace(/\.\w{1,5}$/, "")
    .replace(/\/__init__$/, "")
    .toLowerCase();
  let strength = 0;
  for (const [end, value] of paths)
    if (own === end || own.endsWith(`/${end}`)) strength = Math.max(strength, value);
  return strength;
}

function computeFactor(path: string, { isAboutTests }: CodeQuery): number {
  let factor = 1;
  for (const [index, [pattern, value]] of SECONDARY_PATHS.entries()) {
    if (pattern.test(path) && !(index === 0 && isAboutTests)) factor = Math.min(factor, value);
  }
  return factor;
}
