import { createArgumentError, LonghaulError } from "../../model/errors.ts";

/** Longest run, in characters, that is counted in one piece. */
const MAX_RUN = 256;

/**
 * Runs that tokenizers treat as one word before merging bytes: letters, white space, or other characters without a
 * break. Merging takes quadratic time in their length.
 */
const LONG_RUN = new RegExp(
  [`[\\p{L}\\p{M}]{${MAX_RUN + 1},}`, `\\s{${MAX_RUN + 1},}`, `[^\\s\\p{L}\\p{N}]{${MAX_RUN + 1},}`].join(
    "|",
  ),
  "gu",
);

/** Counts the tokens of a text exactly. */
export interface Tokenizer {
  readonly name: string;
  count(text: string): number;
}

/** Available encodings: o200k_base for OpenAI models since GPT-4o, cl100k_base for those before. */
export const TOKENIZERS = ["o200k_base", "cl100k_base"] as const;

export type TokenizerName = (typeof TOKENIZERS)[number];

interface Encoding {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
}

const PACKAGE = "gpt-tokenizer";

const IMPORTS: Readonly<Record<TokenizerName, () => Promise<Encoding>>> = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
};

/** Treats marks such as <|endoftext|> as plain text, because people and tools may write them. */
const NOTHING_SPECIAL = { disallowedSpecial: new Set<string>() };

const loaded = new Map<TokenizerName, Promise<Tokenizer>>();

/**
 * Imports an exact tokenizer on first use (about 0.2 s and 30 MB). Throws ARGUMENT_INVALID for an unknown name and
 * PACKAGE_MISSING if the optional package is not installed.
 */
export function loadTokenizer(name: TokenizerName): Promise<Tokenizer> {
  if (typeof name !== "string")
    return Promise.reject(createArgumentError("tokenizer", name, `one of ${TOKENIZERS.join(", ")}`));
  const known = loaded.get(name);
  if (known) return known;
  const loading = load(name);
  loaded.set(name, loading);
  loading.catch(() => loaded.delete(name));
  return loading;
}

async function load(name: TokenizerName): Promise<Tokenizer> {
  if (!Object.hasOwn(IMPORTS, name)) {
    throw new LonghaulError(
      "ARGUMENT_INVALID",
      `tokenizer is ${JSON.stringify(name)}; expected one of ${TOKENIZERS.join(", ")}.`,
      { details: { option: "tokenizer" } },
    );
  }
  const encoding = await IMPORTS[name]().catch((cause: unknown) => {
    throw new LonghaulError(
      "PACKAGE_MISSING",
      `The tokenizer "${name}" needs the package ${PACKAGE}, which could not be loaded. Install it (npm install ${PACKAGE}), or do without a tokenizer: counts are estimated then.`,
      { cause, details: { package: PACKAGE } },
    );
  });
  const count = (piece: string) => encoding.countTokens(piece, NOTHING_SPECIAL);
  return { name, count: (text) => countInPieces(text, count) };
}

/**
 * Counts any text in linear time. Very long runs of one kind are counted in pieces, which adds at most a token or two
 * per piece; everything else is exact.
 */
export function countInPieces(text: string, count: (piece: string) => number): number {
  let tokens = 0;
  let start = 0;
  for (const { 0: run, index } of text.matchAll(LONG_RUN)) {
    tokens += countPart(text.slice(start, index), count);
    for (let at = 0; at < run.length; at += MAX_RUN) tokens += count(run.slice(at, at + MAX_RUN));
    start = index + run.length;
  }
  return tokens + countPart(text.slice(start), count);
}

function countPart(part: string, count: (piece: string) => number): number {
  return part === "" ? 0 : count(part);
}
