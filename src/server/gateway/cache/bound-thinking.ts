import { crc32 } from "node:zlib";
import type { Json, Message, MessageInput } from "../../../kernel/index.ts";
import { getContentBlocks, isThinking } from "../../../wire/content-blocks.ts";
import { toArray, toNumber, toObject, toText } from "../../../wire/fields.ts";
import type { WireName, WireObject } from "../../../wire/wire.ts";
import { joinSlices } from "../outgoing/alternate-pieces.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import type { CutBody, OutgoingPiece } from "../request/cut-body.ts";
import { parseElement } from "../request/request-messages.ts";
import { digestSystem, listOffered, readFrame } from "./request-print.ts";

/**
 * The request that a reply answered, to which its thinking is bound. Newer models accept thinking only behind the same
 * bytes. A reply to an unchanged request has none, because it is bound to the client's own bytes.
 */
export interface ThoughtBinding {
  /** Digest of everything before the reply, apart from thinking and breakpoints. */
  readonly prefix: number;
  /** Digest of the last thought that the request sent; 0 if it sent none. */
  readonly before: number;
}

/** The prefix of a reply whose own beginning no later request can repeat, such as one after hidden rounds. */
export const UNREPEATABLE: ThoughtBinding = { prefix: -1, before: 0 };

/** The thinking that a request may send. */
interface BoundRequest {
  /** The changes to the body, without thinking that no longer holds. */
  readonly changes: BodyChanges;
  /** The binding of the reply's thinking; undefined if the request is the client's own. */
  readonly binding: ThoughtBinding | undefined;
  /** Number of replies whose thinking was left out. */
  readonly lost: number;
}

/** One element of a request as the check of a provider sees it. */
interface ElementPrint {
  /** Digest of the content; undefined if the element holds nothing but thinking. */
  readonly content: number | undefined;
  readonly thoughts: readonly number[];
  /** True if the model wrote the element. */
  readonly isModels: boolean;
  /** True if no thinking follows other content, so that the element's own changes cannot have touched it. */
  readonly isLeading: boolean;
  /** The element without its thinking; `null` if nothing is left of it. Built when it is needed. */
  bare?: WireObject | null;
}

/** One place of an outgoing list: an element of the client, or a written one that may replace one of the client. */
interface Place {
  readonly print: ElementPrint;
  readonly element: () => WireObject;
  /** Index of the client's element; undefined for an addition. */
  readonly index: number | undefined;
  readonly isClients: boolean;
}

/** Thinking of one reply at its place in a request. */
interface Thought {
  readonly digests: readonly number[];
  readonly from: number;
  readonly isHolding: boolean;
  /** Digest of the thought that must come before it, if any does; undefined if that is the one before it here. */
  readonly before: number | undefined;
}

/** True for APIs whose requests repeat the thinking of the model in their messages. */
export function repeatsThinking(api: WireName): boolean {
  return api === "anthropic" || api === "openai-responses";
}

/**
 * Leaves thinking out of a request that no longer holds: the model produced it from another beginning than the one that
 * this request has. Thinking that was once left out stays out, because each later thought names the one before it.
 * `from` is the index of an element of the request from which on the provider has refused thinking.
 */
export function bindThinking(
  api: WireName,
  cut: CutBody,
  given: BodyChanges,
  bindings: ReadonlyMap<number, ThoughtBinding>,
  from = Number.POSITIVE_INFINITY,
): BoundRequest {
  const isOwnHead = !hasNewHead(given, api);
  const pieces = given.pieces ?? [{ from: 0, to: cut.elements.length }];
  const isClients = isOwnHead && given.pieces === undefined;
  if (isClients && bindings.size === 0 && from === Number.POSITIVE_INFINITY)
    return { changes: given, binding: undefined, lost: 0 };
  const places = listPlaces(api, cut, pieces);
  const { thoughts, rolling } = findThoughts(places, digestHead(cut, given), isOwnHead, bindings);
  const { held, last } = chooseThoughts(api, thoughts, from);
  const lost = thoughts.filter((thought) => !held.has(thought));
  const binding = isClients && lost.length === 0 ? undefined : { prefix: rolling, before: last };
  if (lost.length === 0) return { changes: given, binding, lost: 0 };
  return { changes: { ...given, pieces: withoutThoughts(api, places, lost) }, binding, lost: lost.length };
}

/** True if the changes of a body touch the fields before its messages. */
function hasNewHead({ fields, appended }: BodyChanges, api: WireName): boolean {
  return headFields(api).some((name) => fields?.has(name) || appended?.has(name));
}

