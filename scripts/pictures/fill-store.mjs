// Fills a store with the conversations, memories and edits of the pictures. Nothing in it is anybody's.

import { openKernel } from "../../src/kernel/index.ts";
import { openSampleStore, renderServiceLog } from "../../src/server/api/sample/sample-services.ts";
import { MEMORIES, STORIES } from "./stories.mjs";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The conversation that most pictures show: the bundled sample, as if Claude Code had just held it. */
export const MAIN_SESSION = "claude-code/7c0f2a4e-51d3-4b8e-9d10-0000000000ff";

/** Writes everything; returns the seqs of the edits of the main conversation, oldest first. */
export async function fillStore(path) {
  const edits = await writeMain(path);
  let now = 0;
  const kernel = await openKernel({ path, clock: { now: () => Math.min(now, Date.now()) } });
  for (const story of STORIES.toReversed()) {
    now = Date.now() - story.daysAgo * DAY_MS - 3 * 60 * MINUTE_MS;
    await writeStory(kernel, story, (minutes) => {
      now += minutes * MINUTE_MS;
    });
  }
  now = Date.now();
  const memories = kernel.memories();
  for (const [by, text] of MEMORIES.toReversed()) await memories.remember(text, { by });
  await kernel.memory.catchUp();
  await kernel.close();
  return edits;
}

async function writeMain(path) {
  const meta = describeSource(MAIN_SESSION, "claude-code", "parcels");
  const kernel = await openSampleStore({ path, id: MAIN_SESSION, meta });
  const session = await kernel.session(MAIN_SESSION);
  const edits = (await session.overlays.list(1_000)).filter(({ entry }) => entry.edit.type === "plan");
  await kernel.close();
  return edits.map(({ entry }) => entry.seq).toReversed();
}

function describeSource(id, agent, project) {
  const [, own] = id.split("/");
  return { source: { format: agent, id: own, path: `/srv/${own}`, cwd: `/srv/${project}` } };
}

async function writeStory(kernel, { id, title, agent, project, model, requests }, pass) {
  const meta = describeSource(id, agent, project);
  await using session = await kernel.session(id, { title, meta });
  const window = session.window({ model, system: "You are a careful programmer." });
  let cached = 0;
  for (let request = 1; request <= 2 * requests; request++) {
    pass(3);
    if (request % 4 === 1) await session.append({ role: "user", text: `${title}. Step ${request}, please.` });
    const { tokens, plan } = await window.fit();
    const callId = `call-${request}`;
    const hour = (request * 7) % 24;
    const name = "shell";
    const input = { command: `journalctl -u ${project} --since ${hour}:00 --until ${hour + 1}:00` };
    await session.append({ role: "assistant", model, parts: [{ type: "tool-call", callId, name, input }] });
    const cacheReadTokens = plan ? Math.min(cached, Math.round(tokens / 4)) : cached;
    await window.report({
      inputTokens: 20,
      cacheReadTokens: Math.min(cacheReadTokens, tokens),
      cacheWriteTokens: Math.max(0, tokens - cacheReadTokens),
      outputTokens: 400 + 60 * (request % 7),
    });
    cached = tokens;
    const output = renderServiceLog(hour, 120 + 45 * (request % 5));
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId, name, output }] });
  }
  await session.append({ role: "assistant", model, text: `Done: ${title.toLowerCase()}. All tests pass.` });
}
