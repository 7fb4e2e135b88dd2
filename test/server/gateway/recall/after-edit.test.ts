import { describe, expect, test } from "vitest";
import { loadTokenizer } from "../../../../src/kernel/faces/window.ts";
import {
  encodeRecallTools,
  isRecallTool,
  RECALL_TOOL,
} from "../../../../src/server/gateway/recall/recall-tools.ts";
import type { WireName } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { proofTest } from "../../../support/proof.ts";
import type { Heard } from "../../../support/upstream.ts";
import { output, startLimitedUpstream } from "../limited.ts";
import { working } from "../long-session.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const WINDOW = 24_000;

/** An agent that works turn by turn and keeps the bodies that it sent. */
async function startWork(
  api: Exclude<WireName, "google">,
  config: { readonly recall?: string } = {},
  { assumedWindow = WINDOW, bytesPerToken = 4 } = {},
) {
  const upstream = await startLimitedUpstream({
    api,
    window: WINDOW,
    count: (body) => Math.ceil(body.length / bytesPerToken),
    reply: working,
  });
  const upstreams = [{ name: "small", baseUrl: upstream.url, apis: [api], window: assumedWindow }];
  const start = (path?: string) =>
    startGateway({
      upstream: upstreams,
      config: { ...config },
      ...(path !== undefined && { path }),
    });
  const gateway = await start();
  const agent = new TestAgent(gateway, api);
  const sent: string[] = [];
  let calls: Parameters<TestAgent["hand"]>[0] = [];
  const work = async (turns: number) => {
    for (let turn = 0; turn < turns; turn++) {
      const place = sent.length;
      if (place === 0) agent.elements.push(...agent.words("Go through all files, one by one."));
      else
        agent.elements.push(
          ...agent.results(
            calls,
            calls.map(() => output(place, 4_000)),
          ),
        );
      sent.push(JSON.stringify(agent.body()));
      calls = (await agent.next()).calls;
    }
  };
  return { upstream, gateway, agent, sent, work, start };
}

function offersRecall({ json }: Heard): boolean {
  return (json.tools ?? []).some((tool: { name?: string; function?: { name: string } }) =>
    isRecallTool(tool.function?.name ?? tool.name),
  );
}

async function isMarked(gateway: TestGateway): Promise<boolean> {
  const [main] = await threadsOf(gateway, "main");
  const { gateway: meta } = ((await gateway.kernel.find(main?.id ?? ""))?.meta ?? {}) as never;
  return (meta as { readonly hasRecallTools?: boolean }).hasRecallTools === true;
}

describe.each(APIS)("recall tools after the first edit over %s", (api) => {
  proofTest("recall tools join with the first edit, stay after a restart, and keep the prefix", async () => {
    const { upstream, gateway, agent, sent, work, start } = await startWork(api);
    await work(30);
    const first = upstream.heard.findIndex((heard, place) => heard.body.toString() !== sent[place]);
    expect(first).toBeGreaterThan(3);
    expect(upstream.heard.map(offersRecall)).toEqual(sent.map((_, place) => place >= first));
    expect(await isMarked(gateway)).toBe(true);
    await gateway.close();
    agent.gateway = await start(gateway.path);
    await work(1);
    expect(offersRecall(upstream.heard.at(-1) as Heard)).toBe(true);
    // The tools have joined where the edit rewrote the prefix; after it, the provider reads the prefix from its cache.
    const later = upstream.heard.slice(first + 1, 30).map(({ body }) => body.toString());
    const tools = JSON.stringify(encodeRecallTools(api)).slice(1, -1);
    for (const body of later) expect(body).toContain(tools);
    expect(upstream.refused()).toBe(0);
    const [read = 0, whole = 0] = [upstream.cached[first + 1], upstream.counts[first + 1]];
    expect(read / whole).toBeGreaterThan(0.8);
  });
});

describe.each(APIS)("an overflow over %s that an edit heals", (api) => {
  proofTest.each(["after-edit", "always"])(
    "an overflow that an edit heals is retried with the recall tools, and the prefix changes only once: %s",
    async (recall) => {
      // The window is smaller than the gateway assumes, and the provider counts more tokens than are estimated.
      const bytesPerToken = 2;
      const { upstream, sent, work } = await startWork(
        api,
        { recall },
        { assumedWindow: 4 * WINDOW, bytesPerToken },
      );
      await work(30);
      const isRefused = ({ body }: Heard) => Math.ceil(body.length / bytesPerToken) > WINDOW;
      const first = upstream.heard.findIndex(isRefused);
      expect(first).toBeGreaterThan(3);
      if (recall === "after-edit") expect(upstream.heard[first]?.body.toString()).toBe(sent[first]);
      // The request that heals the overflow, and each after it, offers the tools.
      const accepted = upstream.heard.filter((heard) => !isRefused(heard));
      expect(accepted.slice(first).map(offersRecall)).not.toContain(false);
      const isRewritten = upstream.cached.map(
        (cached, place) => 2 * cached < (upstream.counts[place - 1] ?? 0),
      );
      expect(isRewritten[first]).toBe(true);
      expect(isRewritten[first + 1]).toBe(false);
    },
  );
});

describe("recall tools", () => {
  test("recall tools take at most 400 tokens in every API", async () => {
    const tokenizer = await loadTokenizer("o200k_base");
    for (const api of APIS)
      expect(tokenizer.count(JSON.stringify(encodeRecallTools(api)))).toBeLessThanOrEqual(400);
  });

  proofTest("recall tools never join if they are off or the client has no tools", async () => {
    for (const [config, tools] of [
      [{ recall: "off" }, undefined],
      [{}, []],
    ] as const) {
      const { upstream, agent, sent, work } = await startWork("anthropic", config);
      if (tools) agent.fields.tools = tools;
      await work(30);
      expect(upstream.heard.some((heard, place) => heard.body.toString() !== sent[place])).toBe(true);
      expect(upstream.heard.some(offersRecall)).toBe(false);
    }
  });

  test("recall tools that are always on join the first request", async () => {
    const { upstream, work } = await startWork("anthropic", { recall: "always" });
    await work(1);
    expect(upstream.heard[0]?.body.toString()).toContain(RECALL_TOOL);
  });
});
