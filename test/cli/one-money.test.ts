import { describe, expect, test } from "vitest";
import { output, startLimitedUpstream } from "../server/gateway/limited.ts";
import { TestAgent } from "../support/agent.ts";
import { startGateway, threadsOf } from "../support/gateway.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";

const WINDOW = 24_000;
const CHARACTERS_PER_TOKEN = 3.5;

type Answer = ReturnType<typeof JSON.parse>;

interface Work {
  readonly turns: number;
  readonly policy?: string;
  /** False for a provider that reports no cache. */
  readonly hasCache?: boolean;
  readonly window?: number;
}

/** A session through a gateway, with a provider that caches equal beginnings of requests. */
async function work({ turns, policy = "longhaul", hasCache = true, window = WINDOW }: Work) {
  const upstream = await startLimitedUpstream({
    api: "anthropic",
    window,
    count: (body) => Math.ceil(body.length / CHARACTERS_PER_TOKEN),
    reply: (index) => ({
      id: `msg_${index}`,
      text: `Step ${index}.`,
      toolCalls: [{ id: `toolu_${index}`, name: "look", input: { ship: index } }],
      ...(!hasCache && { usage: { input: 5_000 + 100 * index, output: 50 } }),
    }),
  });
  const gateway = await startGateway({
    upstream: [{ name: "small", baseUrl: upstream.url, apis: ["anthropic"], window }],
    config: { policy },
  });
  const agent = new TestAgent(gateway);
  agent.fields.system = "You repair ships. ".repeat(300);
  agent.fields.tools = [
    { name: "look", description: "looks at a ship ".repeat(100), input_schema: { type: "object" } },
  ];
  let reply = await agent.say("Look at all ships.");
  for (let turn = 1; turn < turns; turn++) reply = await agent.hand(reply.calls, output(turn, 3_000));
  const [main] = await threadsOf(gateway, "main");
  const id = String(main?.id);
  const ask = async (path: string): Promise<Answer> => (await fetch(`${gateway.url}${path}`)).json();
  const store = ["--store", gateway.path];
  return {
    upstream,
    gateway,
    id,
    page: await ask("/api/v1/gateway"),
    window: await ask(`/api/v1/sessions/${encodeURIComponent(id)}/window`),
    session: await ask(`/api/v1/sessions/${encodeURIComponent(id)}`),
    api: await ask(`/api/v1/usage?session=${encodeURIComponent(id)}`),
    usage: (await jsonHere(["usage", id, ...store])).value,
    context: (await jsonHere(["context", id, ...store])).value,
    text: (await runHere(["usage", id, ...store])).stdout,
    metrics: await (await fetch(`${gateway.url}/metrics`)).text(),
    requests: gateway.logged.filter(({ event }) => event === "request"),
    replay: (await jsonHere(["replay", id, "--policy", "longhaul", "--window", "24k", ...store])).value,
  };
}

function readMetric(metrics: string, name: string): number {
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(metrics)?.[1]);
}

const sum = (figures: readonly unknown[]) =>
  figures.reduce<number>((total, one) => total + Number(one ?? 0), 0);

describe("the money of one session", () => {
  test("all commands, pages and metrics report the same tokens, spending and savings of a session", async () => {
    const { upstream, page, window, session, api, usage, context, metrics, requests, replay, text } =
      await work({
        turns: 30,
      });
    const [thread] = page.threads;
    const { total, savings } = usage;
    // Tokens of the windows, as the provider counted them.
    expect(total.inputTokens + total.cacheReadTokens + total.cacheWriteTokens).toBe(sum(upstream.counts));
    expect(context.usage.session).toEqual(total);
    expect(session.usage).toEqual(total);
    expect(api.total).toEqual(total);
    expect(replay.recorded).toEqual(total);
    expect(thread.tokens).toBe(upstream.counts.at(-1));
    expect(window.tokens).toBe(context.window.tokens);
    // Money spent.
    expect(total.cost).toBeGreaterThan(0);
    expect(total.unpricedRequests).toBe(0);
    expect(page.totals.spending.spentCost).toBeCloseTo(total.cost, 9);
    expect(thread.spending.spentCost).toBeCloseTo(total.cost, 9);
    expect(readMetric(metrics, "longhaul_spent_dollars_total")).toBeCloseTo(total.cost, 9);
    expect(sum(requests.map(({ spentDollars }) => spentDollars))).toBeCloseTo(total.cost, 4);
    // Money saved, with its denominator and its own cost.
    expect(savings.basis).toBe("estimated");
    expect(savings.removedTokens).toBeGreaterThan(10_000);
    expect(savings.extraWriteTokens).toBeGreaterThan(0);
    expect(savings.withoutCost - savings.savedCost).toBeCloseTo(total.cost, 9);
    expect(context.usage.savings).toEqual(savings);
    for (const shown of [page.totals.spending.savings, thread.spending.savings, api.savings])
      for (const [name, value] of Object.entries(savings))
        if (typeof value === "number") expect(shown[name], name).toBeCloseTo(value, 6);
    expect(readMetric(metrics, "longhaul_saved_dollars")).toBeCloseTo(savings.savedCost, 6);
    expect(readMetric(metrics, "longhaul_unedited_dollars")).toBeCloseTo(savings.withoutCost, 6);
    expect(readMetric(metrics, "longhaul_extra_write_dollars")).toBeCloseTo(savings.extraWriteCost, 6);
    expect(readMetric(metrics, "longhaul_removed_tokens")).toBe(savings.removedTokens);
    expect(sum(requests.map(({ savedDollars }) => savedDollars))).toBeCloseTo(savings.savedCost, 4);
    expect(text).toMatch(/estimated: edits (saved|cost) \$\S+ of \$\S+ without them/);
    expect(text.replaceAll(/\s+/g, " ")).toMatch(
      /written to caches again .+ 0 summary calls .+ ms per request/,
    );
  });

  proofTest(
    "the reported savings match the extra cost of a session without edits, within a few percent",
    async () => {
      const edited = await work({ turns: 40 });
      const whole = await work({ turns: 40, policy: "none", window: 1_000_000 });
      const { savedCost, withoutCost } = edited.usage.savings;
      const really = whole.usage.total.cost - edited.usage.total.cost;
      expect(whole.usage.savings).toMatchObject({ requests: 0, removedTokens: 0, savedCost: 0 });
      expect(really).toBeGreaterThan(0);
      expect(withoutCost / whole.usage.total.cost).toBeGreaterThan(0.93);
      expect(withoutCost / whole.usage.total.cost).toBeLessThan(1.07);
      expect(Math.abs(savedCost - really) / whole.usage.total.cost).toBeLessThan(0.07);
    },
  );
});
