import { dropUndefined } from "../../model/base/drop-undefined.ts";
import {
  type Entry,
  type EntryBody,
  type EntryId,
  type EntryKind,
  formatEntryId,
  getShownMessage,
  ORIGINAL_FORMAT,
  type OverlayBody,
  type Place,
  type SessionId,
} from "../../model/entry.ts";
import { flattenParts } from "../../model/message.ts";
import { ADDED_ELEMENTS } from "../../model/message-tags.ts";
import { listSingleEdits } from "../../model/overlay.ts";
import type { Part } from "../../model/part.ts";
import { removeElements } from "../../model/remove-elements.ts";
import { findMemoryOwner, findSessionOwner } from "../../model/session-key.ts";
import { toEntry } from "../entry-body.ts";
import { parseStoredJson } from "../intake.ts";
import type { Log } from "../log.ts";
import type { EntryStore } from "../store/entry-store.ts";
import type { SessionRecord, SessionStore } from "../store/session-store.ts";
import {
  listBodyTexts,
  listOpenings,
  listSentences,
  listWholes,
  normalizeTitle,
  normalizeWords,
} from "./body-texts.ts";
import { type ErasedTest, screenBody, type WordsToErase } from "./erased-words.ts";

const BATCH = 64;
const PAGE = 1_000;

/**
 * Why an entry goes with an erasure: it was named, has the same words, contains some of them, was derived from them (a
 * summary, a receipt, a reply that gave a title), or holds the file that the conversation was imported from.
 */
type ErasureCause = "named" | "copy" | "quote" | "derived" | "original";

/** An entry that an erasure removes. */
export interface PlannedEntry extends Place {
  readonly cause: ErasureCause;
}

/** All that an erasure of entries removes. It holds no words, so it may be stored until it is carried out. */
export interface ErasurePlan {
  readonly session: SessionId;
  /** The entries that were named; their windows are read again. */
  readonly places: readonly Place[];
  readonly entries: readonly PlannedEntry[];
  /** Sessions whose titles quote the words. */
  readonly titles: readonly SessionId[];
  /** Entries of other people that contain the words, and stay. */
  readonly kept: readonly EntryId[];
  readonly reason?: string;
}

/** A plan with the words that no writer may store again. */
interface PlannedErasure {
  readonly plan: ErasurePlan;
  readonly words: WordsToErase;
}

/** Finds entries anywhere in the store that contain a text, as the search index does. */
export type FindQuotes = (text: string) => Promise<readonly Place[]>;

/** Texts that are searched for in other conversations: the longest ones lead to their copies. */
const MAX_SEARCHED = 24;

/**
 * What an erasure of entries walks: the conversation they belong to, with all its branches, forks and children; in each
 * of these the named entries, copies of their words in messages, notes and raw records, overlays about them, texts that
 * were derived from those, and the imported files; titles; and copies in other conversations of the same person.
 */
