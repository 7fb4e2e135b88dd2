import type { DataPart } from "../../index.ts";
import { textOf } from "../content/fields.ts";
import { dataPart } from "../content/media.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { CopilotEvent } from "./event.ts";

/** Files wait in events of their own for the message that shows them; this many at once, and this much. */
const MAX_WAITING = 32;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** The files that no message has shown yet, by the ids under which messages refer to them. */
export class Assets {
  readonly #waiting = new Map<string, CopilotEvent>();
  #characters = 0;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Keeps a file; yields those that have waited too long. */
  *add(event: CopilotEvent): Generator<CopilotEvent> {
    const id = textOf(event.data.assetId);
    if (id === undefined || this.#waiting.has(id)) {
      yield event;
      return;
    }
    this.#waiting.set(id, event);
    this.#characters += sizeOf(event);
    for (const [oldest, waiting] of this.#waiting) {
      if (this.#waiting.size <= MAX_WAITING && this.#characters <= MAX_CHARACTERS) break;
      this.#forget(oldest);
      yield waiting;
    }
  }

  /** The bytes of something shown: in itself, or waiting under its id. */
  partOf(shown: JsonObject, name?: string): DataPart | undefined {
    const own = dataPart(shown.data, shown.mimeType, name);
    if (own) return own;
    const id = textOf(shown.assetId);
    const event = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !event) return undefined;
    const part = dataPart(event.data.data, event.data.mimeType ?? shown.mimeType, name);
    if (part) this.#forget(id);
    return part;
  }

  /** What nothing has shown. */
  *rest(): Generator<CopilotEvent> {
    yield* this.#waiting.values();
    this.#waiting.clear();
    this.#characters = 0;
  }

  #forget(id: string): void {
    const event = this.#waiting.get(id);
    if (event) this.#characters -= sizeOf(event);
    this.#waiting.delete(id);
  }
}

function sizeOf({ data }: CopilotEvent): number {
  return typeof data.data === "string" ? data.data.length : 0;
}
