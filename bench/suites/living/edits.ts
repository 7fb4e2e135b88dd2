import { openKernel } from "../../../src/kernel/index.ts";
import type { ChildTask } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { type Block, Ledger, openTalk, reply, type Said } from "./talk.ts";

/** Edits of a conversation: how many there were, and how many came on turns in a row at most. */
interface Edits {
  readonly turns: number;
  readonly edits: number;
  readonly inARow: number;
}

/** A conversation in which little of the window is free, because something large never leaves it. */
interface Cramped {
  readonly name: string;
  readonly window: number;
  readonly maxOutput: number;
  readonly turns: number;
  /** Tokens that never leave: the first message, the system prompt, or a pinned message. */
  readonly first?: number;
  readonly system?: number;
  readonly pin?: number;
  /** True if turns are paragraphs instead of a few recurring words. */
  readonly isProse?: boolean;
  /** True if the provider reports no cache. */
  readonly isSilent?: boolean;
}

const IN_32K = { window: 32_000, maxOutput: 4_000, turns: 110 };

const CRAMPED: readonly Cramped[] = [
  { ...IN_32K, name: "first-21k", first: 21_000 },
  { ...IN_32K, name: "system-21k", system: 21_000 },
  { ...IN_32K, name: "system-24k", system: 24_000 },
  { ...IN_32K, name: "pin-13k", pin: 13_000 },
  { ...IN_32K, name: "pin-17k", pin: 17_000 },
  { ...IN_32K, name: "pin-21k", pin: 21_000 },
  ...[8_192, 16_384, 32_768].map((window) => ({
    name: `prose-${window / 1_024}k`,
    window,
    maxOutput: 1_000,
    turns: 150,
    isProse: true,
    isSilent: true,
  })),
];

/** A conversation through one handle, which lives as long as the conversation. */
export const liveCramped: ChildTask<Cramped, Edits> = async function liveCramped(cramped, { corpusFolder }) {
  const { window, maxOutput, turns, first = 0, system, pin = 0, isProse = false, isSilent = false } = cramped;
  const corpus = openCorpus(corpusFolder);
  const prices = isSilent ? {} : { prices: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } };
  await using kernel = await openKernel({
    path: ":memory:",
    models: { bench: { window, maxOutput, ...prices } },
  });
  const session = await kernel.session("cramped");
  const say = (role: "user" | "assistant", text: string) => session.append({ role, text });
  await say("user", `Let us begin. ${filler(first)}`);
  await say("assistant", "Yes.");
  if (pin > 0) {
    const { seq } = await say("user", filler(pin));
    await session.pin(seq);
    await say("assistant", "I keep it.");
  }
  const live = session.window({ model: "bench", oversize: "clip", ...(system !== undefined && { system }) });
  const counted = counter();
  for (let turn = 0; turn < turns; turn++) {
    const text = (half: number) => (isProse ? prose(corpus, 2 * turn + half) : recurring(2 * turn + half));
    await say("user", `Question ${turn}: ${text(0)}`);
    const { plan, tokens } = await live.fit();
    counted.take(plan === undefined ? 0 : 1);
    const usage = isSilent ? { inputTokens: tokens } : { inputTokens: 3, cacheReadTokens: tokens };
    await live.report({ ...usage, outputTokens: 100 });
    await say("assistant", `Answer ${turn}: ${text(1)}`);
  }
  return counted.edits();
};

/** The same through the gateway: a first message of 21,000 tokens in a window of 32,768. */
export const liveCrampedThrough: ChildTask<{ readonly turns: number }, Edits> =
  async function liveCrampedThrough({ turns }, { folder, corpusFolder }) {
    const corpus = openCorpus(corpusFolder);
    const talk = await openTalk(folder, 32_768, ({ bytes }) =>
      reply([{ type: "text", text: "Noted." }], Math.round(bytes / BYTES_PER_TOKEN)),
    );
    const counted = counter();
    const messages: Said[] = [{ role: "user", content: `Here is the document. ${filler(21_000)}` }];
    let before = 0;
    for (let turn = 0; turn < turns; turn++) {
      const { status, text } = await talk.ask(messages);
      if (status !== 200) throw new Error(`turn ${turn}: status ${status}: ${text.slice(0, 300)}`);
      const edits = await talk.edits();
      counted.take(edits - before);
      before = edits;
      messages.push(
        { role: "assistant", content: "Noted." },
        { role: "user", content: `Question ${turn}: ${prose(corpus, turn)} ${recurring(turn)}` },
      );
    }
    await talk.close();
    return counted.edits();
  };

function counter() {
  let [turns, edits, run, inARow] = [0, 0, 0, 0];
  return {
    take(made: number) {
      turns++;
      edits += made;
      run = made > 0 ? run + 1 : 0;
      inARow = Math.max(inARow, run);
    },
    edits: (): Edits => ({ turns, edits, inARow }),
  };
}

const FILLER_TOKENS = 3.76;

/** Text of about so many tokens. */
function filler(tokens: number): string {
  return "alpha beta gamma delta ".repeat(Math.ceil(tokens / FILLER_TOKENS));
}

const RECURRING = "deploy server config module function return value error token window".split(" ");

