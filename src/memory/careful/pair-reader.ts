import { readFileSync } from "node:fs";
import { webAssembly } from "../vectors/web-assembly.ts";
import { createReaderError, READER_FOLDER, type ReaderWeights } from "./reader-weights.ts";
import { SEPARATOR_TOKEN, START_TOKEN, WordPieces } from "./word-pieces.ts";

/** Maximum tokens of a question and a passage together; the model's cost grows with them. */
const MAX_PAIR_TOKENS = 96;
const MAX_QUESTION_TOKENS = 40;
const PAGE_BYTES = 65_536;
/** With relaxed SIMD, which takes half the time, and for runtimes without it. */
const KERNELS = ["kernel.wasm", "kernel-plain.wasm"] as const;

interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /** Address of the tokens to read. */
  tokens(): number;
  /** Address of the weights. */
  base(): number;
  open(words: number, layers: number): void;
  /** The score of the tokens. The first `asked` tokens are the question with its marks. */
  read(count: number, asked: number): number;
}

/** Scores a question and a passage by reading them together, in WebAssembly. Higher is better. */
export class PairReader {
  readonly #pieces: WordPieces;
  readonly #kernel: Kernel;
  #asked: { readonly question: string; readonly tokens: readonly number[] } | undefined;

  /** Uses the first of `kernels` that the runtime can load. */
  constructor({ words, layers, body }: ReaderWeights, kernels: readonly string[] = KERNELS) {
    this.#pieces = new WordPieces(words);
    this.#kernel = loadKernel(kernels);
    const missing = this.#kernel.base() + body.length - this.#kernel.memory.buffer.byteLength;
    if (missing > 0) this.#kernel.memory.grow(Math.ceil(missing / PAGE_BYTES));
    new Uint8Array(this.#kernel.memory.buffer).set(body, this.#kernel.base());
    this.#kernel.open(words.length, layers);
  }

  score(question: string, passage: string): number {
    if (this.#asked?.question !== question)
      this.#asked = { question, tokens: this.#pieces.encode(question, MAX_QUESTION_TOKENS) };
    const asked = [START_TOKEN, ...this.#asked.tokens, SEPARATOR_TOKEN];
    const answer = this.#pieces.encode(passage, MAX_PAIR_TOKENS - asked.length - 1);
    const tokens = [...asked, ...answer, SEPARATOR_TOKEN];
    new Int32Array(this.#kernel.memory.buffer, this.#kernel.tokens(), tokens.length).set(tokens);
    return this.#kernel.read(tokens.length, asked.length);
  }
}

function loadKernel(kernels: readonly string[]): Kernel {
  let reason: unknown;
  for (const name of kernels) {
    try {
      const module = new webAssembly.Module(new Uint8Array(readFileSync(new URL(name, READER_FOLDER))));
      const memory = new webAssembly.Memory({ initial: 1 });
      return new webAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernel;
    } catch (error) {
      reason = error;
    }
  }
  throw createReaderError(String(READER_FOLDER), String(reason), reason);
}
