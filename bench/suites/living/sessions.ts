import {
  longhaul,
  POLICIES,
  type Policy,
  PROTOCOL,
  type RecordedMessage,
  replay,
} from "../../../src/kernel/faces/window.ts";
import type { Message } from "../../../src/model/message.ts";
import type { Part } from "../../../src/model/part.ts";
import { listReplacedTexts } from "../../../src/window/effects/list-changes.ts";
import type { ChildTask } from "../../child-job.ts";
import { findDataFolder } from "../../real-strings.ts";
import { atLeast, atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { realConversations } from "../window/conversations.ts";
import { type Block, Ledger, openTalk, reply, type Said } from "./talk.ts";

interface Question {
  readonly data: string;
  readonly window: number;
  readonly sessions: number;
}

interface Answer {
  readonly sessions: number;
  /** Edits whose old text was shown before, and those whose old text stood in the request that was answered with them. */
  readonly edits: number;
  readonly whole: number;
  /** Cost through the gateway and in a replay of the same sessions, each next to sending everything. */
  readonly cost: number;
  readonly replayCost: number;
  readonly rewrites: number;
  /** Requests that the provider refused because their thinking was bound to another prefix. */
  readonly refused: number;
}

const CHARACTERS_PER_TOKEN = 3.6;
const MIN_REQUESTS = 100;
const MAX_REQUESTS = 300;
const MIN_CHARACTERS = 20;

/** Sends real coding sessions step by step through a gateway, whose provider answers with the recorded replies. */
export const work: ChildTask<Question, Answer> = async function work(question, { folder }) {
  let went = new Ledger();
  let next: readonly Block[] = [];
  let body = "";
  const talk = await openTalk(folder, question.window, ({ messages }) => {
    body = JSON.stringify(messages);
    const { all, same } = went.take(messages);
    const toTokens = (characters: number) => Math.round(characters / CHARACTERS_PER_TOKEN);
    return reply(next, toTokens(all), toTokens(same));
  });
  const sum = { sessions: 0, edits: 0, whole: 0, cost: 0, costOfAll: 0, rewrites: 0, requests: 0 };
  const replayed = { cost: 0, costOfAll: 0 };
  const none = POLICIES.find(({ name }) => name === "none") as Policy;
  const protocol = { ...PROTOCOL, systemTokens: 60, reserveTokens: 1_000 };
  for await (const recorded of realConversations(question.data, { least: MIN_REQUESTS, every: 1 })) {
    if (sum.sessions === question.sessions) break;
    const said = toMessages(recorded).slice(0, 2 * MAX_REQUESTS);
    if (said.length < 2 * MIN_REQUESTS) continue;
    went = new Ledger();
    const all = new Ledger();
    const person = `session-${sum.sessions++}`;
    for (let index = 1; index < said.length; index += 2) {
      const before = said.slice(0, index).map(({ wire }) => wire);
      const { wire, parts } = said[index] as Turn;
      next = wire.content as readonly Block[];
      all.take(before);
      const { status, text } = await talk.ask(before, { person });
      if (status !== 200) throw new Error(`${person}: status ${status}: ${text.slice(0, 300)}`);
      const shown = JSON.stringify(before);
      for (const old of parts.flatMap((part) => (part.type === "tool-call" ? listReplacedTexts(part) : []))) {
        if (old.trim().length < MIN_CHARACTERS || !contains(shown, old)) continue;
        sum.edits++;
        if (contains(body, old)) sum.whole++;
      }
    }
    sum.cost += went.cost;
    sum.costOfAll += all.cost;
    sum.rewrites += went.rewrites;
    sum.requests += went.requests;
    // All at one time: the cache of a client that waits for nothing is hot.
    const same = said.map(({ wire, parts }, index): RecordedMessage => {
      const isOutput = parts.some(({ type }) => type === "tool-result");
      const message: Message = { role: wire.role === "user" && isOutput ? "tool" : wire.role, parts };
      return { seq: index + 1, at: 0, message };
    });
    replayed.cost += replay(same, longhaul(), question.window, { protocol }).cost;
    replayed.costOfAll += replay(same, none, Number.POSITIVE_INFINITY, { protocol }).cost;
  }
  await talk.close();
  const { sessions, edits, whole } = sum;
  const cost = sum.cost / sum.costOfAll;
  const replayCost = replayed.cost / replayed.costOfAll;
  const rewrites = (100 * sum.rewrites) / sum.requests;
  return { sessions, edits, whole, cost, replayCost, rewrites, refused: talk.refused() };
};

interface Turn {
  readonly wire: Said;
  readonly parts: readonly Part[];
}

/** The text, calls and results of a session as alternating messages, as far as every call has its result. */
function toMessages(recorded: readonly RecordedMessage[]): readonly Turn[] {
  const turns: { wire: Said; parts: Part[] }[] = [];
  for (const { message } of recorded) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const parts = message.parts.filter(({ type }) => /^(?:text|tool-call|tool-result)$/.test(type));
    if (parts.length === 0 || (turns.length === 0 && role === "assistant")) continue;
    const last = turns.at(-1);
    if (last?.wire.role === role) last.parts.push(...parts);
    else turns.push({ wire: { role, content: [] }, parts: [...parts] });
  }
  const isWhole = ({ wire, parts }: Turn, next: Turn | undefined) => {
    const results = new Set(next?.parts.map((part) => part.type === "tool-result" && part.callId));
    return (
      wire.role === "user" || parts.every((part) => part.type !== "tool-call" || results.has(part.callId))
    );
  };
  const end = turns.findIndex((turn, index) => index < turns.length - 1 && !isWhole(turn, turns[index + 1]));
  return turns.slice(0, end < 0 ? undefined : end).map(({ wire, parts }, index, all) => {
    const calls = new Set(all[index - 1]?.parts.map((part) => part.type === "tool-call" && part.callId));
    const own = parts.filter((part) => part.type !== "tool-result" || calls.has(part.callId));
    const sorted = [
      ...own.filter(({ type }) => type === "tool-result"),
      ...own.filter(({ type }) => type !== "tool-result"),
    ];
    return { wire: { ...wire, content: sorted.map(toBlock) }, parts: sorted };
  });
}

