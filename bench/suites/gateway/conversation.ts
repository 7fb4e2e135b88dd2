import type { Corpus } from "../../corpus.ts";
import type { Turn } from "./reply.ts";

/** Start of a conversation. */
export interface Beginning {
  /** Different seeds give different texts. */
  readonly seed: number;
  readonly model?: string;
  readonly systemBytes: number;
  readonly tools: number;
  /** The user's first message. */
  readonly task: string;
}

const TOOL_BYTES = 800;
const MARK = { type: "ephemeral" };
const MARK_TEXT = `,"cache_control":${JSON.stringify(MARK)}`;

/**
 * A conversation of an agent that reads one file after another, as its client keeps it: each request sends all of it.
 */
export class Conversation {
  readonly #corpus: Corpus;
  readonly #head: string;
  readonly #elements: string[];
  #next: number;

  constructor(corpus: Corpus, { seed, model = "bench", systemBytes, tools, task }: Beginning) {
    this.#corpus = corpus;
    this.#next = seed * 100_003;
    const system = [{ type: "text", text: this.#text(systemBytes), cache_control: MARK }];
    const schema = { type: "object", properties: { file_path: { type: "string" } } };
    const kit = Array.from({ length: tools }, (_, index) => ({
      name: index === 0 ? "Read" : `Tool${index}`,
      description: this.#text(TOOL_BYTES),
      input_schema: schema,
    }));
    const fields = { model, max_tokens: 4_000, stream: true, system, tools: kit };
    this.#head = JSON.stringify(fields).slice(0, -1);
    this.#elements = [JSON.stringify({ role: "user", content: [{ type: "text", text: task }] })];
  }

  /** The messages in serialized form. */
  get elements(): readonly string[] {
    return this.#elements;
  }

  /** Adds the model's turn, and a result of `resultBytes` for its call. */
  answered(turn: Turn, resultBytes: number, mark = ""): void {
    const { id, text, path } = turn;
    const call = { type: "tool_use", id, name: "Read", input: { file_path: path } };
    const result = { type: "tool_result", tool_use_id: id, content: mark + this.#text(resultBytes) };
    this.#elements.push(
      JSON.stringify({ role: "assistant", content: [{ type: "text", text }, call] }),
      JSON.stringify({ role: "user", content: [result] }),
    );
  }

  /** The request body; like most clients, this one puts a cache marker on its last message. */
  body(elements: readonly string[] = this.#elements): Buffer {
    const last = elements.at(-1) as string;
    const marked = `${last.slice(0, -"}]}".length)}${MARK_TEXT}}]}`;
    return Buffer.from(`${this.#head},"messages":[${[...elements.slice(0, -1), marked].join(",")}]}`);
  }

  /** Text cut from the corpus, never the same twice. */
  #text(bytes: number): string {
    let text = "";
    while (text.length < bytes) text += this.#corpus.message(this.#next++).text;
    return text.slice(0, bytes).toWellFormed();
  }
}

/** A request without its cache markers, which move between requests and do not affect the cache. */
export function withoutMarkers(body: string): string {
  return body.replaceAll(MARK_TEXT, "");
}