export async function planErasure(
  log: Log,
  session: SessionId,
  places: readonly Place[],
  options: { readonly reason?: string | undefined; readonly findQuotes?: FindQuotes | undefined } = {},
): Promise<PlannedErasure> {
  const { entries, sessions } = log.store;
  const family = await listFamily(sessions, session);
  const erased = await readErased(entries, places);
  const titles = await readTitles(sessions, family);
  const found = new Map<EntryId, PlannedEntry>();
  const add = (place: Place, cause: ErasureCause): void => {
    const id = formatEntryId(place.session, place.seq);
    if (!found.has(id)) found.set(id, { session: place.session, seq: place.seq, cause });
  };
  for (const place of places) add(place, "named");
  for (const place of await listVersions(log, places)) add(place, "copy");
  const derived: DerivedText[] = [];
  for (const relative of family) {
    if (relative.relation === "child") await findRepeats(entries, relative, erased, titles, add);
    for await (const entry of readEntries(entries, relative.id)) {
      if (found.has(entry.id)) continue;
      const cause = findCause(entry, relative, erased, places);
      if (cause) add(entry, cause);
      if (cause === "derived") derived.push(describeDerived(entry));
    }
  }
  // Clients send a summary again as a message, with words of their own around it.
  if (derived.some(({ wholes, sentences }) => wholes.size + sentences.length > 0))
    for (const { id } of family)
      for await (const entry of readEntries(entries, id))
        if (!found.has(entry.id) && derived.some((text) => isCopyOfDerived(entry, text)))
          add(entry, "derived");
  const quoting = [...titles]
    .filter(
      ([, title]) => erased.texts.some((text) => isQuotingTitle(title, text)) || erased.names.has(title),
    )
    .map(([id]) => id);
  const own = new Set(family.map(({ id }) => id));
  const kept = await findQuotesElsewhere(log, session, own, erased, options.findQuotes, add);
  for await (const { id, title } of listOthers(sessions, session, own)) {
    if (title !== undefined && isNamedAfter(title, erased.words)) quoting.push(id);
    // Notes are not in the index.
    for await (const entry of readEntries(entries, id, ["notice"])) {
      const cause = findRepeatedWords(entry, erased.words);
      if (cause) add(entry, cause);
    }
  }
  const plan = {
    session,
    places: places.map(({ session: own, seq }) => ({ session: own, seq })),
    entries: [...found.values()],
    titles: quoting,
    kept,
    ...dropUndefined({ reason: options.reason }),
  };
  const wholes = new Set([...erased.words.wholes, ...derived.flatMap((text) => [...text.wholes])]);
  for (const entry of found.values())
    if (entry.cause === "derived" || entry.cause === "copy") await addWholes(entries, entry, wholes);
  return { plan, words: { ...erased.words, wholes } };
}

async function addWholes(entries: EntryStore, place: Place, wholes: Set<string>): Promise<void> {
  const stored = await entries.get(place.session, place.seq);
  const body = stored && toEntry(place.session, stored);
  if (body)
    for (const { text } of listBodyTexts(body)) for (const whole of listWholes(text)) wholes.add(whole);
}

/** The other versions of records that were imported more than once: the source of the newest says which it replaced. */
async function listVersions({ store }: Log, places: readonly Place[]): Promise<readonly Place[]> {
  const found: Place[] = [];
  for (const [session, own] of Map.groupBy(places, (place) => place.session)) {
    const state = await store.intakes.get(`import:${session}`);
    const { lineage } = (parseStoredJson(state?.progress) ?? {}) as {
      readonly lineage?: { readonly versions?: readonly (readonly [seq: number, place: number])[] };
    };
    const placeOf = new Map(lineage?.versions ?? []);
    const named = new Set(own.map(({ seq }) => placeOf.get(seq) ?? seq));
    for (const [seq, place] of placeOf)
      if (named.has(place)) found.push({ session, seq }, { session, seq: place });
  }
  return found;
}

type Relative = Pick<SessionRecord, "id" | "relation" | "meta" | "parent">;

/** The conversation that a session belongs to: its oldest ancestor of the same person, and all that descends from it. */
async function listFamily(sessions: SessionStore, session: SessionId): Promise<readonly Relative[]> {
  const owner = findSessionOwner(session);
  let root: Relative = (await sessions.get(session)) ?? { id: session };
  for (let { parent } = root; parent !== undefined; { parent } = root) {
    const above = await sessions.get(parent);
    if (!above || findSessionOwner(above.id) !== owner) break;
    root = above;
  }
  const family: Relative[] = [root];
  for (const { id: parent } of family)
    for (let before: SessionId | undefined; ; ) {
      const page = await sessions.list({ parent, limit: BATCH, ...dropUndefined({ before }) });
      family.push(...page);
      before = page.at(-1)?.id;
      if (page.length < BATCH) break;
    }
  return family;
}

const KINDS = ["message", "overlay", "notice", "raw"] as const;

