import type { Aligner } from "../../../kernel/calls/align-messages.ts";
import type { CachedLine, LineMessage } from "../../../kernel/calls/line-cache.ts";
import type { Blobs } from "../../../kernel/faces/log.ts";
import {
  type EntryId,
  listCallIds,
  type Message,
  type Part,
  type PartInput,
  type Session,
} from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { findAudio } from "../../../wire/openai-chat/openai-chat-media-fields.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import type { KeyedMessages } from "../identity/choose-thread.ts";
import {
  type RequestMessage,
  type RequestMessages,
  withMessageChanges,
} from "../request/request-messages.ts";

/**
 * A message of a request that combines several consecutive replies of the line, because one reply was continued; or a
 * single message in another form.
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
/** Maximum number of messages whose call ids are cached. */
const MAX_RESULTS = 4_096;

/**
 * Recognizes messages of the line in other forms: replies that a client has joined, because it prefilled one or had a
 * truncated one continued, and tool results that it has cleared or shortened, by the ids of their calls.
 */
export class MergedReplies {
  readonly #session: Pick<Session, "entry">;
  readonly #blobs: Pick<Blobs, "restore" | "restoreMessage">;
  readonly #keys = new BoundedMap<string, readonly string[]>({ max: MAX_RUNS });
  readonly #results = new BoundedMap<EntryId, string>({ max: MAX_RESULTS });

  constructor(session: Pick<Session, "entry">, blobs: Pick<Blobs, "restore" | "restoreMessage">) {
    this.#session = session;
    this.#blobs = blobs;
  }

  /** Splits joined replies of a request, so that it matches the line. */
  async split(request: RequestMessages, line: CachedLine): Promise<RequestMessages> {
    const keyed = {
      keys: request.list.map(({ key }) => key),
      roles: request.list.map(({ role }) => role),
      findShortResults: (index: number) => findShortResults(request.list[index]),
    };
    return splitRuns(request, line.messages, await this.findRuns(line, keyed));
  }

