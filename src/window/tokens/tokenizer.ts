import { invalidArgument, LonghaulError } from "../../model/errors.ts";
import { countInPieces } from "./count-in-pieces.ts";

/** Counts the tokens of a text exactly. */
export interface Tokenizer {
  readonly name: string;
  count(text: string): number;
}

/** Encodings that can be loaded: o200k_base of OpenAI's models since GPT-4o, cl100k_base of those before. */
export const TOKENIZERS = ["o200k_base", "cl100k_base"] as const;

/** One of the encodings. */
export type TokenizerName = (typeof TOKENIZERS)[number];

interface Encoding {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
}

const PACKAGE = "gpt-tokenizer";

const IMPORTS: Readonly<Record<TokenizerName, () => Promise<Encoding>>> = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
};

/** Marks such as <|endoftext|> are plain words in what people and tools say. */
const NOTHING_SPECIAL = { disallowedSpecial: new Set<string>() };

const loaded = new Map<TokenizerName, Promise<Tokenizer>>();

/**
 * An exact tokenizer, imported when it is asked for the first time (about 0.2 s and 30 MB). Throws ARGUMENT_INVALID for a
 * name that does not exist, PACKAGE_MISSING where the optional package is not installed.
 */
export function loadTokenizer(name: TokenizerName): Promise<Tokenizer> {
  if (typeof name !== "string")
    return Promise.reject(invalidArgument("tokenizer", name, `one of ${TOKENIZERS.join(", ")}`));
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
