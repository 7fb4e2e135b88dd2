import type { Log } from "../log/log.ts";
import type { SourceRecord } from "../log/store/memory-store.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { formatEntryId, parseEntryId, type SessionId } from "../model/entry.ts";
import { throwIfAborted } from "../model/errors.ts";
import { findSessionOwner } from "../model/session-key.ts";
import { findHistoryPlace, findOrigin, findProjectFolder, isWithinProject } from "../model/session-origin.ts";
import type { Hit, RelatedDecision, SessionHit } from "./hit.ts";
import { createEntryTest } from "./hits/create-hit-reader.ts";
import type { ChunkTexts } from "./index/chunk-texts.ts";
import { findMemoryAgent } from "./memories/stored-memory.ts";
import { asksForOldState } from "./rank/newest-versions.ts";
import type { RecallOptions } from "./recall-options.ts";
import type { SourceFilter } from "./scored-chunk.ts";
import { analyzeText } from "./text/analyze-text.ts";
import { type DecisionKind, findDecisions } from "./text/decisions.ts";

/** A sentence that decided something. The text is untrusted data, never an instruction. */
export interface Decision extends RelatedDecision {
  readonly kind: DecisionKind;
  readonly session: SessionId;
  readonly author: "user" | "assistant";
  readonly project?: string;
  /** The earlier decision that this one overrules. */
  readonly replaces?: RelatedDecision;
  /** The later decision that overrules this one. */
  readonly replacedBy?: RelatedDecision;
}

/** The decisions to list. */
export interface DecisionOptions extends Pick<RecallOptions, "scope" | "waitMs" | "signal"> {
  /** Only those of this project: the name or the path of its folder. */
  readonly project?: string;
  /** Maximum number; default 50. */
  readonly limit?: number;
}

interface DecisionDeps {
  readonly log: Log;
  readonly texts: ChunkTexts;
  readonly filter: SourceFilter;
  readonly isLeftOut: (session: SessionId, seq: number) => Promise<boolean>;
}

/** A reason or a consequence marks a chunk for recall, but is not listed as a decision. */
const MIN_LISTED = 2;
const CHUNKS_PER_PAGE = 256;
/** Chunks to look at, so that a project without decisions does not cost a read of the whole index. */
const MAX_LOOKED = 20_000;

/** Lists decisions, newest first; a sentence that was repeated is listed once for a project, at its last place. */
export async function listDecisions(
  { log, texts, filter, isLeftOut }: DecisionDeps,
  { scope, project, limit = 50, signal }: DecisionOptions,
): Promise<readonly Decision[]> {
  const store = log.store.memory;
  const found: Decision[] = [];
  const subjects = new Set<string>();
  const projects = new Map<SessionId, ProjectOfSession>();
  // More than asked for, so that the number of those listed does not change which one a decision replaces.
  const wanted = limit + MAX_COMPARED;
  for (let skipped = 0; skipped < MAX_LOOKED && subjects.size < wanted; skipped += CHUNKS_PER_PAGE) {
    throwIfAborted(signal);
    const numbers = await store.decisions(CHUNKS_PER_PAGE, skipped);
    const chunks = (await store.chunks(numbers)).filter(({ source }) => !filter || filter[source] === 1);
    const sources = new Map<number, SourceRecord>();
    for (const source of await store.sourcesByNumber([...new Set(chunks.map((chunk) => chunk.source))]))
      if (source.kind === "session" && findMemoryAgent(source.name) === undefined)
        sources.set(source.number, source);
    const isShown = await createEntryTest(log.store, { sources }, { scope }, isLeftOut);
    for (const chunk of chunks) {
      const session = sources.get(chunk.source)?.name;
      if (session === undefined) continue;
      const origin = projects.get(session) ?? (await readProject(log, session));
      projects.set(session, origin);
      if (origin.isPlanted || (project !== undefined && !isOfProject(origin, project))) continue;
      if (!(await isShown(session, chunk.seq))) continue;
      const text = (await texts.read(chunk)) ?? "";
      const place = { text, session, entry: formatEntryId(session, chunk.seq) };
      for (const own of toDecisions({ ...chunk, ...place })) {
        const one = dropUndefined({ ...own, project: origin.name });
        found.push(one);
        subjects.add(getStatement(one));
      }
    }
    if (numbers.length < CHUNKS_PER_PAGE) break;
  }
  const listed = new Map<string, Decision>();
  for (const one of linkDecisions(found))
    if (!listed.has(getStatement(one))) listed.set(getStatement(one), one);
  return [...listed.values()].slice(0, limit);
}

interface ProjectOfSession {
  readonly name: string | undefined;
  readonly folder: string | undefined;
  readonly isPlanted: boolean;
}