function headFields(api: WireName): readonly string[] {
  return api === "anthropic" ? ["system", "tools"] : ["instructions", "tools", "text"];
}

/** The digest of system prompt and tools as they are sent. */
function digestHead(cut: CutBody, { fields, appended }: BodyChanges): number {
  const frame = readFrame(cut);
  const system = fields?.get("system") ?? fields?.get("instructions");
  return [
    system === undefined ? frame.systemDigest : digestSystem(system),
    ...toArray(appended?.get("system")).map(digestSystem),
    // Providers compare tools as a set.
    ...[...frame.offered, ...listOffered(toArray(appended?.get("tools")))].sort((one, other) => one - other),
  ].reduce(fold, 0);
}

function fold(rolling: number, digest: number): number {
  return (Math.imul(rolling ^ digest, 0x01000193) + 0x9e3779b9) >>> 0;
}

function listPlaces(api: WireName, cut: CutBody, pieces: readonly OutgoingPiece[]): readonly Place[] {
  const own = printElements(api, cut);
  return pieces.flatMap((piece): readonly Place[] => {
    if ("from" in piece)
      return Array.from({ length: piece.to - piece.from }, (_, at) => {
        const index = piece.from + at;
        const print = own[index] as ElementPrint;
        return { print, element: () => parseElement(cut, index), index, isClients: true };
      });
    return piece.elements.map((element, at) => ({
      print: printWritten(api, element),
      element: () => element,
      index: piece.index === undefined ? undefined : piece.index + at,
      isClients: false,
    }));
  });
}

/** Prints of the elements of earlier bodies, which the next body repeats. */
const PRINTS = new WeakMap<CutBody, readonly ElementPrint[]>();
const WRITTEN = new WeakMap<WireObject, ElementPrint>();

function printElements(api: WireName, cut: CutBody): readonly ElementPrint[] {
  const done = PRINTS.get(cut);
  if (done) return done;
  const prints = [...((cut.like && PRINTS.get(cut.like)?.slice(0, cut.same)) ?? [])];
  for (let index = prints.length; index < cut.elements.length; index++)
    prints.push(printElement(api, parseElement(cut, index)));
  PRINTS.set(cut, prints);
  return prints;
}

function printWritten(api: WireName, element: WireObject): ElementPrint {
  const print = WRITTEN.get(element) ?? printElement(api, element);
  WRITTEN.set(element, print);
  return print;
}

function printElement(api: WireName, element: WireObject): ElementPrint {
  if (api === "anthropic") {
    const blocks = getContentBlocks(element);
    const others = blocks.filter((block) => !isThinking(block));
    const { role, content: _, ...rest } = element;
    const thoughts = blocks.filter(isThinking).map(digestThought);
    return {
      content: others.length === 0 ? undefined : digestJson([role, rest, others]),
      thoughts,
      isModels: role === "assistant",
      isLeading: blocks.slice(0, thoughts.length).every(isThinking),
    };
  }
  const { id: _id, status: _status, ...rest } = element;
  const isThought = element.type === "reasoning";
  return {
    content: isThought ? undefined : digestJson(rest),
    thoughts: isThought ? [digestThought(element)] : [],
    isModels: isModelsItem(element),
    isLeading: true,
  };
}

/** Items of the Responses API that a client or the gateway writes. */
const OTHERS_ITEMS =
  /_output$|^(?:message|additional_tools|configuration_update|item_reference|compaction.*)$/;

function isModelsItem({ role, type }: WireObject): boolean {
  if (role !== undefined) return role === "assistant";
  return typeof type === "string" && !OTHERS_ITEMS.test(type);
}

function digestJson(value: unknown): number {
  return crc32(JSON.stringify(value, (name, inner) => (name === "cache_control" ? undefined : inner)));
}

/** The digest of a thought: of its signature or ciphertext, which no other thought has. */
function digestThought(thought: WireObject): number {
  const { signature, data, encrypted_content: encrypted, id } = thought;
  return crc32(toText(signature ?? data ?? encrypted ?? id) ?? JSON.stringify(thought));
}