/** The entries of a session that may hold words. */
async function* readEntries(
  entries: EntryStore,
  session: SessionId,
  kinds: readonly EntryKind[] = KINDS,
): AsyncGenerator<Entry> {
  const { seq: head } = await entries.head(session);
  for (let from = 1; from <= head; ) {
    const query = { from, to: head, limit: BATCH, order: "ascending", kinds } as const;
    const found = await entries.read(session, query);
    for (const stored of found) yield toEntry(session, stored);
    const last = found.at(-1);
    if (!last || found.length < BATCH) return;
    from = last.seq + 1;
  }
}

/** The titles of sessions, in the form in which texts are compared. */
async function readTitles(
  sessions: SessionStore,
  among: readonly Relative[],
): Promise<ReadonlyMap<SessionId, string>> {
  const titles = new Map<SessionId, string>();
  for (const { id } of among) {
    const title = collapseSpaces((await sessions.get(id))?.title ?? "");
    if (title !== "") titles.set(id, title);
  }
  return titles;
}

/** Content of entries that are to be erased. */
interface ErasedContent {
  /** The text of each message. */
  readonly texts: readonly string[];
  /** The words of a person, without the additions of an agent. */
  readonly said: readonly string[];
  /** Ids of the calls whose results are among them: an edit may name a result by its call. */
  readonly results: ReadonlySet<string>;
  /** Titles that models gave to the words. */
  readonly names: Set<string>;
  readonly words: WordsToErase;
  /** The time of the first of the entries. */
  readonly since: number;
  /** The longest texts, to search for. */
  readonly searched: readonly string[];
}

async function readErased(entries: EntryStore, places: readonly Place[]): Promise<ErasedContent> {
  const texts: string[] = [];
  const said: string[] = [];
  const results = new Set<string>();
  const wholes = new Set<string>();
  const sentences = new Set<string>();
  const openings = new Set<string>();
  const searched: string[] = [];
  let since = Number.POSITIVE_INFINITY;
  for (const { session, seq } of places) {
    const stored = await entries.get(session, seq);
    const entry = stored && toEntry(session, stored);
    if (!entry) continue;
    since = Math.min(since, entry.at);
    for (const part of getShownMessage(entry)?.parts ?? [])
      if (part.type === "tool-result") results.add(part.callId);
    for (const { text } of listBodyTexts(entry)) {
      for (const whole of listWholes(text)) wholes.add(whole);
      searched.push(text);
    }
    if (entry.kind !== "message") continue;
    const own = flattenParts(entry.message).map(textOfPart);
    texts.push(collapseSpaces(own.join("\n")));
    if (entry.message.role !== "user") continue;
    said.push(...own.map((text) => collapseSpaces(removeElements(text, ADDED_ELEMENTS, " "))));
    // Sentences of a person stand for something; those of models and programs recur.
    for (const text of own) {
      for (const sentence of listSentences(text)) sentences.add(sentence);
      for (const opening of listOpenings(text)) openings.add(opening);
    }
  }
  return {
    texts,
    said: said.filter((text) => text !== ""),
    results,
    names: new Set(),
    words: { wholes, sentences, openings },
    since,
    searched: searched.toSorted((one, other) => other.length - one.length).slice(0, MAX_SEARCHED),
  };
}

/** Why an entry of the conversation goes too; undefined if it stays. */
function findCause(
  entry: Entry,
  { relation, meta }: Relative,
  erased: ErasedContent,
  places: readonly Place[],
): ErasureCause | undefined {
  if (entry.kind === "raw" && entry.format === ORIGINAL_FORMAT)
    return relation === "child" ? undefined : "original";
  if (entry.kind === "overlay" && isQuoting(entry, places, erased.results)) return "derived";
  // A damaged overlay may quote any of the entries.
  if (entry.kind === "damaged") return entry.was === "overlay" ? "derived" : undefined;
  const { kind } = (meta?.gateway ?? {}) as { readonly kind?: unknown };
  // The reply to a request for a summary of the whole conversation.
  const isSummary = kind === "compaction" && entry.kind === "message" && entry.message.role === "assistant";
  if (isSummary && entry.at >= erased.since) return "derived";
  return findRepeatedWords(entry, erased.words);
}