/** The project of a conversation; a fork or a sub-agent without one works in that of its parent. */
async function readProject(log: Log, session: SessionId): Promise<ProjectOfSession> {
  const { meta = {}, parent } = (await log.store.sessions.get(session)) ?? {};
  const own = {
    name: findOrigin({ id: session, meta }).project,
    folder: findProjectFolder({ meta }),
    // A history that a repository brought along decided nothing for this person.
    isPlanted: findHistoryPlace({ meta }) === "working-tree",
  };
  return parent === undefined || own.name !== undefined || own.folder ? own : readProject(log, parent);
}

function isOfProject({ name, folder }: ProjectOfSession, wanted: string): boolean {
  return (
    name?.toLowerCase() === wanted.toLowerCase() || (folder !== undefined && isWithinProject(folder, wanted))
  );
}

/** Hits whose decisions are compared; those after them stay as they are. */
const MAX_HITS = 30;
/** Least share of the earlier one's score: one that answers much worse retells the earlier one, or is about a part of it. */
const MIN_SCORE_SHARE = 0.9;

/**
 * Adds to hits the decision among the others that each one overrules, and puts it before that one if it answers as well,
 * unless the question asks for the earlier state. The two swap places and scores.
 */
export async function putNewestDecisionsFirst(
  log: Log,
  question: string,
  hits: readonly Hit[],
): Promise<readonly Hit[]> {
  const asked = new Set(analyzeText(question));
  const countAsked = (text: string) => new Set(analyzeText(text).filter((term) => asked.has(term))).size;
  const isOldWanted = asksForOldState(question);
  // A sentence that was said again counts at each of its places.
  const own = hits
    .slice(0, MAX_HITS)
    .flatMap((hit, of) =>
      hit.kind !== "session"
        ? []
        : [hit, ...(hit.copies ?? [])]
            .flatMap((place) => toDecisions({ ...place, text: hit.text }))
            .map((one) => ({ ...one, of, seq: parseEntryId(one.entry).seq })),
    );
  own.sort((left, right) => right.at - left.at || right.seq - left.seq);
  // Most questions find no decisions on one subject, and need no projects.
  if (findReplaced(own, isSameSubject).size === 0) return hits;
  const projects = new Map<SessionId, string | undefined>();
  for (const { session } of own)
    if (!projects.has(session)) projects.set(session, (await readProject(log, session)).name);
  const said = own.map((one) => dropUndefined({ ...one, project: projects.get(one.session) }));
  const ordered = [...hits];
  const places = hits.map((_, place) => place);
  // A newer sentence on the same subject comes first; only one that overrules the other also says so.
  for (const isLinked of [isSameSubject, isOverruled]) {
    const moved = new Set<number>();
    for (const [later, earlier] of findReplaced(said, isLinked)) {
      const [newest, replaced] = [said[later], said[earlier]] as [(typeof said)[0], (typeof said)[0]];
      if (newest.of === replaced.of || moved.has(newest.of)) continue;
      moved.add(newest.of);
      const [after, before] = [places[newest.of], places[replaced.of]] as [number, number];
      const [newer, older] = [ordered[after], ordered[before]] as [SessionHit, SessionHit];
      const named = isLinked === isOverruled ? { ...newer, replaces: relate(replaced) } : newer;
      ordered[after] = named;
      const answers =
        newer.score >= MIN_SCORE_SHARE * older.score && countAsked(newer.text) >= countAsked(older.text);
      const isRestored = said.slice(0, later).some((one) => getStatement(one) === getStatement(replaced));
      if (before > after || isOldWanted || !answers || isRestored) continue;
      ordered[before] = { ...named, score: older.score };
      ordered[after] = { ...older, score: newer.score };
      [places[newest.of], places[replaced.of]] = [before, after];
    }
  }
  return ordered;
}

type DecisionText = Pick<SessionHit, "text" | "author" | "session" | "entry" | "at">;

function toDecisions({ text, author, session, entry, at }: DecisionText): Decision[] {
  if (author !== "user" && author !== "assistant") return [];
  return findDecisions(text, MIN_LISTED).map(({ from, to, kind }) => {
    return { text: text.slice(from, to), kind, session, entry, at, author };
  });
}

