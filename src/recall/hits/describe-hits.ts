import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import { findHistoryPlace, findOrigin, type HistoryPlace } from "../../model/session-origin.ts";
import type { Hit, Recall, SessionHit } from "../hit.ts";
import type { HitDetails, WorkStretch } from "../hit-details.ts";
import type { RankContext } from "../rank/turn-candidate.ts";
import { describeLikelihood } from "./likelihood.ts";
import { findMatchedSentence } from "./matched-sentence.ts";
import { readWork } from "./read-work.ts";

type SessionDetails = Pick<HitDetails, "title" | "agent" | "project">;

/**
 * Adds details to the first `count` hits. Reads each session once, and the messages around each hit, unless another hit
 * is among them.
 */
export async function describeHits(
  log: Log,
  question: string,
  recall: Pick<Recall, "hits" | "certainty">,
  { statistics }: Pick<RankContext, "statistics">,
  count = Number.POSITIVE_INFINITY,
): Promise<readonly Hit[]> {
  const weightOf = (term: string) => Math.log(2 + statistics.chunks / (1 + statistics.frequencyOf(term)));
  const sessions = new Map<SessionId, SessionDetails>();
  const stretches = new Map<SessionId, WorkStretch[]>();
  const described: Hit[] = [];
  for (const hit of recall.hits.slice(0, count)) {
    const found = findMatchedSentence(question, hit.text, weightOf);
    const facts = { likelihood: describeLikelihood(hit, recall), ...(found && { sentence: found }) };
    if (hit.kind === "file") {
      described.push({ ...hit, details: facts });
      continue;
    }
    const { session, author } = hit;
    const about = sessions.get(session) ?? (await describeSession(log, session));
    sessions.set(session, about);
    const work = author === "none" ? undefined : await readWorkOnce(log, hit, stretches);
    described.push({ ...hit, details: { ...about, ...facts, ...(work && { work }) } });
  }
  return [...described, ...recall.hits.slice(described.length)];
}

/** Reads the work around a hit, unless it is the same as that of an earlier one. */
async function readWorkOnce(
  log: Log,
  { session, seq }: SessionHit,
  stretches: Map<SessionId, WorkStretch[]>,
): Promise<WorkStretch> {
  const known = stretches.get(session) ?? [];
  const same = known.find(({ from, to }) => from <= seq && seq <= to);
  if (same) return same;
  const work = await readWork(log, session, seq);
  stretches.set(session, [...known, work]);
  return work;
}

/** Adds to hits where the histories lay that their sessions were imported from. */
export async function addPlaces(log: Log, hits: readonly Hit[]): Promise<readonly Hit[]> {
  const ids = new Set(hits.flatMap((hit) => (hit.kind === "session" ? [hit.session] : [])));
  const places = new Map<SessionId, HistoryPlace>();
  const find = async (id: SessionId) => {
    const record = await log.store.sessions.get(id);
    const place = record && findHistoryPlace(record);
    if (place) places.set(id, place);
  };
  await Promise.all([...ids].map(find));
  return hits.map((hit) => {
    const place = hit.kind === "session" ? places.get(hit.session) : undefined;
    return place ? { ...hit, place } : hit;
  });
}

async function describeSession(log: Log, session: SessionId): Promise<SessionDetails> {
  const record = await log.store.sessions.get(session);
  if (!record) return {};
  const { title } = record;
  return { ...(title !== undefined && { title }), ...findOrigin(record) };
}
