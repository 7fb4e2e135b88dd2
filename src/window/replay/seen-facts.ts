import type { Message } from "../../model/message.ts";
import { isInlineToolOutput } from "../inline-tool-output.ts";
import type { RecordedMessage } from "./recorded-message.ts";
import { isLineReference, type ReferenceReader } from "./reference-reader.ts";

/** Kinds of facts, which agents fetch again in different ways. */
export type FactKind = "line" | "path" | "name";

/** Output of a tool that an agent can fetch again with the same call. */
interface ToolOutput {
  readonly id: string;
  readonly tokens: number;
}

/** The history of a fact in a conversation. */
export interface SeenFact {
  /** Number of requests before the fact last appeared. */
  readonly request: number;
  /** True if the assistant has named the fact. */
  readonly isNamed: boolean;
  /** The latest tool output that contains the fact; undefined if only words of people and agents do. */
  readonly output: ToolOutput | undefined;
}

/** The facts of a conversation up to now, and the tool outputs that contain them. */
export class SeenFacts {
  readonly #reader: ReferenceReader;
  readonly #facts = new Map<string, SeenFact>();
  #lastMessage: Message | undefined;
  #requests = 0;

  constructor(reader: ReferenceReader) {
    this.#reader = reader;
  }

  /** Number of requests so far. */
  get requests(): number {
    return this.#requests;
  }

  get entries(): Iterable<readonly [reference: string, fact: SeenFact]> {
    return this.#facts;
  }

  find(reference: string): SeenFact | undefined {
    return this.#facts.get(reference);
  }

  /** Adds the facts of the next message. */
  observe({ seq, message }: RecordedMessage): void {
    const isOutput = message.role === "tool" || isInlineToolOutput(message, this.#lastMessage);
    const parts = this.#reader.readParts(message);
    for (const [index, { references, origin, characters }] of parts.entries()) {
      const isOwn = message.role === "assistant" && origin !== "reasoning";
      const output = isOutput ? { id: `${seq}.${index}`, tokens: Math.ceil(characters / 4) } : undefined;
      for (const reference of references) {
        const known = this.#facts.get(reference);
        this.#facts.set(reference, {
          request: this.#requests,
          isNamed: isOwn || known?.isNamed === true,
          output: output ?? known?.output,
        });
      }
    }
    this.#lastMessage = message;
    if (message.role === "assistant") this.#requests++;
  }
}

/** The kind of a reference. */
export function getFactKind(reference: string): FactKind {
  if (isLineReference(reference)) return "line";
  return reference.includes("/") ? "path" : "name";
}
