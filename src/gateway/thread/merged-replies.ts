import { BoundedMap } from "../../base/bounded-map.ts";
import type { CachedLine, LineMessage } from "../../conversation/line-cache.ts";
import { continuesLine } from "../../conversation/placed-messages.ts";
import type { EntryId, Message, Session } from "../../index.ts";
import type { Blobs } from "../../log-entry.ts";
import type { KeyedMessages } from "../identity/align-request.ts";
import { buildMergedKeys } from "../identity/merged-reply-keys.ts";
import {
  type RequestMessage,
  type RequestMessages,
  withMessageChanges,
} from "../request/request-messages.ts";

/**
 * A message of a request that combines several consecutive replies of the line, because one reply was continued; or a
 * single reply in another form.
 */
interface MergedRun {
  /** Position of the first reply on the line. */
  readonly lineIndex: number;
  /** Index of the message in the request. */
  readonly requestIndex: number;
  /** Number of replies. */
  readonly length: number;
}

/** Maximum number of replies that are joined. */
const MAX_MERGED = 8;
/** A request with more unknown messages is a different conversation. */
const MAX_UNKNOWN = 4;
/** Maximum number of cached runs. */
const MAX_RUNS = 256;

/** Recognizes replies that a client has joined: it prefilled a reply, or had a truncated one continued. */
export class MergedReplies {
  readonly #session: Pick<Session, "entry">;
  readonly #blobs: Pick<Blobs, "restore" | "restoreMessage">;
  readonly #keys = new BoundedMap<string, readonly string[]>({ max: MAX_RUNS });

  constructor(session: Pick<Session, "entry">, blobs: Pick<Blobs, "restore" | "restoreMessage">) {
    this.#session = session;
    this.#blobs = blobs;
  }

  /** Splits joined replies of a request, so that it matches the line; no promise if it continues the line as it is. */
  split(
    request: RequestMessages,
    line: CachedLine | Promise<CachedLine>,
  ): RequestMessages | Promise<RequestMessages> {
    const isContinued = !(line instanceof Promise) && continuesLine(line, request.list);
    return isContinued ? request : this.#split(request, line);
  }

  async #split(request: RequestMessages, line: CachedLine | Promise<CachedLine>): Promise<RequestMessages> {
    const read = await line;
    if (continuesLine(read, request.list)) return request;
    const keyed = {
      keys: request.list.map(({ key }) => key),
      roles: request.list.map(({ role }) => role),
    };
    return splitRuns(request, read.messages, await this.findRuns(read, keyed));
  }

  /** Finds the messages of a request that combine several replies of the line. */
  async findRuns(
    line: KeyedMessages & { readonly messages: readonly LineMessage[] },
    request: KeyedMessages,
  ): Promise<readonly MergedRun[]> {
    const runs: MergedRun[] = [];
    let lineIndex = 0;
    let unknownCount = 0;
    for (const [requestIndex, key] of request.keys.entries()) {
      if (lineIndex >= line.keys.length) break;
      if (key === line.keys[lineIndex]) {
        lineIndex++;
        continue;
      }
      const length =
        request.roles[requestIndex] === "assistant"
          ? await this.#findLength(line.messages, lineIndex, key)
          : undefined;
      if (length !== undefined) runs.push({ lineIndex, requestIndex, length });
      else if (++unknownCount > MAX_UNKNOWN) break;
      lineIndex += length ?? 1;
    }
    return runs;
  }

  /** Number of replies, from `lineIndex` on, that a message of this key combines; undefined if it does not match. */
  async #findLength(
    messages: readonly LineMessage[],
    lineIndex: number,
    key: string,
  ): Promise<number | undefined> {
    for (let length = 1; length <= MAX_MERGED; length++) {
      if (messages[lineIndex]?.role !== "assistant" || messages[lineIndex + length - 1]?.role !== "assistant")
        break;
      const run = messages.slice(lineIndex, lineIndex + length).map(({ id }) => id);
      if ((await this.#buildKeys(run)).includes(key)) return length;
    }
    return undefined;
  }

  async #buildKeys(run: readonly EntryId[]): Promise<readonly string[]> {
    const name = run.join(" ");
    const keys =
      this.#keys.get(name) ?? buildMergedKeys(await Promise.all(run.map((id) => this.#readMessage(id))));
    this.#keys.set(name, keys);
    return keys;
  }

  async #readMessage(id: EntryId): Promise<Message> {
    const entry = await this.#session.entry(id);
    if (entry?.kind !== "message") return { role: "assistant", parts: [] };
    // The key of a part that stays a reference is that of its content.
    return this.#blobs.restoreMessage(entry.message, (part) =>
      part.of === "text" ? this.#blobs.restore(part).catch(() => part) : part,
    );
  }
}

/** The line with each run replaced by the request's single message. */
export function mergeRuns(
  line: KeyedMessages,
  request: KeyedMessages,
  runs: readonly MergedRun[],
): KeyedMessages {
  const keys = [...line.keys];
  const roles = [...line.roles];
  for (const { lineIndex, requestIndex, length } of runs.toReversed()) {
    keys.splice(lineIndex, length, request.keys[requestIndex] as string);
    roles.splice(lineIndex, length, "assistant");
  }
  return { keys, roles };
}

/**
 * The request with each joined message split into the replies of the line; the last of them keeps the elements of all.
 */
function splitRuns(
  messages: RequestMessages,
  line: readonly LineMessage[],
  runs: readonly MergedRun[],
): RequestMessages {
  if (runs.length === 0) return messages;
  const byIndex = new Map(runs.map((run) => [run.requestIndex, run]));
  const list = messages.list.flatMap((message, requestIndex): readonly RequestMessage[] => {
    const run = byIndex.get(requestIndex);
    if (!run) return [message];
    const replies = line.slice(run.lineIndex, run.lineIndex + run.length);
    return replies.map(({ key, role }, order) => {
      if (order === run.length - 1) return withMessageChanges(message, { key });
      const input = () => ({ role, parts: [] });
      return withMessageChanges(message, { key, from: message.to, input, isWithNext: true });
    });
  });
  return { ...messages, list: list.map((message, index) => withMessageChanges(message, { index })) };
}
