import type { Json } from "../../index.ts";
import type { Item } from "../item.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import { BodyReader, elementsOfBody } from "./body.ts";
import type { Dialect, Piece } from "./dialect.ts";
import { digestOf, recordOf } from "./records.ts";
import { sessionOf } from "./whole-file.ts";

/** The end of a request or response in a conversation. */
interface Point {
  /** Number of messages so far, without the system prompt. */
  readonly count: number;
  /** Digest over all of them. */
  readonly digest: string;
  /** The last record at this point. */
  readonly record: string;
  readonly response?: string;
}

interface Conversation {
  /** Absent for the source's own conversation, which begins with its first request. */
  readonly child?: string;
  readonly lead: string;
  /** Oldest first. */
  readonly points: readonly Point[];
}

/** State for a checkpoint. */
interface RequestsState {
  readonly conversations: readonly Conversation[];
  readonly children: number;
  readonly fields: readonly (readonly [string, string])[];
}

/** A point that a request continues from. */
interface Found {
  readonly conversation: Conversation;
  readonly point: Point;
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
export class Requests {
  readonly #dialect: Dialect;
  /** Most recently used last. */
  #conversations: readonly Conversation[];
  #children: number;
  /** Digests of the latest values of the request's other fields. */
  readonly #fields: Map<string, string>;

  constructor(dialect: Dialect, state?: Json) {
    const known = state as unknown as RequestsState | undefined;
    this.#dialect = dialect;
    this.#conversations = known?.conversations ?? [];
    this.#children = known?.children ?? 0;
    this.#fields = new Map(known?.fields);
  }

  state(): Json {
    const fields = [...this.#fields];
    return { conversations: this.#conversations, children: this.#children, fields } as unknown as Json;
  }

  *take({ record, line }: LineRecord): Generator<Item> {
    const place = `L${line}`;
    const decoder = this.#dialect.makeDecoder();
    const body = new BodyReader(this.#dialect, decoder, place);
    const asked: Piece[] = [];
    for (const element of elementsOfBody(record, this.#dialect))
      for (const one of body.take(element)) asked.push(one);
    for (const one of decoder.end()) asked.push(one);
    const answered = [...body.end()];
    const { lead, said } = withoutLead(asked);
    const chain = chainOf("", said);
    const found = this.#find(chain, Object.fromEntries(body.rest).previous_response_id);
    const isFirst = this.#conversations.length === 0;
    // A lone response does not show where it belongs; it follows the latest conversation.
    const current = asked.some(isMessage) ? found?.conversation : this.#conversations.at(-1);
    const conversation = current ?? this.#begin(isFirst ? undefined : place);
    if (!conversation || ![...asked, ...answered].some(isMessage)) {
      yield recordOf({ id: place, body: { kind: "raw", value: record as Json } });
      return;
    }

    const skipped = !found || found.isContinued ? 0 : found.point.count;
    const before = found?.isContinued ? found.point : NOTHING_SAID;
    const leadDigest = digestOf(JSON.stringify(lead.map(({ body }) => body)));
    const fresh = [...(leadDigest === conversation.lead ? [] : lead), ...piecesAfter(said, skipped)];
    const child = conversation.child === undefined ? {} : { child: conversation.child };
    const isBranch = found !== undefined && found.point !== conversation.points.at(-1);
    for (const [index, piece] of [...fresh, ...answered].entries()) {
      const parent = index === 0 && isBranch ? { parent: found.point.record } : {};
      yield recordOf(piece, { ...child, ...parent });
    }
    const reached = asked.some(isMessage) ? before : (conversation.points.at(-1) ?? NOTHING_SAID);
    const request = pointAfter(reached, said, fresh.at(-1)?.id ?? found?.point.record);
    const response = pointAfter(request, answered, answered.at(-1)?.id, body.responseId);
    const isAnswered = answered.some(isMessage);
    this.#remember(conversation, leadDigest, isAnswered ? [request, response] : [request]);
    yield* this.#changedFields(body.rest, place, isFirst, child);
  }

  #begin(child: string | undefined): Conversation | undefined {
    if (child !== undefined && ++this.#children > MAX_CHILDREN) return undefined;
    return { ...(child !== undefined && { child }), lead: "", points: [] };
  }

  /** Finds the point that a request continues from; the one with the most known messages wins. */
  #find(chain: readonly string[], previous: unknown): Found | undefined {
    let best: Found | undefined;
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

  #remember(old: Conversation, lead: string, points: readonly Point[]): void {
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
      ([name, value]) => this.#fields.get(name) !== digestOf(JSON.stringify(value)),
    );
    for (const [name, value] of changed) this.#fields.set(name, digestOf(JSON.stringify(value)));
    if (isFirst) yield* sessionOf(this.#dialect.name, changed);
    else if (changed.length > 0)
      yield recordOf(
        { id: `${place}:fields`, body: { kind: "raw", value: Object.fromEntries(changed) } },
        child,
      );
  }
}

const NOTHING_SAID: Point = { count: 0, digest: "", record: "" };

/** Returns the point after these pieces. */
function pointAfter(
  point: Point,
  pieces: readonly Piece[],
  record = point.record,
  response?: string | undefined,
): Point {
  const chain = chainOf(point.digest, pieces);
  const reached = { count: point.count + chain.length - 1, digest: chain.at(-1) as string, record };
  return response === undefined ? reached : { ...reached, response };
}

function isMessage({ body }: Piece): boolean {
  return body.kind === "message";
}

/** Splits off the system prompt, which may change between requests without starting another conversation. */
function withoutLead(pieces: readonly Piece[]): {
  readonly lead: readonly Piece[];
  readonly said: readonly Piece[];
} {
  const isLead = ({ body }: Piece) => body.kind === "message" && body.message.role === "system";
  const first = pieces.findIndex((piece) => isMessage(piece) && !isLead(piece));
  const end = first < 0 ? pieces.length : first;
  return {
    lead: pieces.slice(0, end).filter(isLead),
    said: [...pieces.slice(0, end).filter((piece) => !isLead(piece)), ...pieces.slice(end)],
  };
}

/** Returns digests over the first 0, 1, 2… messages. */
function chainOf(start: string, pieces: readonly Piece[]): readonly string[] {
  const chain = [start];
  for (const { body } of pieces) {
    if (body.kind !== "message") continue;
    const { role, parts, text } = body.message;
    chain.push(digestOf(`${chain.at(-1)}${JSON.stringify([role, parts ?? text])}`));
  }
  return chain;
}

/** Returns the pieces after the first `count` messages and the pieces that belong to those. */
function piecesAfter(pieces: readonly Piece[], count: number): readonly Piece[] {
  let left = count;
  const first = pieces.findIndex((piece) => isMessage(piece) && left-- === 0);
  if (first >= 0) return pieces.slice(count === 0 ? 0 : first);
  return count === 0 ? pieces : [];
}
