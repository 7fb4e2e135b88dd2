import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openKernel } from "../../../../src/kernel/index.ts";
import { ModelLimits } from "../../../../src/server/gateway/call/build-call-request.ts";
import { LoopStates } from "../../../../src/server/gateway/limits/loop-states.ts";
import { SharedStates } from "../../../../src/server/gateway/limits/shared-states.ts";
import type { WireName } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { ask, logOf, quiet, startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { startCuttingProxy } from "../../../support/postgres/cutting-proxy.ts";
import {
  createSchemaUrl,
  describeProblem,
  findTestPostgres,
} from "../../../support/postgres/test-postgres.ts";
import { proofTest } from "../../../support/proof.ts";
import { says, startUpstream, type Upstream } from "../../../support/upstream.ts";
import { ChainedClient, startKeepingUpstream, wordsIn } from "../chains/chained.ts";
import { output } from "../limited.ts";
import { textsIn } from "../said.ts";

const server = await findTestPostgres();
const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const PATHS = {
  anthropic: "/v1/messages",
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
} as const;

type Pair = readonly [TestGateway, TestGateway];

/** Two gateways on one database. */
async function startPair(upstream: Upstream, store: string, config: object = {}): Promise<Pair> {
  const options = { upstream: upstream.url, store, config: { ...config } };
  return [await startGateway(options), await startGateway(options)];
}

describe.skipIf("problem" in server)(`two gateways on one database (${describeProblem(server)})`, () => {
  let store = "";
  beforeAll(() => {
    store = createSchemaUrl(server);
  });

  test("two gateways find a reply by its id, whichever of them relayed it", async () => {
    const upstream = await startKeepingUpstream();
    const [one, other] = await startPair(upstream, store);
    const client = new ChainedClient(one);
    await client.say([{ role: "user", content: "The first words." }]);
    const second = new ChainedClient(other, client.previous);
    await second.say([{ role: "user", content: "The second words." }]);
    expect(wordsIn(upstream.contexts.at(-1) ?? [])).toEqual([
      "user|The first words.",
      "assistant|Reply 1.",
      "user|The second words.",
    ]);
    const sessions = (await threadsOf(other)).filter(({ id }) => id.includes("openai-responses"));
    expect(sessions).toHaveLength(1);
  });

  test("a gateway applies an edit, its undo and a memory from another gateway to the next request", async () => {
    const upstream = await startUpstream(says("Fine."));
    const [one, other] = await startPair(upstream, store);
    const agent = new TestAgent(one);
    agent.headers["x-longhaul-session"] = "undone";
    for (let turn = 0; turn < 12; turn++) {
      agent.gateway = turn % 2 === 0 ? one : other;
      await agent.say(`Words of turn ${turn}: ${output(turn, 2_000)}`);
    }
    const last = () => upstream.heard.at(-1)?.body.toString("utf8") ?? "";
    const isLeft = (turn: number) => last().includes(output(turn, 2_000).split("\n").at(-2) as string);
    expect([2, 3, 4].map(isLeft)).toEqual([true, true, true]);
    const { id } = (await threadsOf(other)).find((record) => record.id.includes("undone")) ?? { id: "" };
    await using session = await other.kernel.session(id);
    const compacted = await session.compact();
    agent.gateway = one;
    await agent.say("Go on.");
    expect([2, 3, 4].map(isLeft)).toEqual([false, false, false]);
    await session.overlays.revert(compacted?.overlay as number);
    await other.kernel.memories().remember("The lighthouse is north.", { by: "user" });
    await agent.say("Go on again.");
    expect([2, 3, 4].map(isLeft)).toEqual([true, true, true]);
    expect(last()).toContain("The lighthouse is north.");
    const log = await logOf(session);
    expect(log.map(({ message }) => message.role)).toEqual(agent.elements.map(({ role }) => role));
  });

  proofTest("two gateways share their counts of loops and the limits that they learned", async () => {
    const kernels = [
      await openKernel({ store, embedder: null }),
      await openKernel({ store, embedder: null }),
    ];
    const breaker = { requests: 5, compactions: 5, overflows: 5, withinMs: 600_000, coolMs: 600_000 };
    const sides = kernels.map((kernel) => {
      const shared = new SharedStates({
        store: kernel.maintenance.sharedStates,
        onError: (error) => expect(error).toBeUndefined(),
        keepMs: () => 600_000,
      });
      onTestFinished(async () => {
        await shared.close();
        await kernel.close();
      });
      const now = () => Date.now();
      const loops = new LoopStates({ limits: () => breaker, now, maxStates: () => 100, shared });
      return { loops, limits: new ModelLimits(kernel, () => ({ models: {} }), shared) };
    });
    const asked = Date.now();
    for (let step = 0; step < 3; step++)
      for (const [at, { loops }] of sides.entries()) {
        const repliedAt = asked + 10 * step + at;
        loops.recordReply("circle", { key: "again", requestedAt: repliedAt, repliedAt });
      }
    const bound = { upstream: { name: "box" }, model: "m", clientModel: "m", isMillion: false };
    sides[0]?.limits.learn(bound, 8_000);
    await expect
      .poll(() =>
        sides.map(({ loops, limits }) => [loops.findFault("circle")?.kind, limits.getLearned(bound)?.limit]),
      )
      .toEqual([
        ["stopped", 8_000],
        ["stopped", 8_000],
      ]);
  });

  proofTest("two gateways count equal requests together before they stop a loop", async () => {
    const upstream = await startUpstream(says("The same again."));
    const pair = await startPair(upstream, store, { breaker: { requests: 6, coolMs: 600_000 } });
    const agent = new TestAgent(pair[0]);
    agent.headers["x-longhaul-session"] = "circle";
    await agent.say("Do it.");
    agent.elements.push(...agent.words("And again."));
    const statuses: number[] = [];
    await expect
      .poll(
        async () => {
          agent.gateway = pair[statuses.length % 2] as TestGateway;
          statuses.push((await agent.send()).status);
          return statuses.slice(-2);
        },
        { interval: 300 },
      )
      .toEqual([400, 400]);
    const answered = upstream.heard.length;
    // Eight together; a single gateway would have let seven pass after the first request.
    expect(answered).toBeLessThan(15);
  });

  test("two gateways store a simultaneous first request once, and separate different ones", async () => {
    const upstream = await startUpstream((heard, response, index) => {
      setTimeout(() => says(`Reply ${index}.`)(heard, response, index), 20);
    });
    const pair = await startPair(upstream, store);
    const body = (...messages: readonly object[]) => ({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      stream: true,
      messages,
    });
    const first = { role: "user", content: "Begin at the same moment." };
    const send = (gateway: TestGateway, ...more: readonly object[]) =>
      ask(gateway, { path: "/v1/messages", body: body(first, ...more) });
    await Promise.all(pair.map((gateway) => send(gateway)));
    const reply = (text: string) => ({ role: "assistant", content: text });
    const next = (text: string) => ({ role: "user", content: text });
    // Histories that no gateway has seen yet, with the same beginning.
    await Promise.all([
      send(pair[0], reply("One way."), next("Go one way.")),
      send(pair[1], reply("Another way."), next("Go another way.")),
    ]);
    for (const gateway of pair) await quiet(gateway);
    const logs: string[][] = [];
    for (const { id } of await pair[0].kernel.sessions({ limit: 1_000 })) {
      await using session = await pair[0].kernel.session(id);
      const texts = (await logOf(session)).map(({ message }) => textsIn(message));
      if (texts.some((text) => text.includes("Begin at the same moment."))) logs.push(texts);
    }
    for (const texts of logs) {
      const users = texts.filter((text) => text.includes("Begin at the same moment."));
      expect(users.length).toBe(1);
      expect(
        texts.some((text) => text.includes("one way")) && texts.some((text) => text.includes("another way")),
      ).toBe(false);
    }
  });

  proofTest(
    "a gateway without its database refuses requests in the form of each API, and is not ready",
    async () => {
      const upstream = await startUpstream();
      const proxy = await startCuttingProxy("url" in server ? server.url : "");
      const schema = new URL(store).searchParams.get("schema");
      const gateway = await startGateway({
        upstream: upstream.url,
        store: `${proxy.url}?schema=${schema}`,
        busyTimeoutMs: 200,
      });
      onTestFinished(() => proxy.close());
      const agents = APIS.map((api: WireName) => new TestAgent(gateway, api));
      for (const agent of agents) await agent.say("Good morning.");
      const sent = upstream.heard.length;
      proxy.close();
      for (const api of APIS) {
        const agent = agents[APIS.indexOf(api)] as TestAgent;
        agent.elements.push(...agent.words("Are you there?"));
        const answer = await ask(gateway, { path: PATHS[api], body: agent.body() });
        expect(answer.status).toBe(503);
        const { error } = JSON.parse(answer.text);
        expect(error.message).toMatch(/database cannot be reached/);
        expect(error.type).toBe(api === "anthropic" ? "overloaded_error" : "server_error");
      }
      expect(upstream.heard.length).toBe(sent);
      const ready = await ask(gateway, { method: "GET", path: "/readyz" });
      expect([ready.status, JSON.parse(ready.text).reasons]).toEqual([503, ["store"]]);
      expect((await ask(gateway, { method: "GET", path: "/healthz" })).status).toBe(200);
      const api = await ask(gateway, { method: "GET", path: "/api/v1/sessions" });
      expect(api.status).toBe(503);
    },
  );
});
