import { openKernel } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";

const DAY_MS = 86_400_000;

/** A conversation of the test store. */
interface Story {
  readonly id: string;
  readonly title: string;
  readonly agent: string;
  readonly project: string;
  readonly model: string;
  readonly daysAgo: number;
  readonly requests: number;
}

export const STORIES: readonly Story[] = [
  ["claude-code", "parcels", "claude-sonnet-4-5", "Fix the double charge at checkout", 0, 14],
  ["codex", "atlas", "gpt-5", "Move the map tiles to the new bucket", 1, 9],
  ["claude-code", "atlas", "claude-opus-4-5", "Why does the route planner skip ferries?", 2, 22],
  ["opencode", "ledger", "claude-sonnet-4-5", "Add a dry run to the invoice importer", 4, 6],
  ["claude-code", "parcels", "claude-sonnet-4-5", "Explain the retry queue to the new colleague", 6, 4],
  ["codex", "ledger", "gpt-5", "Round amounts the way the tax office does", 9, 11],
  ["gemini-cli", "atlas", "gemini-2.5-pro", "Translate the onboarding mails", 13, 5],
  ["claude-code", "harbor", "claude-sonnet-4-5", "The harbor master's berth list is out of order", 20, 17],
].map(([agent, project, model, title, daysAgo, requests], index) => ({
  id: `${agent}/0f0c2f0e-8f4b-4f0e-9a56-00000000000${index}`,
  ...{ agent, project, model, title, daysAgo, requests },
})) as readonly Story[];

/** Fills a store on disk with conversations over three weeks, and returns its folder. */
export async function fillStore(stories: readonly Story[] = STORIES): Promise<string> {
  const path = testFolder();
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  let now = today;
  const kernel = await openKernel({ path, embedder: null, clock: { now: () => Math.min(now, Date.now()) } });
  for (const story of stories.toReversed()) {
    now = today - story.daysAgo * DAY_MS - 10 * 3_600_000;
    const own = story.id.split("/")[1] as string;
    const source = {
      format: story.agent,
      id: own,
      path: `/srv/${own}`,
      cwd: `/srv/${story.project}`,
    };
    await using session = await kernel.session(story.id, { title: story.title, meta: { source } });
    // A small window makes edits necessary, so that there are savings to show.
    const window = session.window({
      model: story.model,
      ...(story.requests > 20 && { models: { "*": { window: 12_000 } } }),
    });
    for (let request = 1; request <= story.requests; request++) {
      now += 120_000;
      await session.append({
        role: "user",
        text: `${story.title}: step ${request}. The ${story.project} gate listens on port ${4_100 + request}.`,
      });
      const callId = `call-${request}`;
      const output = Array.from(
        { length: 120 },
        (_, line) => `${request}.${line} ferry ${line * 7} leaves pier ${line % 9}`,
      );
      await session.append({
        role: "assistant",
        model: story.model,
        parts: [{ type: "tool-call", callId, name: "read_timetable", input: { request } }],
      });
      await session.append({
        role: "tool",
        parts: [{ type: "tool-result", callId, name: "read_timetable", output: output.join("\n") }],
      });
      if (story.requests > 20) await window.fit();
      await session.append({
        role: "assistant",
        model: story.model,
        text: `Step ${request} of ${story.title} is done; all tests of ${story.project} pass.`,
      });
      const prompt = 6_000 * request;
      await window.report({
        inputTokens: 400,
        cacheReadTokens: prompt,
        cacheWriteTokens: 5_600,
        outputTokens: 700,
      });
    }
  }
  await kernel.close();
  return path;
}
