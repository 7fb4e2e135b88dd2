import type { Bench } from "../../bench.ts";
import type { ChildPlace } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { megabytes } from "../../measure/memory.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { type Client, expectWhole, openClient } from "./client.ts";
import { openContestant } from "./contestant.ts";
import type { Used } from "./contestant-job.ts";
import { Conversation } from "./conversation.ts";
import { streamed, turnOf, usageOf } from "./reply.ts";
import { openUpstream } from "./upstream.ts";

interface Load {
  readonly sessions: number;
  readonly turns: number;
  readonly resultBytes: number;
}

interface Held {
  readonly start: Used;
  readonly end: Used;
  readonly settled: Used;
  /** Requests and replies with a word of another session. */
  readonly mixed: number;
  /** All requests, and those that have lost content of their own. */
  readonly requests: number;
  readonly edited: number;
}

const MARK = /mark-\d+-of/g;

/**
 * Many concurrent sessions that all wait for their next turn at the same time. Half of them name their session; the
 * other half belong to users with separate keys who begin with the same words.
 */
export async function talkAtOnce(load: Load, place: ChildPlace): Promise<Held> {
  let mixed = 0;
  let edited = 0;
  let requests = 0;
  const upstream = await openUpstream(({ headers, body }) => {
    const own = String(headers["x-bench-mark"]);
    const turn = String(headers["x-bench-turn"]);
    const bytes = body();
    requests++;
    if (isMixed(bytes.toString("latin1"), own)) mixed++;
    if (bytes.length !== Number(headers["x-bench-bytes"])) edited++;
    const said = turnOf(turn);
    return streamed({ ...said, text: `${own} ${said.text}` }, usageOf(bytes.length));
  });
  // The window is small, so that it is edited towards the end and replaced content is checked too.
  const config = { models: { bench: { window: 12_000 } } };
  const gateway = await openContestant({
    type: "gateway",
    upstream: upstream.url,
    folder: place.folder,
    config,
  });
  const start = await gateway.used();
  const client = openClient(load.sessions);
  const corpus = openCorpus(place.corpusFolder);
  const mixedAnswers = await Promise.all(
    Array.from({ length: load.sessions }, (_, session) => talk(load, client, gateway.url, corpus, session)),
  );
  const end = await gateway.used();
  const settled = await gateway.settled();
  client.close();
  await gateway.close();
  upstream.close();
  const sum = mixedAnswers.reduce((all, one) => all + one, 0);
  return { start, end, settled, mixed: mixed + sum, requests, edited };
}

/** Runs a whole session; returns the number of replies of other sessions. */
async function talk(
  { turns, resultBytes }: Load,
  client: Client,
  url: string,
  corpus: Corpus,
  session: number,
): Promise<number> {
  const isNamed = session % 2 === 0;
  const mark = `mark-${session}-of`;
  const task = isNamed ? `Begin with ${mark}.` : "Read the project, please.";
  const conversation = new Conversation(corpus, { seed: session, systemBytes: 1_000, tools: 2, task });
  let mixed = 0;
  for (let turn = 0; turn < turns; turn++) {
    const body = conversation.body();
    const name = `${session}x${turn}`;
    const own = { "x-bench-turn": name, "x-bench-mark": mark, "x-bench-bytes": String(body.length) };
    const who = isNamed
      ? { "x-claude-code-session-id": `session-${session}` }
      : { "x-api-key": `key-${mark}` };
    const answer = expectWhole(await client.ask(url, body, { ...own, ...who })).text();
    if (isMixed(answer, mark) || !answer.includes(mark)) mixed++;
    const said = turnOf(name);
    conversation.answered({ ...said, text: `${mark} ${said.text}` }, resultBytes, `${mark} `);
  }
  return mixed;
}

function isMixed(text: string, own: string): boolean {
  for (const [mark] of text.matchAll(MARK)) if (mark !== own) return true;
  return false;
}

/** Memory of the gateway for 1,000 concurrent sessions of 20 turns, and whether content leaks between sessions. */
export const sessions: Measurement = {
  name: "sessions",
  async *run(bench: Bench) {
    const count = bench.isQuick ? 100 : 1_000;
    const load = { sessions: count, turns: 20, resultBytes: 2_000 };
    const held = await bench.child(`${count} at once`, import.meta.url, talkAtOnce, load);
    const memory = (id: string, bytes: number, goal?: number) =>
      toRow({
        id: `sessions.rss.${id}`,
        value: megabytes(bytes),
        unit: `MB, ${count} sessions`,
        ...(goal !== undefined && { goal: atMost(goal, "MB") }),
      });
    yield memory("start", held.start.rssBytes);
    yield memory("peak", held.end.peakRssBytes, 350);
    yield memory("after", held.settled.rssBytes, 200);
    yield toRow({
      id: "sessions.mixed",
      value: held.mixed,
      unit: `of ${held.requests}`,
      goal: atMost(0, ""),
    });
    yield toRow({ id: "sessions.edited", value: held.edited, unit: `of ${held.requests}` });
    const cpuMs = (held.end.cpuMs - held.start.cpuMs) / held.requests;
    yield toRow({ id: "sessions.cpu", value: cpuMs, unit: "ms a request" });
  },
};