function toBlock(part: Part): Block {
  if (part.type === "tool-call")
    return { type: "tool_use", id: part.callId, name: part.name, input: part.input };
  if (part.type !== "tool-result")
    return { type: "text", text: part.type === "text" ? part.text || "-" : "-" };
  const content = part.output.flatMap((one) => (one.type === "text" && one.text ? [{ ...one }] : []));
  return { type: "tool_result", tool_use_id: part.callId, content, ...(part.isError && { is_error: true }) };
}

/** True if a text stands in JSON, or each of its lines does. */
function contains(json: string, text: string): boolean {
  const isIn = (some: string) => json.includes(JSON.stringify(some).slice(1, -1));
  const lines = text.split("\n").map((line) => line.trim());
  return isIn(text) || lines.filter(({ length }) => length > 3).every(isIn);
}

/** Edits with their text, and cost next to sending everything, by window. */
const GOALS: Readonly<Record<number, readonly [number, number]>> = {
  32000: [0.9, 0.4],
  64000: [0.96, 0.58],
  128000: [1, 0.8],
};

/** Real coding sessions through the gateway, next to a replay of the same sessions. */
export const sessions: readonly Measurement[] = Object.entries(GOALS).map(
  ([key, [edits, cost]]): Measurement => {
    const window = Number(key);
    const id = `sessions-${window / 1_000}k`;
    return {
      name: id,
      async *run(bench) {
        const data = findDataFolder();
        if (!data || (bench.isQuick && window > 32_000)) return;
        const question = { data, window, sessions: bench.isQuick ? 2 : 12 };
        const answer = await bench.child(id, import.meta.url, work, question);
        const isJudged = !bench.isQuick;
        yield toRow({
          id: `${id}.edits`,
          value: answer.whole / Math.max(1, answer.edits),
          unit: `of ${answer.edits} edits with their text`,
          ...(isJudged && { goal: atLeast(edits, "") }),
        });
        yield toRow({
          id: `${id}.cost`,
          value: answer.cost,
          unit: "of sending all",
          ...(isJudged && { goal: atMost(cost, "") }),
        });
        yield toRow({ id: `${id}.refused`, value: answer.refused, unit: "requests", goal: atMost(0, "") });
        yield toRow({ id: `${id}.replay`, value: answer.replayCost, unit: "of sending all, replayed" });
        yield toRow({ id: `${id}.rewrites`, value: answer.rewrites, unit: "per 100 requests" });
      },
    };
  },
);
