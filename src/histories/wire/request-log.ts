import type { Json } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { Item } from "../reading/item.ts";
import { BodyReader, listBodyElements } from "./body-reader.ts";
import { buildSessionItems } from "./read-whole-file.ts";
import type { WireDialect, WireRecord } from "./wire-dialect.ts";
import { digestText, toRecordItem } from "./wire-records.ts";

/** The end of a request or response in a conversation. */
interface ConversationPoint {
  /** Number of messages so far, without the system prompt. */
  readonly count: number;
  /** Digest over all of them. */
  readonly digest: string;
  /** The last record at this point. */
  readonly record: string;
  readonly response?: string;
}

interface LoggedConversation {
  /** Absent for the source's own conversation, which begins with its first request. */
  readonly child?: string;
  readonly lead: string;
  /** Oldest first. */
  readonly points: readonly ConversationPoint[];
}

/** State for a checkpoint. */
interface RequestLogState {
  readonly conversations: readonly LoggedConversation[];
  readonly children: number;
  readonly fields: readonly (readonly [string, string])[];
}

/** A point that a request continues from. */
interface Continuation {
  readonly conversation: LoggedConversation;
  readonly point: ConversationPoint;
  /** True if the request holds only new messages and names the response that it continues from. */
  readonly isContinued: boolean;
}

const MAX_CONVERSATIONS = 32;
const MAX_POINTS = 16;
const MAX_CHILDREN = 256;

/**
 * Reads consecutive requests of a log. Each holds the whole conversation so far, so only new messages of a request are
 * kept; a request that continues from an earlier point becomes a branch; one that continues nothing starts a new
 * conversation, up to 256. The 32 most recent conversations are remembered, each with its last 16 points.
 */
export class RequestLog {
  readonly #dialect: WireDialect;
  /** Most recently used last. */
  #conversations: readonly LoggedConversation[];
  #children: number;
  /** Digests of the latest values of the request's other fields. */
  readonly #fields: Map<string, string>;

  constructor(dialect: WireDialect, state?: Json) {
    const known = state as unknown as RequestLogState | undefined;
    this.#dialect = dialect;
    this.#conversations = known?.conversations ?? [];
    this.#children = known?.children ?? 0;
    this.#fields = new Map(known?.fields);
  }