/** A hundred words that come again in every turn, so that each turn looks like many before it. */
function recurring(turn: number): string {
  return Array.from({ length: 100 }, (_, index) => {
    const word = RECURRING[(turn * 3 + index * 7) % RECURRING.length];
    return index % 5 === 0 ? `${word} ${(turn * index) % 997}` : word;
  }).join(" ");
}

function prose(corpus: Corpus, index: number): string {
  return corpus.message(index).text.slice(0, 800).toWellFormed();
}

/** Share of the window that a whole session needs which is never over the limit. */
const FULL = 0.7;
const BYTES_PER_TOKEN = 4.2;

/**
 * A session of an agent with a provider that keeps the prefix and reports nothing of it, as servers of local models do.
 * Without any edit it would fill 70 % of the window at its end. Edits are requests that changed an earlier message.
 */
export const workSilently: ChildTask<{ readonly calls: number; readonly window: number }, Edits> =
  async function workSilently({ calls, window }, { folder, corpusFolder }) {
    const resultBytes = (FULL * window * BYTES_PER_TOKEN) / (calls * SHARE_OF_RESULTS);
    const corpus = openCorpus(corpusFolder);
    const ledger = new Ledger();
    const counted = counter();
    let step = 0;
    const talk = await openTalk(folder, window, ({ messages, bytes }) => {
      const before = ledger.rewrites;
      ledger.take(messages);
      counted.take(ledger.rewrites - before);
      const tokens = Math.round(bytes / BYTES_PER_TOKEN);
      return reply([{ type: "text", text: `Step ${step}.` }, callOf(step)], tokens);
    });
    const messages: Said[] = [{ role: "user", content: "Find out why the tests fail, and mend it." }];
    for (step = 0; step < calls; step++) {
      const { status, text, content } = await talk.ask(messages, { fields: { tools: TOOLS } });
      if (status !== 200) throw new Error(`call ${step}: status ${status}: ${text.slice(0, 300)}`);
      const output = resultOf(corpus, step, resultBytes);
      const result = { type: "tool_result", tool_use_id: `call_${step}`, content: output };
      messages.push({ role: "assistant", content }, { role: "user", content: [result] });
    }
    await talk.close();
    return counted.edits();
  };

const TOOLS = ["Read", "Bash", "Edit", "Grep"].map((name) => ({
  name,
  description: name,
  input_schema: { type: "object" },
}));

/** Reads, searches, edits and test runs; the same files come up again. */
function callOf(step: number): Block {
  const path = `/repo/src/part-${step % 7}.ts`;
  const [name, input] = [
    ["Read", { file_path: path }] as const,
    ["Grep", { pattern: `handle${step}` }] as const,
    ["Edit", { file_path: path, old_string: `one ${step}`, new_string: `two ${step}` }] as const,
    ["Bash", { command: "npm test" }] as const,
  ][step % 4] as readonly [string, object];
  return { type: "tool_use", id: `call_${step}`, name, input };
}

/** Three of four calls have a long result. */
const SHARE_OF_RESULTS = 0.75;

function resultOf(corpus: Corpus, step: number, bytes: number): string {
  if (step % 4 === 2) return "The file was changed.";
  let text = "";
  for (let index = 1_000 * step; text.length < bytes; index++) text += `${corpus.message(index).text}\n`;
  return text.slice(0, bytes).toWellFormed();
}

/** Edits per 100 calls of an agent with a provider that reports no cache, below the limit. */
export const silent: Measurement = {
  name: "silent",
  async *run(bench) {
    const sessions = [
      { window: 64_000, calls: 60 },
      { window: 200_000, calls: 100 },
    ];
    for (const session of bench.isQuick ? sessions.slice(0, 1) : sessions) {
      const id = `silent.${session.window / 1_000}k`;
      const { edits, turns } = await bench.child(id, import.meta.url, workSilently, session);
      const value = (100 * edits) / turns;
      yield toRow({ id: `${id}.edits`, value, unit: "per 100 calls", goal: atMost(5, "") });
    }
  },
};

/** Edits on turns in a row, where something large never leaves the window and pages fill the rest. */
export const loops: Measurement = {
  name: "loops",
  async *run(bench) {
    const some = bench.isQuick ? CRAMPED.filter((_, index) => index % 4 === 0) : CRAMPED;
    for (const cramped of some) {
      const edits = await bench.child(cramped.name, import.meta.url, liveCramped, cramped);
      yield* rowsOf(`loops.${cramped.name}`, edits, cramped.name === "first-21k" ? 8 : undefined);
    }
    if (bench.isQuick) return;
    const through = await bench.child("gateway", import.meta.url, liveCrampedThrough, { turns: 121 });
    yield* rowsOf("loops.gateway-21k", through);
  },
};

function* rowsOf(id: string, { turns, edits, inARow }: Edits, most?: number) {
  yield toRow({ id: `${id}.row`, value: inARow, unit: "edits in a row", goal: atMost(1, "") });
  const goal = most === undefined ? {} : { goal: atMost(most, "") };
  yield toRow({ id: `${id}.edits`, value: edits, unit: `in ${turns} turns`, ...goal });
}
