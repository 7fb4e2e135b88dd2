import type { Turns } from "../../base/turns.ts";
import type { MessageInput } from "../../index.ts";
import type { DecodedMessage, Wire, WireObject } from "../../wire/wire.ts";
import { buildCanonicalKey } from "../identity/canonical-key.ts";
import type { ByteRange } from "./byte-range.ts";
import type { CutBody } from "./cut-body.ts";
import { LIFT_FROM_BYTES, type Lifted, type LiftedValue, lift } from "./lift.ts";
import { type LiftedMessage, liftedMessage } from "./lifted-message.ts";
import { withRedactedBlobs } from "./redacted-blobs.ts";
import {
  elementOf,
  findSharedMessages,
  type KnownMessage,
  LazyMessage,
  type MessageReading,
  parseElement,
  type RequestMessage,
  type RequestMessages,
} from "./request-messages.ts";

/** Maximum number and bytes of elements that are parsed before they are decoded. */
const RUN_ELEMENTS = 256;
const RUN_BYTES = 1_024 * 1_024;

interface Element {
  readonly value: WireObject;
  readonly lifted: Lifted | undefined;
}

/**
 * Reads the messages of a large body like `readMessages`, but a few elements at a time. Only the keys of ordinary
 * messages are kept, not their parsed content; large values stay in the body.
 */
export async function readInTurns(
  reading: MessageReading,
  cut: CutBody,
  turns: Turns,
  earlier?: RequestMessages<KnownMessage>,
): Promise<RequestMessages> {
  const { api } = reading;
  const known = earlier && earlier.cut === cut.like ? findSharedMessages(api, earlier, cut) : undefined;
  const list: RequestMessage[] = [];
  for (const message of known?.list ?? []) list.push(new LazyMessage(reading, cut, message));
  let lead = known?.lead ?? 0;
  const leadElements: WireObject[] = [];
  let isLeading = !known && !reading.hasNoLead;
  let at = list.at(-1)?.to ?? lead;
  let run: Element[] = [];
  /** Size of the next read; doubled while one message extends past the whole run. */
  let more = { elements: RUN_ELEMENTS, bytes: RUN_BYTES };
  const end = cut.elements.length;
  while (at < end) {
    for (let { elements, bytes } = more; elements > 0 && bytes > 0 && at + run.length < end; elements--) {
      const { from, to } = cut.elements[at + run.length] as ByteRange;
      run.push(await elementIn(cut, at + run.length, turns));
      bytes -= to - from;
      await turns.rest();
    }
    if (isLeading) {
      const own = run.findIndex(({ value }) => !api.isLead(value));
      lead += own < 0 ? run.length : own;
      isLeading = own < 0;
      for (const { value } of run.splice(0, lead - at)) leadElements.push(value);
      at = lead;
      if (isLeading) continue;
    }
    const isLast = at + run.length >= end;
    const batch = decoded(api, run, isLast);
    // The only message may continue after the run, so it is decoded again with more elements.
    if (batch.next === 0 && !isLast) {
      more = { elements: 2 * more.elements, bytes: 2 * more.bytes };
      continue;
    }
    for (const one of batch.messages)
      list.push(await messageOf(reading, cut, { ...one, run, at, index: list.length }, turns));
    run = run.slice(batch.next);
    at += batch.next;
    more = { elements: RUN_ELEMENTS, bytes: RUN_BYTES };
  }
  return { cut, lead, list, ...(leadElements.length > 0 && { leadElements }) };
}

/** Decodes a run. The next run begins with the last message, which may continue. */
function decoded(
  api: Wire,
  run: readonly Element[],
  isLast: boolean,
): { readonly messages: readonly DecodedMessage[]; readonly next: number } {
  const messages = api.decode(run.map(({ value }) => value));
  if (isLast) return { messages, next: run.length };
  const last = messages.at(-1);
  return last ? { messages: messages.slice(0, -1), next: last.from } : { messages: [], next: run.length };
}

async function elementIn(cut: CutBody, index: number, turns: Turns): Promise<Element> {
  const range = cut.elements[index] as ByteRange;
  if (range.to - range.from < LIFT_FROM_BYTES) return { value: parseElement(cut, index), lifted: undefined };
  const lifted = await lift(cut.bytes, range, turns);
  return { value: elementOf(lifted.value, cut, index), lifted };
}

interface Decoded extends DecodedMessage {
  readonly run: readonly Element[];
  /** Index of the run's first element. */
  readonly at: number;
  /** Index among the messages. */
  readonly index: number;
}

async function messageOf(
  reading: MessageReading,
  cut: CutBody,
  { input, from, to, run, at, index }: Decoded,
  turns: Turns,
): Promise<RequestMessage> {
  await turns.rest();
  const place = { role: input.role, index, from: at + from, to: at + to };
  const lifted = run.slice(from, to).flatMap((element) => element.lifted ?? []);
  if (lifted.every(({ values }) => values.size === 0)) {
    const key = buildCanonicalKey(input);
    // Redaction needs the content before the message is stored, so that a worker can do it.
    if (reading.isRedacting?.())
      return { ...place, key, raw: input, input: () => reading.stored(input, key) };
    return new LazyMessage(reading, cut, { ...place, key });
  }
  const values = new Map<string, LiftedValue>();
  for (const one of lifted) for (const [mark, value] of one.values) values.set(mark, value);
  const source = { body: cut.bytes, values, format: reading.api.name, turns };
  return { ...place, ...liftedFields(reading, await liftedMessage(input, source)) };
}

/** The content fields of a `RequestMessage` with large values; its blobs are redacted if redaction is on. */
export function liftedFields(
  { stored, prepareStored, isRedacting }: MessageReading,
  { key, input, brief }: LiftedMessage,
): Pick<RequestMessage, "key" | "input" | "brief"> {
  const storedInput = (): MessageInput => {
    if (!isRedacting?.()) return stored(input, key);
    const clean = withRedactedBlobs(input, async (part) => {
      const message: MessageInput = { role: "user", parts: [part] };
      await prepareStored?.([message]);
      return stored(message, key).parts?.[0] ?? part;
    });
    return stored(clean, key);
  };
  return { key, input: storedInput, brief: () => stored(brief, key) };
}
