import type { Message } from "../../model/message.ts";
import { isInlineToolOutput } from "../inline-tool-output.ts";
import type { RecordedMessage } from "./recorded-message.ts";
import { isLineReference, type ReferenceReader } from "./reference-reader.ts";

/** Kinds of clues, which agents fetch again in different ways. */
export type ClueKind = "line" | "path" | "name";

/** Output of a tool that an agent can fetch again with the same call. */
interface ToolOutput {
  readonly id: string;
  readonly tokens: number;
}

/** The history of a clue in a conversation. */
export interface SeenClue {
  /** Number of requests before the clue last appeared. */
  readonly request: number;
  /** True if the assistant has named the clue. */
  readonly isNamed: boolean;
  /** The latest tool output that contains the clue; undefined if only words of people and agents do. */
  readonly output: ToolOutput | undefined;
}

/** The clues of a conversation up to now, and the tool outputs that contain them. */
export class SeenClues {
  readonly #reader: ReferenceReader;
  readonly #clues = new Map<string, SeenClue>();
  #lastMessage: Message | undefined;
  #requests = 0;

  constructor(reader: ReferenceReader) {
    this.#reader = reader;
  }

  /** Number of requests so far. */
  get requests(): number {
    return this.#requests;
  }

  get entries(): Iterable<readonly [reference: string, clue: SeenClue]> {
    return this.#clues;
  }

  find(reference: string): SeenClue | undefined {
    return this.#clues.get(reference);
  }

  /** Adds the clues of the next message. */
  observe({ seq, message }: RecordedMessage): void {
    const isOutput = message.role === "tool" || isInlineToolOutput(message, this.#lastMessage);
    const parts = this.#reader.readParts(message);
    for (const [index, { references, origin, characters }] of parts.entries()) {
      const isOwn = message.role === "assistant" && origin !== "reasoning";
      const output = isOutput ? { id: `${seq}.${index}`, tokens: Math.ceil(characters / 4) } : undefined;
      for (const reference of references) {
        const known = this.#clues.get(reference);
        this.#clues.set(reference, {
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
export function getClueKind(reference: string): ClueKind {
  if (isLineReference(reference)) return "line";
  return reference.includes("/") ? "path" : "name";
}