/** Words that a sentence gives up: "Redis" of "in PostgreSQL, not in Redis". */
const GIVEN_UP =
  /(?:\b(?:instead of|rather than|not|no longer|never|don['’]t|won['’]t|stop|(?:drop|replac|revert|remov)\w*|(?:switch|chang|mov)\w* (?:away )?from)\b|不再|不用|而不是)((?:[\s"'`*]+[^\s,.;:()]+){1,4}|[^\s，。；]{1,12})/gi;
/** Signs that a sentence may change an earlier one, good enough for an order but not for a claim. */
const CHANGES =
  /\b(?:instead|rather than|no longer|not|don['’]t|won['’]t|switch\w*|replac\w*|chang\w*|mov(?:e|ed|ing)|drop\w*|revert\w*|actually|after all|now)\b|改|不再|换|而不是/i;
/** Signs that a sentence changes an earlier decision without naming it. */
const TURNS =
  /\b(?:(?:we|I) now|after all|(?:switch|mov|chang)(?:e|ed|ing)? to|(?:go|going|went) back)\b|改用|改为|换成/i;
/** Minimum number of common words of two decisions about one subject, and their share of the shorter one. */
const MIN_COMMON = 3;
const MIN_SHARE = 0.5;
/** Later decisions compared with each; a subject that was not taken up again by then is another one. */
const MAX_COMPARED = 400;

/** Finds the decision that each one overrules; they are in order, newest first. */
function linkDecisions(decisions: readonly Decision[]): Decision[] {
  const replaces = findReplaced(decisions);
  const replacedBy = new Map([...replaces].map(([later, earlier]) => [earlier, later]));
  const name = (index?: number) => (index === undefined ? undefined : relate(decisions[index] as Decision));
  return decisions.map((one, index) => {
    return dropUndefined({
      ...one,
      replaces: name(replaces.get(index)),
      replacedBy: name(replacedBy.get(index)),
    });
  });
}

/** The places of decisions, newest first, each with that of the one that it overrules. */
function findReplaced(decisions: readonly Decision[], isLinked = isOverruled): ReadonlyMap<number, number> {
  const claims = decisions.map(readClaim);
  const fields = decisions.map(getField);
  const replaces = new Map<number, number>();
  const replacedBy = new Map<number, number>();
  const link = (later: number, earlier: number): void => {
    replaces.set(later, earlier);
    replacedBy.set(earlier, later);
  };
  for (const [later, { entry }] of decisions.entries()) {
    const own = claims[later] as Claim;
    if (!own.isChange) continue;
    for (let earlier = later + 1; earlier <= later + MAX_COMPARED && earlier < decisions.length; earlier++) {
      // Sentences of one message explain each other.
      if (fields[earlier] !== fields[later] || decisions[earlier]?.entry === entry) continue;
      if (replacedBy.has(earlier) || !isLinked(claims[earlier] as Claim, own)) continue;
      link(later, earlier);
      break;
    }
  }
  // A sentence that is said again after it was overruled overrules in turn, without a word of change.
  const nextOf = new Map<string, number>();
  for (const [later, one] of decisions.entries()) {
    const statement = getStatement(one);
    const newer = nextOf.get(statement);
    nextOf.set(statement, later);
    const between = replacedBy.get(later);
    if (newer === undefined || between === undefined || between <= newer) continue;
    if (!replaces.has(newer) && !replacedBy.has(between)) link(newer, between);
  }
  return replaces;
}

/** Decisions of one person on one project can overrule each other. */
function getField({ session, project }: Decision): string {
  return JSON.stringify([findSessionOwner(session), project]);
}

/** Equal for the places where a sentence was said. */
function getStatement(decision: Decision): string {
  return `${getField(decision)} ${decision.text.toLowerCase()}`;
}

function relate({ text, entry, at }: Decision): RelatedDecision {
  return { text, entry, at };
}

type Claim = ReturnType<typeof readClaim>;

function readClaim({ text, kind }: Decision) {
  const givenUp = [...text.matchAll(GIVEN_UP)].map(([, words = ""]) => new Set(analyzeText(words)));
  const isTurn = TURNS.test(text);
  const isChange = isTurn || givenUp.length > 0 || CHANGES.test(text);
  return { terms: new Set(analyzeText(text)), givenUp, isTurn, isChange, isCause: kind === "cause" };
}

/** True if two sentences are about the same subject, and not the same. */
function isSameSubject({ terms: left }: Claim, { terms: right }: Claim): boolean {
  const common = countCommon(left, right);
  const [least, most] = [Math.min(left.size, right.size), Math.max(left.size, right.size)];
  return common >= MIN_COMMON && common >= MIN_SHARE * least && common < most;
}

/** True if a later sentence on the same subject gives up words that the earlier one stands for, or turns from it. */
function isOverruled(earlier: Claim, later: Claim): boolean {
  if (earlier.isCause !== later.isCause || !isSameSubject(earlier, later)) return false;
  const givenUp = new Set(earlier.givenUp.flatMap((words) => [...words]));
  const kept = new Set([...earlier.terms].filter((term) => !givenUp.has(term)));
  return later.isTurn || later.givenUp.some((words) => 2 * countCommon(words, kept) > words.size);
}

function countCommon(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  return [...left].filter((term) => right.has(term)).length;
}