/** The thoughts of a request, and the digest of all of it. */
function findThoughts(
  places: readonly Place[],
  head: number,
  isOwnHead: boolean,
  bindings: ReadonlyMap<number, ThoughtBinding>,
): { readonly thoughts: readonly Thought[]; readonly rolling: number } {
  const thoughts: Thought[] = [];
  let rolling = head;
  let isOwnForm = isOwnHead;
  // All elements of a reply are bound to the elements before the first of them.
  let reply: { readonly rolling: number; readonly isOwnForm: boolean; binding?: ThoughtBinding } | undefined;
  for (const [at, { print, index, isClients }] of places.entries()) {
    const isIntact = isClients && index === at;
    // Elements of two replies become neighbors where the messages between them have left.
    const isNext = index !== undefined && index - 1 === places[at - 1]?.index;
    if (!print.isModels || !isNext) reply = undefined;
    if (print.isModels) {
      reply ??= { rolling, isOwnForm: isOwnForm && isIntact };
      const [first] = print.thoughts;
      const binding = (first === undefined ? undefined : bindings.get(first)) ?? reply.binding;
      if (binding) reply.binding = binding;
      const isSame = binding ? binding.prefix === reply.rolling : reply.isOwnForm;
      const isHolding = isSame && (isClients || (print.isLeading && print.thoughts.length === 1));
      if (first !== undefined)
        thoughts.push({ digests: print.thoughts, from: at, isHolding, before: binding?.before });
    }
    if (print.content !== undefined) rolling = fold(rolling, print.content);
    isOwnForm &&= isIntact;
  }
  return { thoughts, rolling };
}

/** The thoughts to send: the newest one that holds, and all before it that it followed. */
function chooseThoughts(api: WireName, thoughts: readonly Thought[], from: number) {
  const held = new Set<Thought>();
  // OpenAI judges each thought by itself.
  const isChain = api === "anthropic";
  let needed: number | undefined;
  for (const thought of thoughts.toReversed()) {
    const { digests, isHolding, before } = thought;
    if (!isHolding || thought.from >= from) continue;
    if (isChain && needed !== undefined && needed !== digests.at(-1)) continue;
    held.add(thought);
    needed = before;
  }
  const last = thoughts.findLast((thought) => held.has(thought))?.digests.at(-1) ?? 0;
  return { held, last };
}

/** The pieces of a request without some of its thoughts; elements that hold nothing else leave with them. */
function withoutThoughts(
  api: WireName,
  places: readonly Place[],
  lost: readonly Thought[],
): readonly OutgoingPiece[] {
  const bare = new Set(lost.map(({ from }) => from));
  const pieces: OutgoingPiece[] = [];
  let isUnnamed = false;
  for (const [at, place] of places.entries()) {
    const { print, element, index, isClients } = place;
    const isBare = bare.has(at);
    if (!print.isModels) isUnnamed = false;
    // OpenAI refuses items with the id of a reply whose reasoning is missing.
    else if (isBare && api === "openai-responses") isUnnamed = true;
    if (isBare || (isUnnamed && print.isModels)) {
      print.bare ??= removeThoughts(api, element());
      if (print.bare) pieces.push({ elements: [print.bare], ...(index === undefined ? {} : { index }) });
    } else if (isClients && index !== undefined) pieces.push({ from: index, to: index + 1 });
    else pieces.push({ elements: [element()], ...(index === undefined ? {} : { index }) });
  }
  return joinSlices(pieces);
}

function removeThoughts(api: WireName, element: WireObject): WireObject | null {
  if (api !== "anthropic") {
    const { id: _, ...rest } = element;
    return element.type === "reasoning" ? null : rest;
  }
  const content = getContentBlocks(element).filter((block) => !isThinking(block));
  return content.length === 0 ? null : { ...element, content };
}

/** The bindings of the messages of a window, by the first thought of each. */
export function listBindings(messages: Iterable<Message>): ReadonlyMap<number, ThoughtBinding> {
  const bindings = new Map<number, ThoughtBinding>();
  for (const { meta } of messages) {
    const mark = toObject(meta?.[THINKING]);
    if (!mark) continue;
    const { of, prefix = -1, before = 0 } = mark;
    for (const digest of toArray(of))
      bindings.set(toNumber(digest) ?? 0, { prefix: toNumber(prefix) ?? -1, before: toNumber(before) ?? 0 });
  }
  return bindings;
}

const THINKING = "thinking";

/** A reply that remembers what its thinking is bound to. */
export function withBinding(reply: MessageInput, { prefix, before }: ThoughtBinding): MessageInput {
  const of = (reply.parts ?? []).flatMap((part): readonly Json[] => {
    if (part.type !== "reasoning" || part.opaque === undefined) return [];
    const { opaque } = part;
    const { redacted, encrypted_content: encrypted, id } = toObject(opaque) ?? {};
    const text = toText(opaque) ?? toText(redacted ?? encrypted ?? id);
    return text === undefined ? [] : [crc32(text)];
  });
  if (of.length === 0) return reply;
  return { ...reply, meta: { ...reply.meta, [THINKING]: { of, prefix, before } } };
}
