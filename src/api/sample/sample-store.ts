import { type Kernel, type MessageInput, openKernel, type SessionRecord } from "../../index.ts";
import { SAMPLE_SESSION } from "./sample-session.ts";
import { SAMPLE_STORY, type SampleStep } from "./sample-story.ts";

const MODEL = "claude-sonnet-4-5";
/** Small, so that a conversation of this length meets its limit. */
const WINDOW = 32_000;
const STEP_MS = 45_000;
const REPLY_TOKENS = 240;
const SYSTEM = "You are a careful programmer in the repository of a parcel service.";

/** Where the sample is written; by default a store in memory. */
interface SamplePlace {
  readonly path?: string;
  readonly id?: string;
  readonly meta?: NonNullable<SessionRecord["meta"]>;
}

/**
 * Opens a store with one conversation that ends now, held under the policy of longhaul with all its edits. It is apart
 * from the store of the gateway, so that nothing of it reaches a person's figures or recall.
 */
export async function openSampleStore(place: SamplePlace = {}): Promise<Kernel> {
  const { path = ":memory:", id = SAMPLE_SESSION } = place;
  const { meta = { source: { format: "sample", id }, cwd: "/parcels" } } = place;
  let now = Date.now() - SAMPLE_STORY.length * STEP_MS;
  const clock = { now: () => now };
  const kernel = await openKernel({ path, embedder: null, clock });
  await using session = await kernel.session(id, { title: "Parcels that arrive twice", meta });
  const window = session.window({ model: MODEL, system: SYSTEM, models: { "*": { window: WINDOW } } });
  let cached = 0;
  for (const [index, step] of SAMPLE_STORY.entries()) {
    now += STEP_MS;
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
  return kernel;
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
