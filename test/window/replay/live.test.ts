import { describe, expect } from "vitest";
import {
  countProtocolTokens,
  POLICIES,
  type Policy,
  PROTOCOL,
  type RecordedMessage,
  replay,
  type Tokenizer,
} from "../../../src/kernel/faces/window.ts";
import type { Kernel, Message } from "../../../src/kernel/index.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";

const MODEL = "some-model";
const PAUSE_MS = 2 * PROTOCOL.cacheMs;

const lines = (turn: number, count: number) =>
  Array.from(
    { length: count },
    (_, line) => `${line + 1}\texport const value_${turn}_${line} = ${turn};`,
  ).join("\n");

/** A coding session like recorded ones: questions, reads, repeated reads, and answers. */
function recording(steps: number): readonly Message[] {
  const messages: Message[] = [];
  for (let step = 0; step < steps; step++) {
    if (step % 6 === 0) {
      if (step > 0)
        messages.push({
          role: "assistant",
          parts: [{ type: "text", text: `Done with ${step}. ${lines(step, 9)}` }],
        });
      messages.push({ role: "user", parts: [{ type: "text", text: `Now do ${step}. ${lines(step, 12)}` }] });
    }
    const callId = `call_${step}`;
    const input = { path: `src/part${step % 11}.ts` };
    messages.push(
      { role: "assistant", parts: [{ type: "tool-call", callId, name: CALL_NAME, input }] },
      {
        role: "tool",
        parts: [{ type: "tool-result", callId, output: [{ type: "text", text: lines(step % 11, 120) }] }],
      },
    );
  }
  return messages;
}

const CALL_NAME = "read_file";
const MESSAGE_FRAME = 4;
const PART_FRAME = 12;
const PROTOCOL_CALL = 50;

/**
 * Counts like the protocol, after subtracting the framing that estimates add: every message of the recording has one
 * part, and only results begin with a digit or a bracket.
 */
const tokenizer: Tokenizer = {
  name: "o200k_base",
  count(text) {
    if (text === CALL_NAME) return PROTOCOL_CALL - PART_FRAME - MESSAGE_FRAME;
    const isResult = /^[\d[]/.test(text);
    const isInput = text.startsWith("{");
    return Math.ceil(text.length / 4) - (isInput ? 0 : MESSAGE_FRAME) - (isResult ? PART_FRAME : 0);
  },
};

/** Messages as JSON and their tokens; windows repeat the same objects in hundreds of requests. */
const known = new WeakMap<Message, { readonly json: string; readonly tokens: number }>();

function measure(message: Message) {
  const found = known.get(message) ?? { json: JSON.stringify(message), tokens: countProtocolTokens(message) };
  known.set(message, found);
  return found;
}

interface LiveRun {
  readonly said: readonly RecordedMessage[];
  /** The messages of each request. */
  readonly sent: readonly (readonly string[])[];
  readonly reasons: readonly string[];
}

/** Sends a request before every reply through `session.window()`, with a provider that counts like the protocol. */
async function runLive(
  kernel: Kernel,
  policy: Policy,
  recorded: readonly Message[],
  { isReopened }: { readonly isReopened: boolean },
): Promise<LiveRun> {
  const session = await kernel.session();
  const open = () =>
    session.window({
      model: MODEL,
      policy,
      tokenizer,
      system: PROTOCOL.systemTokens,
      reserveTokens: PROTOCOL.reserveTokens,
      paging: false,
    });
  let window = open();
  const said: RecordedMessage[] = [];
  const sent: (readonly string[])[] = [];
  const reasons: string[] = [];
  let lastRequestAt: number | undefined;
  for (const [index, message] of recorded.entries()) {
    if (message.role === "assistant") {
      const at = said.at(-1)?.at ?? 0;
      const isHot = lastRequestAt === undefined || at - lastRequestAt <= PROTOCOL.cacheMs;
      if (isReopened && sent.length % 7 === 0) window = open();
      const { messages, plan } = await window.fit({ cache: isHot ? "hot" : "cold" });
      if (plan) reasons.push(plan.reason);
      sent.push(messages.map((one) => measure(one).json));
      const inputTokens = messages.reduce((sum, one) => sum + measure(one).tokens, PROTOCOL.systemTokens);
      await window.report({ inputTokens, outputTokens: 20 });
      lastRequestAt = at;
    }
    const { seq } = await session.append(message);
    said.push({ seq, at: index * 1_000 + Math.floor(index / 50) * PAUSE_MS, message });
  }
  return { said, sent, reasons };
}

function runReplay(policy: Policy, said: readonly RecordedMessage[], window: number) {
  const sent: (readonly string[])[] = [];
  replay(said, policy, window, {
    onRequest: ({ window: slots }) => sent.push(slots.map(({ message }) => measure(message).json)),
  });
  return sent;
}

/** Windows in which the constants of each policy are decisive, not the maximum request size. */
const PEERS = {
  cline: [64_000, 100_000, 128_000],
  roo: [32_000, 64_000, 128_000],
  openclaw: [32_000, 64_000, 128_000],
  "anthropic-clear": [64_000, 128_000],
} as const;
const CASES = Object.entries(PEERS).flatMap(([name, windows]) =>
  windows.flatMap((window) => [false, true].map((isReopened) => ({ name, window, isReopened }))),
);

describe("a live window", () => {
  sizedTest.each(proofCases(CASES, 2))(
    "a live window of $window tokens under $name sends what a replay sends (reopened: $isReopened)",
    async ({ name, window, isReopened }) => {
      const policy = POLICIES.find((one) => one.name === name) as Policy;
      const models = { [MODEL]: { window, maxOutput: 8_000 } };
      const kernel = await testKernel({ path: ":memory:", models });
      const { said, sent, reasons } = await runLive(kernel, policy, recording(window / 520), { isReopened });
      const replayed = runReplay(policy, said, window);
      expect(sent).toHaveLength(replayed.length);
      for (const [at, messages] of sent.entries())
        expect({ at, messages }).toEqual({ at, messages: replayed[at] });
      expect(reasons.length).toBeGreaterThan(0);
      // The policy's name alone would be meaningless as a reason.
      expect(reasons).not.toContain(name);
    },
  );
});