  state(): Json {
    const fields = [...this.#fields];
    return { conversations: this.#conversations, children: this.#children, fields } as unknown as Json;
  }

  *readRequest({ record, line }: LineRecord): Generator<Item> {
    const place = `L${line}`;
    const decoder = this.#dialect.makeDecoder();
    const body = new BodyReader(this.#dialect, decoder, place);
    const asked: WireRecord[] = [];
    for (const element of listBodyElements(record, this.#dialect))
      for (const one of body.readElement(element)) asked.push(one);
    for (const one of decoder.end()) asked.push(one);
    const answered = [...body.end()];
    const { lead, said } = splitLead(asked);
    const chain = buildDigestChain("", said);
    const found = this.#find(chain, Object.fromEntries(body.rest).previous_response_id);
    const isFirst = this.#conversations.length === 0;
    // A lone response does not show where it belongs; it follows the latest conversation.
    const current = asked.some(isMessage) ? found?.conversation : this.#conversations.at(-1);
    const conversation = current ?? this.#begin(isFirst ? undefined : place);
    if (!conversation || ![...asked, ...answered].some(isMessage)) {
      yield toRecordItem({ id: place, body: { kind: "raw", value: record as Json } });
      return;
    }

    const skipped = !found || found.isContinued ? 0 : found.point.count;
    const before = found?.isContinued ? found.point : EMPTY_POINT;
    const leadDigest = digestText(JSON.stringify(lead.map(({ body }) => body)));
    const fresh = [...(leadDigest === conversation.lead ? [] : lead), ...skipMessages(said, skipped)];
    const child = conversation.child === undefined ? {} : { child: conversation.child };
    const isBranch = found !== undefined && found.point !== conversation.points.at(-1);
    for (const [index, piece] of [...fresh, ...answered].entries()) {
      const parent = index === 0 && isBranch ? { parent: found.point.record } : {};
      yield toRecordItem(piece, { ...child, ...parent });
    }
    const reached = asked.some(isMessage) ? before : (conversation.points.at(-1) ?? EMPTY_POINT);
    const request = advancePoint(reached, said, fresh.at(-1)?.id ?? found?.point.record);
    const response = advancePoint(request, answered, answered.at(-1)?.id, body.responseId);
    const isAnswered = answered.some(isMessage);
    this.#remember(conversation, leadDigest, isAnswered ? [request, response] : [request]);
    yield* this.#changedFields(body.rest, place, isFirst, child);
  }

  #begin(child: string | undefined): LoggedConversation | undefined {
    if (child !== undefined && ++this.#children > MAX_CHILDREN) return undefined;
    return dropUndefined({ child, lead: "", points: [] });
  }

  /** Finds the point that a request continues from; the one with the most known messages wins. */
  #find(chain: readonly string[], previous: unknown): Continuation | undefined {
    let best: Continuation | undefined;
    for (const conversation of this.#conversations) {
      for (const point of conversation.points) {
        if (typeof previous === "string" && point.response === previous)
          return { conversation, point, isContinued: true };
        if (point.count === 0 || chain[point.count] !== point.digest) continue;
        if (!best || point.count >= best.point.count) best = { conversation, point, isContinued: false };
      }
    }
    return best;
  }

  #remember(old: LoggedConversation, lead: string, points: readonly ConversationPoint[]): void {
    const kept = { ...old, lead, points: [...old.points, ...points].slice(-MAX_POINTS) };
    const others = this.#conversations.filter((other) => other !== old);
    this.#conversations = [...others, kept].slice(-MAX_CONVERSATIONS);
  }

  /** The first request describes the session; later ones contribute only changed fields. */
  *#changedFields(
    rest: BodyReader["rest"],
    place: string,
    isFirst: boolean,
    child: { readonly child?: string },
  ): Generator<Item> {
    const changed = rest.filter(
      ([name, value]) => this.#fields.get(name) !== digestText(JSON.stringify(value)),
    );
    for (const [name, value] of changed) this.#fields.set(name, digestText(JSON.stringify(value)));
    if (isFirst) yield* buildSessionItems(this.#dialect.name, changed);
    else if (changed.length > 0)
      yield toRecordItem(
        { id: `${place}:fields`, body: { kind: "raw", value: Object.fromEntries(changed) } },
        child,
      );
  }
}

const EMPTY_POINT: ConversationPoint = { count: 0, digest: "", record: "" };

/** Returns the point after these pieces. */
function advancePoint(
  point: ConversationPoint,
  pieces: readonly WireRecord[],
  record = point.record,
  response?: string | undefined,
): ConversationPoint {
  const chain = buildDigestChain(point.digest, pieces);
  const reached = { count: point.count + chain.length - 1, digest: chain.at(-1) as string, record };
  return response === undefined ? reached : { ...reached, response };
}

function isMessage({ body }: WireRecord): boolean {
  return body.kind === "message";
}

/** Splits off the system prompt, which may change between requests without starting another conversation. */
function splitLead(pieces: readonly WireRecord[]): {
  readonly lead: readonly WireRecord[];
  readonly said: readonly WireRecord[];
} {
  const isLead = ({ body }: WireRecord) => body.kind === "message" && body.message.role === "system";
  const first = pieces.findIndex((piece) => isMessage(piece) && !isLead(piece));
  const end = first < 0 ? pieces.length : first;
  return {
    lead: pieces.slice(0, end).filter(isLead),
    said: [...pieces.slice(0, end).filter((piece) => !isLead(piece)), ...pieces.slice(end)],
  };
}

/** Returns digests over the first 0, 1, 2… messages. */
function buildDigestChain(start: string, pieces: readonly WireRecord[]): readonly string[] {
  const chain = [start];
  for (const { body } of pieces) {
    if (body.kind !== "message") continue;
    const { role, parts, text } = body.message;
    chain.push(digestText(`${chain.at(-1)}${JSON.stringify([role, parts ?? text])}`));
  }
  return chain;
}

/** Returns the pieces after the first `count` messages and the pieces that belong to those. */
function skipMessages(pieces: readonly WireRecord[], count: number): readonly WireRecord[] {
  let left = count;
  const first = pieces.findIndex((piece) => isMessage(piece) && left-- === 0);
  if (first >= 0) return pieces.slice(count === 0 ? 0 : first);
  return count === 0 ? pieces : [];
}
