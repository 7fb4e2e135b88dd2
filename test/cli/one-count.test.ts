import { describe, expect, test } from "vitest";
import { output, startLimitedUpstream } from "../server/gateway/limited.ts";
import { TestAgent } from "../support/agent.ts";
import { startGateway } from "../support/gateway.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";

const WINDOW = 24_000;

/** A conversation through a gateway whose window was edited, with a system prompt and tools. */
async function workThroughGateway(memory?: string) {
  const upstream = await startLimitedUpstream({
    api: "anthropic",
    window: WINDOW,
    count: (body) => Math.ceil(body.length / 3.5),
    reply: () => ({ text: "Done." }),
  });
  const gateway = await startGateway({
    upstream: [{ name: "small", baseUrl: upstream.url, apis: ["anthropic"], window: WINDOW }],
  });
  if (memory !== undefined) await gateway.kernel.memories().remember(memory, { by: "user" });
  const agent = new TestAgent(gateway);
  agent.fields.system = "You repair ships. ".repeat(300);
  agent.fields.tools = [
    { name: "look", description: "looks at a ship ".repeat(100), input_schema: { type: "object" } },
  ];
  for (let turn = 0; turn < 40; turn++) {
    const id = `toolu_${turn}`;
    agent.elements.push(
      ...(turn === 0 ? [{ role: "user", content: "Look at all ships." }] : []),
      { role: "assistant", content: [{ type: "tool_use", id, name: "look", input: { ship: turn } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: output(turn, 3_000) }] },
    );
  }
  for (let turn = 0; turn < 4; turn++) {
    expect((await agent.send()).status).toBe(200);
    agent.elements.push(
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
      { role: "user", content: `And then, number ${turn}?` },
    );
  }
  const ask = async (path: string): Promise<ReturnType<typeof JSON.parse>> =>
    (await fetch(`${gateway.url}${path}`)).json();
  await expect.poll(async () => (await ask("/api/v1/gateway")).totals.requests).toBe(4);
  const [thread] = (await ask("/api/v1/gateway")).threads;
  const path = `/api/v1/sessions/${encodeURIComponent(thread.session)}/window`;
  return { gateway, thread, upstream, window: await ask(path) };
}

describe("the count of one window", () => {
  test("context, compact and the page report the same size of a window, and usage and the page the same last request", async () => {
    const { gateway, thread, upstream, window } = await workThroughGateway();
    const store = ["--store", gateway.path];
    const context = (await jsonHere(["context", thread.session, ...store])).value;
    const compact = (await jsonHere(["compact", thread.session, "--dry-run", ...store])).value;
    const usage = (await jsonHere(["usage", thread.session, "--by", "request", ...store])).value;
    expect(context.window.parts.system).toBeGreaterThan(500);
    expect(context.window.parts.tools).toBeGreaterThan(200);
    expect(window.tokens).toBe(context.window.tokens);
    expect(compact.tokens.without).toBe(context.window.tokens);
    const last = usage.rows.at(-1);
    const sent = last.inputTokens + last.cacheReadTokens + last.cacheWriteTokens;
    expect(sent).toBe(upstream.counts.at(-1));
    expect(thread.tokens).toBe(sent);
    // The window of the next call is the last request and its short reply.
    expect(context.window.tokens).toBeGreaterThan(sent);
    expect(context.window.tokens).toBeLessThan(sent + 200);
  });

  proofTest(
    "the memories sent with every call are listed as their own part of the window, and counted once",
    async () => {
      const memory = "Answer in German, and name the ship in every sentence.";
      const { gateway, thread, upstream, window } = await workThroughGateway(memory);
      const command = ["context", thread.session, "--store", gateway.path];
      const { value } = await jsonHere(command);
      const { tokens, parts } = value.window;
      expect(parts.memories).toBeGreaterThan(30);
      expect(parts.pins).toBe(0);
      expect(value.memories).toMatchObject({
        agent: "default",
        tokens: parts.memories,
        facts: [{ text: memory, by: "user" }],
      });
      expect(window.memories).toMatchObject([{ text: memory }]);
      expect(window.parts).toEqual(parts);
      const sent = upstream.counts.at(-1) ?? 0;
      expect(tokens).toBeGreaterThan(sent);
      expect(tokens).toBeLessThan(sent + 200);
      const compact = (await jsonHere(["compact", thread.session, "--dry-run", "--store", gateway.path]))
        .value;
      expect(compact.tokens.without).toBe(tokens);
      const { stdout } = await runHere(command);
      expect(stdout).toMatch(/^E memories +\d+ +\d+%$/m);
      expect(stdout).toMatch(
        /^Memories of default, with every call \(\d+ tokens\)\n {2}user, .+ {2}Answer in German/m,
      );
      // A memory that comes later is part of the next call. Random marks make the same memories differ by some tokens.
      const longer =
        "Ships have no doors, their captains have no keys, and nobody on board has ever asked for one.";
      await gateway.kernel.memories().remember(longer, { by: "agent" });
      const later = (await jsonHere(command)).value;
      expect(later.window.parts.memories).toBeGreaterThan(parts.memories);
      expect(later.memories.facts).toHaveLength(2);
    },
  );

  proofTest("the window includes a first memory before any call has sent it", async () => {
    const { gateway, thread, window } = await workThroughGateway();
    expect(window.memories).toEqual([]);
    await gateway.kernel.memories().remember("Answer in German.", { by: "user" });
    const { value } = await jsonHere(["context", thread.session, "--store", gateway.path]);
    expect(value.memories.facts).toHaveLength(1);
    expect(value.window.parts.memories).toBeGreaterThan(10);
  });

  proofTest(
    "savings count on every call that earlier edits made smaller, not only on the edited call",
    async () => {
      const { gateway, thread } = await workThroughGateway();
      const requests = gateway.logged.filter(({ event }) => event === "request");
      const later = requests.filter(({ isEdited }) => !isEdited);
      expect(later.length).toBeGreaterThan(0);
      for (const { savedDollars, tokensBefore, tokensAfter } of later) {
        expect(Number(tokensBefore)).toBeGreaterThan(2 * Number(tokensAfter));
        expect(Number(savedDollars)).toBeGreaterThan(0);
      }
      const sum = requests.reduce((total, { savedDollars = 0 }) => total + Number(savedDollars), 0);
      expect(thread.spending.savings.savedCost).toBeCloseTo(sum, 5);
    },
  );
});
