import type { DataPart } from "../../kernel/index.ts";
import { toText } from "../../wire/fields.ts";
import { buildDataPart } from "../../wire/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { CopilotEvent } from "./copilot-event.ts";

/** Files come in separate events before the message that shows them; limits on their number and size. */
const MAX_WAITING = 32;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Files that no message has shown yet, by the ids that messages use. */
export class Assets {
  readonly #waiting = new Map<string, CopilotEvent>();
  #characters = 0;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Stores a file; yields the oldest files beyond the limits. */
  *add(event: CopilotEvent): Generator<CopilotEvent> {
    const id = toText(event.data.assetId);
    if (id === undefined || this.#waiting.has(id)) {
      yield event;
      return;
    }
    this.#waiting.set(id, event);
    this.#characters += getSize(event);
    for (const [oldest, waiting] of this.#waiting) {
      if (this.#waiting.size <= MAX_WAITING && this.#characters <= MAX_CHARACTERS) break;
      this.#remove(oldest);
      yield waiting;
    }
  }

  /** Returns the bytes of an attachment: inline, or from a stored file. */
  takePart(shown: JsonObject, name?: string): DataPart | undefined {
    const own = buildDataPart(shown.data, shown.mimeType, name);
    if (own) return own;
    const id = toText(shown.assetId);
    const event = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !event) return undefined;
    const part = buildDataPart(event.data.data, event.data.mimeType ?? shown.mimeType, name);
    if (part) this.#remove(id);
    return part;
  }

  /** Yields the files that no message showed. */
  *takeRest(): Generator<CopilotEvent> {
    yield* this.#waiting.values();
    this.#waiting.clear();
    this.#characters = 0;
  }

  #remove(id: string): void {
    const event = this.#waiting.get(id);
    if (event) this.#characters -= getSize(event);
    this.#waiting.delete(id);
  }
}

function getSize({ data }: CopilotEvent): number {
  return typeof data.data === "string" ? data.data.length : 0;
}
