import { type Kernel, type MessageInput, openKernel, type Session } from "../../index.ts";
import { SAMPLE_SESSION } from "./sample-session.ts";
import { SAMPLE_STORY, type SampleStep } from "./sample-story.ts";

export const SAMPLE_TITLE = "Parcels that arrive twice";
const MODEL = "claude-sonnet-4-5";
/** Small, so that a conversation of this length meets its limit. */
const WINDOW = 32_000;
const STEP_MS = 45_000;
const REPLY_TOKENS = 240;
const SYSTEM = "You are a careful programmer in the repository of a parcel service.";

/**
 * Opens a store in memory with one conversation, held under the policy of longhaul with all its edits. It is apart from
 * the store of the gateway, so that nothing of it reaches a person's figures or recall.
 */
export async function openSampleStore(): Promise<Kernel> {
  let now = Date.now() - SAMPLE_STORY.length * STEP_MS;
  const clock = { now: () => now };
  const kernel = await openKernel({ path: ":memory:", embedder: null, clock });
  await using session = await kernel.session(SAMPLE_SESSION, {
    title: SAMPLE_TITLE,
    meta: { source: { format: "sample", id: SAMPLE_SESSION }, cwd: "/parcels" },
  });
  await writeSample(session, () => {
    now += STEP_MS;
  });
  return kernel;
}

/** Writes the conversation of the sample into a session, with its edits and its usage; `onStep` goes before each step. */
export async function writeSample(session: Session, onStep: () => void): Promise<void> {
  const window = session.window({ model: MODEL, system: SYSTEM, models: { "*": { window: WINDOW } } });
  let cached = 0;
  for (const [index, step] of SAMPLE_STORY.entries()) {
    onStep();
    const [first, ...rest] = toMessages(step, index);
    if (first?.role !== "assistant") {
      if (first) await session.append(first);
      continue;
    }
    const { tokens, plan } = await window.fit();
    const cacheReadTokens = plan ? 0 : Math.min(cached, tokens);
    await session.append(first);
    await window.report({
      inputTokens: 12,
      cacheReadTokens,
      cacheWriteTokens: tokens - cacheReadTokens,
      outputTokens: REPLY_TOKENS,
    });
    cached = tokens;
    for (const message of rest) await session.append(message);
  }
}

function toMessages(step: SampleStep, index: number): readonly MessageInput[] {
  if ("user" in step) return [{ role: "user", text: step.user }];
  if ("agent" in step) return [{ role: "assistant", model: MODEL, text: step.agent }];
  const { tool: name, input, output } = step;
  const callId = `call-${index}`;
  return [
    { role: "assistant", model: MODEL, parts: [{ type: "tool-call", callId, name, input }] },
    { role: "tool", parts: [{ type: "tool-result", callId, name, output }] },
  ];
}