/** Whether a body repeats words. A text that has the words even without their sentences is a copy, which goes as a whole. */
function findRepeatedWords(body: EntryBody, words: WordsToErase): "copy" | "quote" | undefined {
  const texts = [...listBodyTexts(body)].map(({ text }) => text);
  if (texts.some((text) => listWholes(text).some((whole) => words.wholes.has(whole)))) return "copy";
  if (!texts.some((text) => isContaining(text, words))) return undefined;
  const test: ErasedTest = { has: (kind, text) => kind === "sentence" && words.sentences.has(text) };
  const rest = [...listBodyTexts(screenBody(body, true, test))];
  return body.kind !== "message" || rest.some(({ text }) => isContaining(text, words)) ? "copy" : "quote";
}

/** True if a text has a sentence of erased words, within another sentence or not. */
function isContaining(text: string, { sentences }: WordsToErase): boolean {
  if (sentences.size === 0) return false;
  const own = normalizeWords(text);
  return [...sentences].some((sentence) => own.includes(sentence));
}

/** A text that was made from erased words, and the entries that it was made from. */
interface DerivedText {
  readonly entry: Entry;
  readonly wholes: ReadonlySet<string>;
  readonly sentences: readonly string[];
}

/** Shorter derived texts, such as notes about a removed result, are alike in many conversations. */
const MIN_DERIVED_CHARACTERS = 60;
const MIN_DERIVED_SHARE = 0.6;

function describeDerived(entry: Entry): DerivedText {
  const wholes = new Set<string>();
  const sentences: string[] = [];
  for (const { text, isProse } of listBodyTexts(entry)) {
    if (!isProse || text.length < MIN_DERIVED_CHARACTERS) continue;
    for (const whole of listWholes(text)) wholes.add(whole);
    sentences.push(...listSentences(text));
  }
  return { entry, wholes, sentences };
}

/** True if a message has most of a derived text and is not one of the entries that the text was made from. */
function isCopyOfDerived(entry: Entry, { entry: source, wholes, sentences }: DerivedText): boolean {
  if (entry.kind !== "message" || isSourceOf(entry, source)) return false;
  const own = new Set<string>();
  for (const { text, isProse } of listBodyTexts(entry)) {
    if (listWholes(text).some((whole) => wholes.has(whole))) return true;
    if (isProse) for (const sentence of listSentences(text)) own.add(sentence);
  }
  const known = sentences.filter((sentence) => own.has(sentence));
  return known.length > 0 && known.length >= MIN_DERIVED_SHARE * sentences.length;
}

function isSourceOf(place: Place, derived: Entry): boolean {
  if (derived.kind !== "overlay") return false;
  return listSingleEdits(derived.edit).some(
    (edit) =>
      edit.type === "summarize" &&
      edit.ranges.some(
        ({ session, from, to }) => session === place.session && from <= place.seq && place.seq <= to,
      ),
  );
}

/** Copies in messages of other conversations: those of the same person go, too, and others are named. */
async function findQuotesElsewhere(
  log: Log,
  session: SessionId,
  family: ReadonlySet<SessionId>,
  { words, searched }: ErasedContent,
  findQuotes: FindQuotes | undefined,
  add: (place: Place, cause: ErasureCause) => void,
): Promise<readonly EntryId[]> {
  const kept = new Set<EntryId>();
  if (!findQuotes) return [];
  for (const text of searched)
    for (const place of await findQuotes(text)) {
      if (family.has(place.session)) continue;
      const stored = await log.store.entries.get(place.session, place.seq);
      const cause = stored && findRepeatedWords(toEntry(place.session, stored), words);
      if (!cause) continue;
      if (isOfSamePerson(place.session, session)) add(place, cause);
      else kept.add(formatEntryId(place.session, place.seq));
    }
  return [...kept];
}

