import type { Log } from "../../../src/log/log.ts";
import type { SessionHit } from "../../../src/recall/hit.ts";
import type { Memory } from "../../../src/recall/memory.ts";
import { rankSessions } from "../../../src/recall/rank/rank-sessions.ts";
import type { RankedHit } from "../../../src/recall/rank/rank-turns.ts";
import type { DatedText } from "./answerable.ts";
import { openRecall } from "./open-recall.ts";
import type { Item } from "./question.ts";

/** Indexes of items, and sessions, best first. */
export interface Orders {
  readonly turns: readonly number[];
  readonly sessions: readonly number[];
}

/** The items of one scope as sessions of a log, with recall over them. */
export interface RememberedItems {
  readonly log: Log;
  readonly memory: Memory;
  setNow(ms: number): void;
  /** Time of the last item. */
  readonly endMs: number;
  /** The index of the item that an entry holds. */
  placeOf(session: string, seq: number): number | undefined;
  recall(
    question: string,
    askedAtMs: number | null,
  ): Promise<Orders & { readonly texts: readonly DatedText[] }>;
  close(): Promise<void>;
}

/** More than there are candidates. */
const ALL_HITS = 1_000;
/** For data sets without dates: times of the log, a minute apart. */
const FIRST_MS = Date.UTC(2024, 0, 1);
const APART_MS = 60_000;

/** Appends items as messages, with their roles, speakers and times, and indexes them as the product does. */
export async function rememberItems(items: readonly Item[]): Promise<RememberedItems> {
  const { log, memory, setNow, close } = await openRecall();
  const places = new Map<string, number>();
  const times = items.map(({ atMs }, place) => atMs ?? FIRST_MS + place * APART_MS);
  const sessions = Map.groupBy(
    items.map((item, place) => ({ item, place })),
    ({ item }) => item.session,
  );
  for (const [session, said] of sessions) {
    const id = String(session);
    await log.store.sessions.open({ id, createdAt: 1 });
    const ready = await Promise.all(
      said.map(async ({ item: { role, text, speaker }, place }) => {
        const message = { role, text, ...(speaker !== null && { meta: { speaker } }) };
        return { ...(await log.prepare(message)), at: times[place] as number };
      }),
    );
    const entries = await log.append(id, ready);
    for (const [index, { seq }] of entries.entries())
      places.set(`${id} ${seq}`, said[index]?.place as number);
  }
  await memory.catchUp();
  const end = times.reduce((latest, time) => Math.max(latest, time), 0);
  return {
    log,
    memory,
    setNow,
    endMs: end,
    placeOf: (session, seq) => places.get(`${session} ${seq}`),
    async recall(question, askedAtMs) {
      setNow(askedAtMs ?? end);
      const { hits } = await memory.recall(question, { k: ALL_HITS });
      const found = hits.filter((hit): hit is SessionHit => hit.kind === "session");
      const ranked = found.map(({ session, seq, score, parts }) => ({
        id: places.get(`${session} ${seq}`) as number,
        session: Number(session),
        chunk: null,
        score,
        parts: parts as RankedHit["parts"],
      }));
      return {
        turns: ranked.map(({ id }) => id),
        sessions: rankSessions(ranked).map(({ session }) => session),
        texts: found.map(({ text, at }) => ({ text, atMs: at })),
      };
    },
    close,
  };
}
