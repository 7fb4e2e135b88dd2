import type { Message } from "../../../src/kernel/index.ts";
import { longhaul } from "../../../src/window/policies/longhaul.ts";
import { countProtocolTokens, PROTOCOL } from "../../../src/window/replay/protocol.ts";
import type { ChildTask } from "../../child-job.ts";
import { type Corpus, openCorpus } from "../../corpus.ts";
import { megabytes, settledMemory } from "../../measure/memory.ts";
import { median, percentile } from "../../measure/percentile.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";

interface Question {
  readonly messages: number;
  /** First timed call; earlier calls warm up V8. */
  readonly timedFrom: number;
  /** Lengths at which the heap is read. */
  readonly marks: readonly number[];
}

interface Answer {
  /** CPU of every call, of calls that rebuilt the window, and of observing a message. */
  readonly callMs: { readonly median: number; readonly p99: number };
  readonly rebuildMs: { readonly median: number; readonly p99: number; readonly worst: number };
  readonly rebuilds: number;
  readonly observeMs: { readonly mean: number; readonly p99: number };
  readonly heapBytes: readonly number[];
}

const WINDOW = 200_000;
const RESULT_MESSAGES = 3;
/** The provider's cache expires once in this many calls. */
const COLD_EVERY = 40;

/** Plans every call of a long session and records CPU and heap. */
export const planCalls: ChildTask<Question, Answer> = async function planCalls(
  { messages, timedFrom, marks },
  { corpusFolder },
) {
  const corpus = openCorpus(corpusFolder);
  const limits = {
    window: WINDOW,
    tokens: WINDOW - PROTOCOL.reserveTokens,
    system: PROTOCOL.systemTokens,
  };
  const run = longhaul().start(limits, countProtocolTokens);
  const calls: number[] = [];
  const rebuilds: number[] = [];
  const observed: number[] = [];
  const heapBytes: number[] = [];
  for (let index = 0; index < messages; index++) {
    const message = messageAt(corpus, index);
    const slot = { seq: index + 1, at: index, message, tokens: countProtocolTokens(message) };
    if (message.role === "assistant") {
      const tookMs = cpuMsOf(() => run.fit({ isHot: index % (2 * COLD_EVERY) !== 1 }));
      if (index >= timedFrom && index < timedFrom + 10_000) {
        calls.push(tookMs);
        if (run.reason !== undefined) rebuilds.push(tookMs);
      }
    }
    const tookMs = cpuMsOf(() => run.observe(slot));
    if (index >= timedFrom && index < timedFrom + 10_000) observed.push(tookMs);
    if (marks.includes(index + 1)) heapBytes.push((await settledMemory()).heapBytes);
  }
  return {
    callMs: { median: median(calls), p99: percentile(calls, 0.99) },
    rebuildMs: { median: median(rebuilds), p99: percentile(rebuilds, 0.99), worst: Math.max(...rebuilds) },
    rebuilds: rebuilds.length,
    observeMs: {
      mean: observed.reduce((sum, one) => sum + one, 0) / observed.length,
      p99: percentile(observed, 0.99),
    },
    heapBytes,
  };
};

/** Messages of a working agent: calls that refer to earlier reads, and results of a few thousand characters. */
function messageAt(corpus: Corpus, index: number): Message {
  if (index === 0) return { role: "user", parts: [{ type: "text", text: corpus.message(0).text }] };
  const step = Math.floor((index + 1) / 2);
  const path = `src/part_${step % 97}.ts`;
  if (index % 2 === 1) {
    const quoted = corpus.message(Math.max(0, step - 5) * RESULT_MESSAGES).text.slice(0, 300);
    const input = { file_path: path, old_string: quoted };
    return {
      role: "assistant",
      parts: [{ type: "tool-call", callId: `${step}`, name: step % 4 === 0 ? "edit" : "read", input }],
    };
  }
  const from = step * RESULT_MESSAGES;
  const text = corpus
    .messages(from, from + RESULT_MESSAGES)
    .map((message) => message.text)
    .join("\n");
  const output = [{ type: "text", text }] as const;
  return { role: "tool", parts: [{ type: "tool-result", callId: `${step}`, output }] };
}

function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Cost of planning one call: CPU in a long session, and heap, which must not grow with the session's length. */
export const planning: Measurement = {
  name: "planning",
  async *run(bench) {
    const [small, large] = bench.isQuick ? [3_000, 6_000] : [10_000, 50_000];
    const question = { messages: large, timedFrom: bench.isQuick ? 2_000 : 5_000, marks: [small, large] };
    const answer = await bench.child("planning", import.meta.url, planCalls, question);
    const { callMs, rebuildMs, rebuilds, observeMs, heapBytes } = answer;
    const limit = atMost(10, "ms");
    yield toRow({ id: "planning.call.median", value: callMs.median, unit: "ms of CPU", goal: limit });
    yield toRow({ id: "planning.call.p99", value: callMs.p99, unit: "ms of CPU", goal: limit });
    yield toRow({ id: "planning.rebuild.median", value: rebuildMs.median, unit: "ms of CPU", goal: limit });
    yield toRow({ id: "planning.rebuild.p99", value: rebuildMs.p99, unit: "ms of CPU" });
    yield toRow({ id: "planning.rebuild.worst", value: rebuildMs.worst, unit: `ms of CPU, of ${rebuilds}` });
    yield toRow({ id: "planning.observe.mean", value: observeMs.mean, unit: "ms of CPU" });
    yield toRow({ id: "planning.observe.p99", value: observeMs.p99, unit: "ms of CPU" });
    yield toRow({
      id: "planning.heap",
      value: megabytes((heapBytes[1] ?? 0) - (heapBytes[0] ?? 0)),
      unit: `MB from ${small} to ${large} messages`,
      goal: atMost(4, "MB"),
    });
  },
};