/** The other conversations of the person that a session belongs to. */
async function* listOthers(
  sessions: SessionStore,
  session: SessionId,
  family: ReadonlySet<SessionId>,
): AsyncGenerator<SessionRecord> {
  for (let before: SessionId | undefined; ; ) {
    const page = await sessions.list({ limit: PAGE, ...dropUndefined({ before }) });
    for (const record of page) if (!family.has(record.id) && isOfSamePerson(record.id, session)) yield record;
    before = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}

/** A memory is forgotten by itself, so that agents cannot save it again. */
function isOfSamePerson(session: SessionId, other: SessionId): boolean {
  return findMemoryOwner(session) === undefined && findSessionOwner(session) === findSessionOwner(other);
}

/** True if a title is erased words, or their beginning. */
function isNamedAfter(title: string, { wholes, sentences, openings }: WordsToErase): boolean {
  return (
    openings.has(normalizeTitle(title)) ||
    listWholes(title).some((whole) => wholes.has(whole)) ||
    listSentences(title).some((sentence) => sentences.has(sentence))
  );
}

/** Shorter words may be part of a text by chance. */
const MIN_REPEATED_CHARACTERS = 12;

/**
 * The messages of a child session that repeat erased words of a person, and the replies that are titles: clients send the
 * words again, among others, to get a title for them. Elsewhere only a message with nothing else is a copy.
 */
async function findRepeats(
  entries: EntryStore,
  { id: session, meta }: Relative,
  { said, names }: ErasedContent,
  titles: ReadonlyMap<SessionId, string>,
  add: (place: Place, cause: ErasureCause) => void,
): Promise<void> {
  if (said.length === 0) return;
  const { kind } = (meta?.gateway ?? {}) as { readonly kind?: unknown };
  const isCopy = (text: string) => (one: string) =>
    text === one || (kind === "title" && one.length >= MIN_REPEATED_CHARACTERS && text.includes(one));
  let isRepeated = false;
  for await (const entry of readEntries(entries, session)) {
    if (entry.kind !== "message") continue;
    const { role } = entry.message;
    const text = collapseSpaces(flattenParts(entry.message).map(textOfPart).join("\n"));
    const name =
      isRepeated && role === "assistant" && [...titles.values()].find((one) => text.startsWith(one));
    isRepeated = role === "user" && said.some(isCopy(text));
    if (name) names.add(name);
    if (isRepeated || name) add(entry, isRepeated ? "copy" : "derived");
  }
}

function isQuoting(
  overlay: Entry<OverlayBody>,
  places: readonly Place[],
  results: ReadonlySet<string>,
): boolean {
  return hasText(overlay) && places.some((place) => isAbout(overlay, place, results));
}

/** Whether an overlay contains text; receipts do, because they name removed content. */
function hasText({ edit, receipt }: Entry<OverlayBody>): boolean {
  return receipt !== undefined || listSingleEdits(edit).some(({ type }) => type !== "hide");
}

function isAbout({ edit, session }: Entry<OverlayBody>, place: Place, results: ReadonlySet<string>): boolean {
  return listSingleEdits(edit).some((single) => {
    if (single.type !== "replace") {
      const quotes = single.type === "summarize" ? (single.quotes ?? []) : [];
      return (
        quotes.some(({ session: own, seq }) => own === place.session && seq === place.seq) ||
        single.ranges.some(
          (range) => range.session === place.session && range.from <= place.seq && place.seq <= range.to,
        )
      );
    }
    if ("callId" in single.target) return results.has(single.target.callId);
    const { seq, session: own = session } = single.target;
    return own === place.session && seq === place.seq;
  });
}

function textOfPart(part: Part): string {
  return part.type === "text" ? part.text : part.type === "blob" ? (part.preview ?? "") : "";
}

/** True if a text has the title, cut off at its end or not, or all of its whole words. */
function isQuotingTitle(title: string, text: string): boolean {
  if (text.includes(title.replace(/…$/, ""))) return true;
  const words = listWords(title.replace(/[\p{L}\p{N}]*…$/u, ""));
  const own = new Set(listWords(text));
  return words.length > 0 && words.every((word) => own.has(word));
}

function listWords(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

function collapseSpaces(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}
