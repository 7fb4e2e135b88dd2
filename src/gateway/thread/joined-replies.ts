import type { LineMessage } from "../../conversation/known-line.ts";
import type { BlobPart, EntryId, Message, Part, Session } from "../../index.ts";
import { changedMessage, type WireMessage, type WireMessages } from "../body/wire-message.ts";
import type { Said } from "../identity/align-request.ts";
import { joinedKeys } from "../identity/joined-keys.ts";

/**
 * A message of a request that says what several replies in a row of the line say, for one was begun and went on; or what
 * a single one says, in another form.
 */
export interface JoinedRun {
  /** Place of the first of them in the line. */
  readonly place: number;
  /** Place of the message in the request. */
  readonly at: number;
  /** How many they are. */
  readonly length: number;
}

/** A reply that goes on more often is another one. */
const MOST_JOINED = 8;
/** A request that says so many other things is another conversation. */
const MOST_OTHERS = 4;
/** Runs whose keys are remembered. */
const MOST_RUNS = 256;

/** Knows replies again that a client has put together: it began one itself, or had one continued that was cut. */
export class JoinedReplies {
  readonly #session: Pick<Session, "entry">;
  readonly #restore: (part: BlobPart) => Promise<Part>;
  readonly #keys = new Map<string, readonly string[]>();

  constructor(session: Pick<Session, "entry">, restore: (part: BlobPart) => Promise<Part>) {
    this.#session = session;
    this.#restore = restore;
  }

  /** Where a request has one message for several of the line. */
  async runs(
    line: Said & { readonly messages: readonly LineMessage[] },
    request: Said,
  ): Promise<readonly JoinedRun[]> {
    const runs: JoinedRun[] = [];
    let place = 0;
    let others = 0;
    for (let at = 0; at < request.keys.length && place < line.keys.length; at++) {
      const key = request.keys[at] as string;
      if (key === line.keys[place]) {
        place++;
        continue;
      }
      const length =
        request.roles[at] === "assistant" ? await this.#lengthOf(line.messages, place, key) : undefined;
      if (length !== undefined) runs.push({ place, at, length });
      else if (++others > MOST_OTHERS) break;
      place += length ?? 1;
    }
    return runs;
  }

  /** How many replies from a place on a message of this key says; undefined if it says something else. */
  async #lengthOf(messages: readonly LineMessage[], place: number, key: string): Promise<number | undefined> {
    for (let length = 1; length <= MOST_JOINED; length++) {
      if (messages[place]?.role !== "assistant" || messages[place + length - 1]?.role !== "assistant") break;
      const run = messages.slice(place, place + length).map(({ id }) => id);
      if ((await this.#keysOf(run)).includes(key)) return length;
    }
    return undefined;
  }

  async #keysOf(run: readonly EntryId[]): Promise<readonly string[]> {
    const name = run.join(" ");
    const keys = this.#keys.get(name) ?? joinedKeys(await Promise.all(run.map((id) => this.#message(id))));
    this.#keys.delete(name);
    this.#keys.set(name, keys);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > MOST_RUNS && oldest !== undefined) this.#keys.delete(oldest);
    return keys;
  }

  async #message(id: EntryId): Promise<Message> {
    const entry = await this.#session.entry(id);
    if (entry?.kind !== "message") return { role: "assistant", parts: [] };
    const restored = entry.message.parts.map((part) =>
      part.type === "blob" && part.of === "text" ? this.#restore(part).catch(() => part) : part,
    );
    return { ...entry.message, parts: await Promise.all(restored) };
  }
}

/** A line as a request has it: of one message where the request has one. */
export function withRunsJoined(line: Said, request: Said, runs: readonly JoinedRun[]): Said {
  const keys = [...line.keys];
  const roles = [...line.roles];
  for (const { place, at, length } of runs.toReversed()) {
    keys.splice(place, length, request.keys[at] as string);
    roles.splice(place, length, "assistant");
  }
  return { keys, roles };
}

/** A request as the line has it: the last reply of each run stands for the elements that say them all. */
export function withRunsApart(
  said: WireMessages,
  line: readonly LineMessage[],
  runs: readonly JoinedRun[],
): WireMessages {
  if (runs.length === 0) return said;
  const byPlace = new Map(runs.map((run) => [run.at, run]));
  const messages = said.messages.flatMap((message, at): readonly WireMessage[] => {
    const run = byPlace.get(at);
    if (!run) return [message];
    const replies = line.slice(run.place, run.place + run.length);
    return replies.map(({ key, role }, order) => {
      if (order === run.length - 1) return changedMessage(message, { key });
      const input = () => ({ role, parts: [] });
      return changedMessage(message, { key, from: message.to, input, isWithNext: true });
    });
  });
  return { ...said, messages: messages.map((message, index) => changedMessage(message, { index })) };
}
