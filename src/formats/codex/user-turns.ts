import { ADDED_TAGS, getTagNames } from "../../model/message-tags.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Maximum user turns to remember for rollbacks. */
const MAX_TURNS = 10_000;

/** Prefixes of context that Codex sends in the user's name. */
const CONTEXT_MARKS = [
  "# AGENTS.md instructions",
  ...getTagNames(ADDED_TAGS, "turn").map((name) => `<${name}>`),
  ...getTagNames(ADDED_TAGS, "turn with attributes").map((name) => `<${name}`),
];

/** True for a message that the user wrote; only those count when turns are rolled back. */
export function isTurnStart(item: JsonObject): boolean {
  if (item.type !== "message" || item.role !== "user") return false;
  return !toArray(item.content).some((content) => {
    const text = toText(toObject(content)?.text)?.trimStart();
    return text !== undefined && CONTEXT_MARKS.some((mark) => text.startsWith(mark));
  });
}

/** The records before each user turn, oldest first; "" for the beginning. */
export class UserTurns {
  readonly #before: string[];
  #dropped: number;

  constructor(before: readonly string[] = [], dropped = 0) {
    this.#before = [...before];
    this.#dropped = dropped;
  }

  beginTurn(after: string): void {
    this.#before.push(after);
    if (this.#before.length <= MAX_TURNS) return;
    this.#before.shift();
    this.#dropped++;
  }

  /** Removes the last turns and returns the record to rewind to; undefined if there are no turns. */
  rollBack(count: number): { readonly to: string | null; readonly isExact: boolean } | undefined {
    if (!Number.isSafeInteger(count) || count < 1 || this.#before.length === 0) return undefined;
    const isExact = count <= this.#before.length || this.#dropped === 0;
    const index = Math.max(0, this.#before.length - count);
    const to = this.#before[index] || null;
    this.#before.length = index;
    return { to, isExact };
  }

  get precedingRecords(): readonly string[] {
    return this.#before;
  }

  get dropped(): number {
    return this.#dropped;
  }
}
