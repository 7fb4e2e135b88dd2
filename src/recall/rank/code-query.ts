import { analyzeText } from "../text/analyze-text.ts";

/** A question about code: its weighted terms, identifiers, and the files it points to. */
export interface CodeQuery {
  readonly weights: ReadonlyMap<string, number>;
  /** Identifiers that the question writes as such, in lower case. */
  readonly identifiers: ReadonlySet<string>;
  /** Ends of paths that tracebacks and module names point to, without extension, with the strength of the evidence. */
  readonly paths: ReadonlyMap<string, number>;
  readonly mentionsTests: boolean;
}

const TITLE_WEIGHT = 2;
const NAMED_WEIGHT = 2;
const QUOTED_WEIGHT = 0.6;
const MAX_TERMS = 400;

const FENCE = /```[\s\S]*?(?:```|$)|^(?: {4}|\t|>>> ).*$/gm;
/** Lists of versions describe the installation, not the problem. */
const VERSION_LINE =
  /^[\s\-*]*[\w.-]+(?:\s*\([^)]*\))?\s*[:=]{1,2}\s*v?(?:\d+(?:\.\d+)+\S*|None|N\/A)\s*$/gim;
const DETAILS = /<details>[\s\S]*?(?:<\/details>|$)/gi;
const FRAME = /File "([^"\n]+)", line \d+(?:, in (\w+))?/g;
const TICKED = /`([^`\n]{1,80})`/g;
const CODE_NAME =
  /\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|\b[a-z]+(?:_[a-z0-9]+)+\b|\b_\w+|\b[A-Z][a-z0-9]+(?:[A-Z]\w*)+\b|\b[A-Za-z_]\w*(?=\()/g;
const FILE_PATH =
  /\b(?:[\w.-]+\/)+[\w-]+\.\w{1,5}\b|\b[\w-]+\.(?:py|ts|js|tsx|jsx|go|rs|java|c|h|cpp|rb|php|md)\b/g;

/** Parses a question about code, which may be a whole bug report. */
export function parseCodeQuery(question: string): CodeQuery {
  const weights = new Map<string, number>();
  const identifiers = new Set<string>();
  const paths = new Map<string, number>();
  const report = question.replace(DETAILS, " ").replace(VERSION_LINE, " ");
  const frames = [...report.matchAll(FRAME)];
  const text = report.replace(FRAME, " ");
  const lineEnd = text.indexOf("\n");
  const title = lineEnd < 0 ? text : text.slice(0, lineEnd);
  const quoted = (text.match(FENCE) ?? []).join("\n");
  const prose = text.slice(title.length).replace(FENCE, " ");

  addTerms(weights, title, TITLE_WEIGHT);
  addTerms(weights, prose, 1);
  addTerms(weights, quoted, QUOTED_WEIGHT);
  const named = [...(title + prose).matchAll(TICKED)].map((match) => match[1] ?? "");
  for (const name of [...named, ...((title + prose).match(CODE_NAME) ?? [])]) {
    addTerms(weights, name, NAMED_WEIGHT);
    addIdentifiers(identifiers, name);
  }
  for (const name of quoted.match(CODE_NAME) ?? []) addIdentifiers(identifiers, name);
  for (const [, , caller] of frames) if (caller !== undefined) addIdentifiers(identifiers, caller);
  addPaths(
    paths,
    text,
    frames.map(([, path]) => path ?? ""),
  );
  return {
    weights: saturateWeights(weights),
    identifiers,
    paths,
    mentionsTests: /\b(?:tests?|testing|specs?)\b|测试|テスト/i.test(report),
  };
}

function addTerms(weights: Map<string, number>, text: string, weight: number): void {
  for (const term of analyzeText(text)) weights.set(term, (weights.get(term) ?? 0) + weight);
}

function addIdentifiers(identifiers: Set<string>, name: string): void {
  for (const part of name.split(/[^\w]+/)) if (part.length > 2) identifiers.add(part.toLowerCase());
}

/** The innermost frame of a traceback is the likeliest; `package.module.name` may be a module at any of its dots. */
function addPaths(paths: Map<string, number>, text: string, frames: readonly string[]): void {
  const add = (path: string, strength: number): void => {
    const end = path
      .replace(/\\/g, "/")
      .replace(/\.\w{1,5}$/, "")
      .toLowerCase()
      .split("/")
      .slice(-3)
      .join("/");
    paths.set(end, Math.max(paths.get(end) ?? 0, strength));
  };
  for (const [index, path] of frames.entries()) add(path, 0.3 + 0.7 * ((index + 1) / frames.length) ** 2);
  for (const path of text.match(FILE_PATH) ?? []) add(path, 0.8);
  for (const dotted of text.match(/\b[a-z_]\w*(?:\.[A-Za-z_]\w*)+/g) ?? []) {
    const parts = dotted.split(".");
    for (let count = parts.length; count >= 2; count--) add(parts.slice(0, count).join("/"), 0.6);
  }
}

/** Saturates weights, because repeating a word ten times does not make it ten times as important. */
function saturateWeights(weights: ReadonlyMap<string, number>): Map<string, number> {
  return new Map(
    [...weights]
      .map(([term, weight]) => [term, Math.log1p(weight)] as const)
      .sort((left, right) => right[1] - left[1])
      .slice(0, MAX_TERMS),
  );
}
