import { createHmac } from "node:crypto";
import type { Clock } from "../../model/clock.ts";
import type { EntryBody, SessionId } from "../../model/entry.ts";
import type { Message } from "../../model/message.ts";
import type { SingleEdit } from "../../model/overlay.ts";
import type { Part, TextPart } from "../../model/part.ts";
import { splitAtSentences } from "../../model/sentences.ts";
import { findMemoryOwner, findSessionOwner } from "../../model/session-key.ts";
import type { ReadyBody } from "../spilled-parts.ts";
import { listLedger } from "../store/ledger-store.ts";
import type { Store } from "../store/store.ts";
import { readStoreKey } from "../store-key.ts";
import { listSentences, listWholes, nameBlob, normalizeSentence, normalizeTitle } from "./body-texts.ts";

/** Replaces a title that quoted removed content: importers and the gateway name a session by its first request. */
export const REMOVED_TITLE = "(title removed)";

/** Stands for erased content. */
export const ERASED: TextPart = { type: "text", text: "[removed on request]" };

/** The row whose value changes with every erasure. */
const STAMP = "stamp";
/** How long a store that cannot tell of changes counts as unchanged. */
const FRESH_MS = 1_000;
/** Appends within this time share a look at the version of a store that can tell it. */
const SAME_MS = 1;

/** Texts whose copies must not be stored again. */
export interface WordsToErase {
  readonly wholes: ReadonlySet<string>;
  readonly sentences: ReadonlySet<string>;
  /** The beginnings of the words: a title may be one of them. */
  readonly openings: ReadonlySet<string>;
}

/**
 * Remembers erased words by digests with the store's key, from which nothing can be read, and keeps every writer from
 * storing it again. Words of one person concern no other.
 */
export class ErasedWords {
  readonly #store: Pick<Store, "ledger" | "leases">;
  readonly #clock: Clock;
  #key: string | undefined;
  #stamp: string | undefined;
  /** The digests; an erased entry has at most a few dozen. */
  #digests: ReadonlySet<string> = new Set();
  #refreshing: Promise<void> | undefined;
  /** The store's version at the last look, and its time; undefined if the next one must ask. */
  #seen: { readonly version: number | undefined; ms: number } | undefined;

