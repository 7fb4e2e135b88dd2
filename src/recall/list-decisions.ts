import type { Log } from "../log/log.ts";
import type { SourceRecord } from "../log/store/memory-store.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import { type EntryId, formatEntryId, type SessionId } from "../model/entry.ts";
import { throwIfAborted } from "../model/errors.ts";
import { findOrigin, findProjectFolder, isWithinProject } from "../model/session-origin.ts";
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

/** Lists decisions, newest first; a sentence that was repeated is listed once, at its last place. */
export async function listDecisions(
  { log, texts, filter, isLeftOut }: DecisionDeps,
  { scope, project, limit = 50, signal }: DecisionOptions,
): Promise<readonly Decision[]> {
  const store = log.store.memory;
  const found = new Map<string, Decision>();
  const projects = new Map<SessionId, ProjectOfSession>();
  // More than asked for, so that the last ones listed can name an earlier one.
  const wanted = 2 * limit;
  for (let skipped = 0; skipped < MAX_LOOKED && found.size < wanted; skipped += CHUNKS_PER_PAGE) {
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
      if (project !== undefined && !isOfProject(origin, project)) continue;
      if (!(await isShown(session, chunk.seq))) continue;
      const text = (await texts.read(chunk)) ?? "";
      const place = { text, session, entry: formatEntryId(session, chunk.seq) };
      for (const own of toDecisions({ ...chunk, ...place })) {
        const one = dropUndefined({ ...own, project: origin.name });
        const key = one.text.toLowerCase();
        if (!found.has(key)) found.set(key, one);
      }
    }
    if (numbers.length < CHUNKS_PER_PAGE) break;
  }
  return linkDecisions([...found.values()]).slice(0, limit);
}

type DecisionText = Pick<SessionHit, "text" | "author" | "session" | "entry" | "at">;

interface ProjectOfSession {
  readonly name?: string | undefined;
  readonly folder?: string | undefined;
}

async function readProject(log: Log, session: SessionId): Promise<ProjectOfSession> {
  const record = await log.store.sessions.get(session);
  return record ? { name: findOrigin(record).project, folder: findProjectFolder(record) } : {};
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
export function putNewestDecisionsFirst(question: string, hits: readonly Hit[]): readonly Hit[] {
  const asked = new Set(analyzeText(question));
  const countAsked = (text: string) => new Set(analyzeText(text).filter((term) => asked.has(term))).size;
  const isOldWanted = asksForOldState(question);
  const own = hits
    .slice(0, MAX_HITS)
    .filter((hit) => hit.kind === "session")
    .sort((left, right) => right.at - left.at || right.seq - left.seq)
    .flatMap(toDecisions);
  if (own.length < 2) return hits;
  const ordered = [...hits];
  for (const { entry, replaces } of linkDecisions(own)) {
    if (!replaces || replaces.entry === entry) continue;
    const placeOf = (wanted: EntryId) =>
      ordered.findIndex((hit) => hit.kind === "session" && hit.entry === wanted);
    const [later, earlier] = [placeOf(entry), placeOf(replaces.entry)];
    const [newer, older] = [ordered[later] as SessionHit, ordered[earlier] as SessionHit];
    if (later < 0 || earlier < 0 || newer.replaces) continue;
    const answers =
      newer.score >= MIN_SCORE_SHARE * older.score && countAsked(newer.text) >= countAsked(older.text);
    const isSwapped = earlier < later && !isOldWanted && answers;
    ordered[isSwapped ? earlier : later] = {
      ...newer,
      replaces,
      score: isSwapped ? older.score : newer.score,
    };
    if (isSwapped) ordered[later] = { ...older, score: newer.score };
  }
  return ordered;
}

function toDecisions({ text, author, session, entry, at }: DecisionText): Decision[] {
  if (author !== "user" && author !== "assistant") return [];
  return findDecisions(text, MIN_LISTED).map(({ from, to, kind }) => {
    return { text: text.slice(from, to), kind, session, entry, at, author };
  });
}

/** Signs that a sentence changes an earlier decision. */
const CHANGES =
  /\b(?:instead|rather than|no longer|not|don['’]t|won['’]t|switch\w*|replac\w*|chang\w*|mov(?:e|ed|ing)|drop\w*|revert\w*|actually|after all|now)\b|改|不再|换|而不是/i;
/** Minimum number of common words of two decisions about one subject, and their share of the shorter one. */
const MIN_COMMON = 3;
const MIN_SHARE = 0.5;
/** Later decisions compared with each; a subject that was not taken up again by then is another one. */
const MAX_COMPARED = 400;

/** Finds the decision that each one overrules; they are in order, newest first. */
function linkDecisions(decisions: readonly Decision[]): Decision[] {
  const terms = decisions.map(({ text }) => new Set(analyzeText(text)));
  const replaces = new Map<number, number>();
  const replacedBy = new Map<number, number>();
  for (const [later, { text, project, entry }] of decisions.entries()) {
    if (!CHANGES.test(text)) continue;
    const own = terms[later] as Set<string>;
    const earlier = decisions.findIndex((one, index) => {
      if (index <= later || index > later + MAX_COMPARED || one.project !== project) return false;
      // Sentences of one message explain each other.
      if (one.entry === entry) return false;
      return !replacedBy.has(index) && isSameSubject(own, terms[index] as Set<string>);
    });
    if (earlier < 0) continue;
    replaces.set(later, earlier);
    replacedBy.set(earlier, later);
  }
  const name = (index: number | undefined): RelatedDecision | undefined => {
    const one = index === undefined ? undefined : decisions[index];
    return one && { text: one.text, entry: one.entry, at: one.at };
  };
  return decisions.map((one, index) => {
    const [before, after] = [name(replaces.get(index)), name(replacedBy.get(index))];
    return { ...one, ...(before && { replaces: before }), ...(after && { replacedBy: after }) };
  });
}

function isSameSubject(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  let common = 0;
  for (const term of left) if (right.has(term)) common++;
  const least = Math.min(left.size, right.size);
  return common >= MIN_COMMON && common >= MIN_SHARE * least && common < Math.max(left.size, right.size);
}