  /** Finds the messages of a request that combine several replies of the line. */
  async findRuns(
    line: KeyedMessages & { readonly messages: readonly LineMessage[] },
    request: KeyedMessages,
  ): Promise<readonly MergedRun[]> {
    const runs: MergedRun[] = [];
    // Results after the last reply are new: the client may have run a tool again.
    const lastReply = request.roles.lastIndexOf("assistant");
    let lineIndex = 0;
    let unknownCount = 0;
    for (const [requestIndex, key] of request.keys.entries()) {
      if (lineIndex >= line.keys.length) break;
      if (key === line.keys[lineIndex]) {
        lineIndex++;
        continue;
      }
      const isReply = request.roles[requestIndex] === "assistant";
      const isCleared =
        requestIndex < lastReply && (await this.#hasResults(line.messages[lineIndex], request, requestIndex));
      const length = isReply
        ? await this.#findLength(line.messages, lineIndex, key)
        : isCleared
          ? 1
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

  /** True if a message of a request answers the same calls as a message of the line, and its results are short. */
  async #hasResults(
    message: LineMessage | undefined,
    { findShortResults: find }: KeyedMessages,
    requestIndex: number,
  ): Promise<boolean> {
    if (!message || message.role === "assistant") return false;
    const given = find?.(requestIndex);
    if (!given) return false;
    const known =
      this.#results.get(message.id) ??
      (listResultIds((await this.#readMessage(message.id)).parts) ?? []).join(" ");
    this.#results.set(message.id, known);
    return known !== "" && known === given.join(" ");
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

/** A longer result is not the mark that a client leaves where it has cleared one. */
const MAX_CLEARED = 256;
/** The mark of Gemini CLI shows the beginning and the end of the result, and the file that has it whole. */
const MASKED = "<tool_output_masked>";
const MAX_MASKED = 4_096;

/** The ids of the calls that a message answers, if it holds nothing but short results. */
export function findShortResults(message: RequestMessage | undefined): readonly string[] | undefined {
  if (!message || message.role === "assistant" || message.brief) return undefined;
  const { text, parts = [] } = message.input();
  if (text !== undefined) return undefined;
  const isShort = parts.every((part) => {
    const json = JSON.stringify(part);
    return json.length <= (json.includes(MASKED) ? MAX_MASKED : MAX_CLEARED) + 200;
  });
  return isShort ? listResultIds(parts) : undefined;
}

/** The call ids of results; undefined if there are other parts. */
function listResultIds(parts: readonly (Part | PartInput)[]): readonly string[] | undefined {
  const ids: string[] = [];
  for (const part of parts) {
    if (part.type !== "tool-result") return undefined;
    ids.push(part.callId);
  }
  return ids.length > 0 ? ids : undefined;
}

/** Ways in which clients join a text and its continuation. */
const SEAMS: readonly ((one: string, next: string) => string)[] = [
  (one, next) => one + next,
  (one, next) => one.trimEnd() + next,
  (one, next) => one.trimEnd() + next.trimStart(),
];

/**
 * Keys of the message by which clients represent one reply or several consecutive replies, in every form that clients
 * use: some keep only the words of a spoken reply.
 */
function buildMergedKeys(replies: readonly Message[]): readonly string[] {
  const inWords = replies.map((reply) => ({
    ...reply,
    parts: reply.parts.filter((part) => !findAudio(part)),
  }));
  return [...new Set([...buildKeys(replies), ...buildKeys(inWords)])];
}

function buildKeys(replies: readonly Message[]): readonly string[] {
  const [first, ...others] = replies;
  if (!first) return [];
  const keyOf = (parts: readonly Part[]) => buildCanonicalKey({ ...first, parts });
  const inText = SEAMS.map((seam) =>
    keyOf(others.reduce((parts, { parts: next }) => joinParts(parts, next, seam), first.parts)),
  );
  return [...inText, keyOf(replies.flatMap(({ parts }) => parts))];
}

/** Joins two lists of parts; the last text of the first continues with the first text of the second. */
function joinParts(
  parts: readonly Part[],
  next: readonly Part[],
  seam: (one: string, next: string) => string,
): readonly Part[] {
  const last = parts.findLastIndex(({ type }) => type === "text");
  const first = next.findIndex(({ type }) => type === "text");
  const [one, two] = [parts[last], next[first]];
  if (one?.type !== "text" || two?.type !== "text") return [...parts, ...next];
  return [...parts.with(last, { ...one, text: seam(one.text, two.text) }), ...next.toSpliced(first, 1)];
}

/** Calls of a reply in the log. */
export interface LoggedCalls {
  /** Key of the reply. */
  readonly key: string;
  readonly ids: readonly string[];
}

/**
 * Restores the logged call ids in the results of a request: some clients rewrite ids, and a result with an unknown id
 * would count as one without a call. `logged` describes the last reply of the log. Only once the request is aligned with
 * the line is it known whether that reply stays, or the client's own call takes its place.
 */
export function restoreCallIds(
  messages: readonly RequestMessage[],
  { key, ids }: LoggedCalls,
  align: Aligner<RequestMessage>,
): { readonly given: readonly RequestMessage[]; readonly align: Aligner<RequestMessage> } {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  const own = ids.length > 0 && last?.key === key ? listCallIds(last.input()) : [];
  const isRenamed = own.length === ids.length && own.some((id, order) => id !== ids[order]);
  if (!isRenamed) return { given: messages, align };
  const names = new Map(own.map((id, order) => [id, ids[order] as string]));
  let isKept = false;
  const rename = (message: RequestMessage): RequestMessage => {
    const input = () => {
      const { parts, ...rest } = message.input();
      if (!isKept || !parts) return message.input();
      return { ...rest, parts: parts.map((part) => renameResult(part, names)) };
    };
    return Object.create(message, { input: { value: input } });
  };
  return {
    given: messages.map((message, index) => (index > at ? rename(message) : message)),
    align: (line, given) => {
      const alignment = align(line, given);
      const isLast = line.roles.lastIndexOf("assistant") === at && line.keys[at] === key;
      isKept = isLast && (alignment.type !== "rewind" || at < alignment.keep);
      return alignment;
    },
  };
}

function renameResult(part: PartInput, names: ReadonlyMap<string, string>): PartInput {
  if (part.type !== "tool-result") return part;
  return { ...part, callId: names.get(part.callId) ?? part.callId };
}