  constructor(store: Pick<Store, "ledger" | "leases">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** True if nothing was ever erased, as far as a look that takes no time can tell. */
  get isEmpty(): boolean {
    return this.#digests.size === 0 && this.#isFresh();
  }

  /** Remembers words of a session; called before they are erased, so that a copy cannot come in between. */
  async remember(session: SessionId, words: WordsToErase): Promise<void> {
    const kinds = [
      ["whole", words.wholes],
      ["sentence", words.sentences],
      ["opening", words.openings],
    ] as const;
    if (kinds.every(([, texts]) => texts.size === 0)) return;
    const key = await this.#readKey();
    const owner = findSessionOwner(session);
    const digests = kinds.flatMap(([kind, texts]) =>
      [...texts].map((text) => computeDigest(key, owner, kind, text)),
    );
    const rows = digests.map((id) => ({ id, value: "" }));
    const stamp = { id: STAMP, value: `${this.#clock.now()} ${digests[0]}` };
    await this.#store.ledger.put("erased", [...rows, stamp]);
    this.#seen = undefined;
  }

  /** Learns of erasures by other processes; several callers share one look. */
  prepare(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /**
   * The bodies without words that were erased before the last `prepare`. Words of a person go only if all of the text was
   * erased, because they may be meant again; from imports, replies and summaries, single sentences go, too.
   */
  screen<Body extends EntryBody>(
    session: SessionId,
    items: readonly ReadyBody<Body>[],
    isImport: boolean,
  ): readonly ReadyBody<Body>[] {
    const words = this.#testFor(session);
    // Sessions of memories have their own record of forgotten values.
    if (!words || findMemoryOwner(session) !== undefined) return items;
    return items.map((item) => {
      const body = screenBody(item.body, isImport, words);
      return body === item.body ? item : withoutBlobs(item, body as Body);
    });
  }

  /** True if a text repeats erased words, or a sentence of them. */
  async hasErased(session: SessionId, text: string): Promise<boolean> {
    if (!this.isEmpty) await this.prepare();
    const words = this.#testFor(session);
    return (
      words !== undefined &&
      (isErased(text, words) || listSentences(text).some((sentence) => words.has("sentence", sentence)))
    );
  }

  /** The title, or one that says that it was removed because it repeats erased words. */
  async screenTitle(session: SessionId, title: string): Promise<string> {
    if (await this.hasErased(session, title)) return REMOVED_TITLE;
    return this.#testFor(session)?.has("opening", normalizeTitle(title)) ? REMOVED_TITLE : title;
  }

  #testFor(session: SessionId): ErasedTest | undefined {
    const key = this.#key;
    if (this.#digests.size === 0 || key === undefined) return undefined;
    const owner = findSessionOwner(session);
    return { has: (kind, text) => this.#digests.has(computeDigest(key, owner, kind, text)) };
  }

  #isFresh(): boolean {
    const seen = this.#seen;
    if (!seen) return false;
    const nowMs = performance.now();
    if (nowMs - seen.ms < (seen.version === undefined ? FRESH_MS : SAME_MS)) return true;
    if (seen.version === undefined || seen.version !== this.#store.ledger.peekVersion?.()) return false;
    seen.ms = nowMs;
    return true;
  }

  async #refresh(): Promise<void> {
    if (this.#isFresh()) return;
    const { ledger } = this.#store;
    const seen = { version: ledger.peekVersion?.(), ms: performance.now() };
    const stamp = (await ledger.find("erased", [STAMP]))[0]?.value;
    if (stamp !== this.#stamp) {
      await this.#readKey();
      const digests = new Set<string>();
      for await (const { id } of listLedger(ledger, "erased")) if (id !== STAMP) digests.add(id);
      this.#digests = digests;
    }
    this.#stamp = stamp;
    this.#seen = seen;
  }

  async #readKey(): Promise<string> {
    this.#key ??= await readStoreKey(this.#store, this.#clock, "erased");
    return this.#key;
  }
}

function computeDigest(key: string, owner: string, kind: string, text: string): string {
  return createHmac("sha256", key).update(`${owner}\n${kind}\n${text}`).digest("base64url").slice(0, 22);
}

/** Tells whether a text or a sentence was erased. */
export interface ErasedTest {
  has(kind: "whole" | "sentence" | "opening", text: string): boolean;
}

/** The body without erased texts; the same one if it has none. */
export function screenBody(body: EntryBody, isImport: boolean, words: ErasedTest): EntryBody {
  switch (body.kind) {
    case "message": {
      const message = screenMessage(body.message, isImport || body.message.role !== "user", words);
      return message === body.message ? body : { ...body, message };
    }
    case "notice": {
      const text = screenText(body.text, true, words);
      return text === body.text ? body : { ...body, text };
    }
    case "overlay": {
      if (body.edit.type === "revert") return body;
      const edit =
        body.edit.type === "plan"
          ? { ...body.edit, edits: mapKept(body.edit.edits, (one) => screenEdit(one, words)) }
          : screenEdit(body.edit, words);
      const isSame =
        edit === body.edit ||
        (edit.type === "plan" && body.edit.type === "plan" && edit.edits === body.edit.edits);
      return isSame ? body : { ...body, edit };
    }
    case "raw":
      return body.blob && words.has("whole", nameBlob(body.blob.digest))
        ? { kind: "raw", format: body.format, value: ERASED.text }
        : body;
    default:
      return body;
  }
}

function screenEdit(edit: SingleEdit, words: ErasedTest): SingleEdit {
  if (edit.type === "replace") {
    const parts = mapKept(edit.parts, (part) => screenPart(part, true, words));
    return parts === edit.parts ? edit : { ...edit, parts };
  }
  if (edit.type !== "summarize" || !edit.messages) return edit;
  const messages = mapKept(edit.messages, (message) => screenMessage(message, true, words));
  return messages === edit.messages ? edit : { ...edit, messages };
}

/** The message without erased texts, and, of a copy, without erased sentences. */
function screenMessage(message: Message, isCopy: boolean, words: ErasedTest): Message {
  const parts = mapKept(message.parts, (part) => screenPart(part, isCopy && message.role !== "tool", words));
  return parts === message.parts ? message : { ...message, parts };
}

function screenPart<Kind extends Part>(part: Kind, isCopy: boolean, words: ErasedTest): Kind | TextPart {
  switch (part.type) {
    case "text":
    case "reasoning": {
      const text = screenText(part.text, isCopy, words);
      if (text === part.text) return part;
      // The provider's signature of reasoning covers its text.
      return part.type === "text" ? { ...part, text } : { type: "text", text };
    }
    case "tool-call":
      return isErased(JSON.stringify(part.input), words) ? { ...part, input: {} } : part;
    case "tool-result": {
      const output = mapKept(part.output as readonly Part[], (inner) => screenPart(inner, false, words));
      return output === part.output ? part : ({ ...part, output } as Kind);
    }
    case "blob":
      return words.has("whole", nameBlob(part.digest)) ? ERASED : part;
    default:
      return part;
  }
}

function screenText(text: string, isCopy: boolean, words: ErasedTest): string {
  if (isErased(text, words)) return ERASED.text;
  if (!isCopy) return text;
  const pieces = splitAtSentences(text);
  const kept = mapKept(pieces, (piece, index) => {
    const sentence = index % 2 === 0 ? normalizeSentence(piece) : undefined;
    return sentence !== undefined && words.has("sentence", sentence) ? ERASED.text : piece;
  });
  return kept === pieces ? text : kept.join("");
}

function isErased(text: string, words: ErasedTest): boolean {
  return listWholes(text).some((whole) => words.has("whole", whole));
}

/** The items as `change` returns them; the same array if it changes none. */
function mapKept<Item>(items: readonly Item[], change: (item: Item, index: number) => Item): readonly Item[] {
  const changed = items.map(change);
  return changed.some((item, index) => item !== items[index]) ? changed : items;
}

/** An item with a changed body, which refers to no blob that the body has lost. */
function withoutBlobs<Body extends EntryBody>(item: ReadyBody<Body>, body: Body): ReadyBody<Body> {
  if (!item.blobs) return { ...item, body };
  const text = JSON.stringify(body);
  return { ...item, body, blobs: item.blobs.filter((digest) => text.includes(digest)) };
}
