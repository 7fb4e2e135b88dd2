import { describe, expect, test } from "vitest";
import { runHere } from "../../cli/support/here.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { behave, says, startUpstream } from "../../support/upstream.ts";
import { ApiClient } from "../api/support/api-client.ts";
import { output } from "./limited.ts";

const REPLY = { text: "I look into the harbor." };

/** The notes about ends of requests in the only conversation. */
async function endsOf(gateway: Pick<TestGateway, "kernel">) {
  const [record] = await gateway.kernel.sessions();
  await using session = await gateway.kernel.session(record?.id ?? "");
  const { entries } = await session.page({ kinds: ["notice"], limit: 100 });
  return entries.flatMap((entry) => (entry.kind === "notice" && entry.requestEnd ? [entry] : []));
}

async function startAgent(behaviour: Parameters<typeof behave>[2], limits: object = {}) {
  const upstream = await startUpstream((heard, response) => behave(heard, response, behaviour));
  const gateway = await startGateway({ upstream: upstream.url, config: { limits } });
  const agent = new TestAgent(gateway);
  agent.elements.push(...agent.words("Look into the harbor."));
  return { upstream, gateway, agent };
}

describe("the end of an incomplete request", () => {
  test("a note names the client that left in the middle of the reply", async () => {
    const { gateway, agent } = await startAgent({ type: "stall-midway", reply: REPLY, afterEvents: 4 });
    const leaving = new AbortController();
    await agent.send({ signal: leaving.signal, onBytes: () => leaving.abort() }).catch(() => undefined);
    await expect.poll(() => endsOf(gateway)).toHaveLength(1);
    expect(await endsOf(gateway)).toMatchObject([
      {
        text: "request ended by the client: The client has gone.",
        requestEnd: { by: "client", failure: "The client has gone." },
      },
    ]);
  });

  test("a note names the client that left before the provider answered", async () => {
    const { gateway, agent, upstream } = await startAgent({ type: "stall" });
    const leaving = new AbortController();
    const sent = agent.send({ signal: leaving.signal }).catch(() => undefined);
    await upstream.received(1);
    leaving.abort();
    await sent;
    await expect.poll(() => endsOf(gateway)).toMatchObject([{ requestEnd: { by: "client" } }]);
  });

  test("a note names longhaul if the gateway closed during a reply", async () => {
    const { gateway, agent, upstream } = await startAgent(
      { type: "stall-midway", reply: REPLY, afterEvents: 4 },
      { drainMs: 1 },
    );
    const sent = agent.send();
    await upstream.received(1);
    await gateway.close();
    await sent;
    const next = await startGateway({ upstream: upstream.url, path: gateway.path });
    expect(await endsOf(next)).toMatchObject([
      { requestEnd: { by: "longhaul", failure: "The gateway closes." } },
    ]);
  });

  test("a note names longhaul if the gateway gave up a silent provider", async () => {
    const silent = await startAgent({ type: "stall-midway", reply: REPLY, afterEvents: 4 }, { idleMs: 200 });
    await silent.agent.send();
    await expect
      .poll(() => endsOf(silent.gateway))
      .toMatchObject([
        { requestEnd: { by: "longhaul", failure: "The upstream fell silent for 0.2 s within its answer." } },
      ]);
  });

  test.each([
    [{ type: "cut", reply: REPLY, afterEvents: 4 }, /closed the connection in the middle of its answer/],
    [
      { type: "cut", reply: REPLY, afterEvents: 4, isOrderly: true },
      /^The reply ended before it was whole\.$/,
    ],
    [{ type: "error-midway", reply: REPLY, afterEvents: 4, kind: "overloaded" }, /^Overloaded/],
    [{ type: "error", kind: "rate-limit", status: 429 }, /rate limit.*\(status 429\)$/i],
    [{ type: "error", kind: "server-error", status: 500 }, /\(status 500\)$/],
  ] as const)("a note names the provider that ended the request by %j", async (behaviour, failure) => {
    const { gateway, agent } = await startAgent(behaviour);
    await agent.send();
    await expect
      .poll(() => endsOf(gateway))
      .toMatchObject([{ requestEnd: { by: "provider", failure: expect.stringMatching(failure) } }]);
  });

  test("a note names a provider that cannot be reached", async () => {
    const gateway = await startGateway({ upstream: "http://127.0.0.1:9" });
    const agent = new TestAgent(gateway);
    agent.elements.push(...agent.words("Look into the harbor."));
    expect((await agent.send()).status).toBe(502);
    await expect
      .poll(() => endsOf(gateway))
      .toMatchObject([
        { requestEnd: { by: "provider", failure: expect.stringContaining("cannot be reached") } },
      ]);
  });
});

test("a repeated failure is noted once, and again after a whole reply", async () => {
  const { upstream, gateway, agent } = await startAgent({ type: "error", kind: "overloaded", status: 529 });
  for (let time = 0; time < 3; time++) expect((await agent.send()).status).toBe(529);
  await expect.poll(() => endsOf(gateway)).toHaveLength(1);
  upstream.answer(says("Fine."));
  await agent.next();
  expect(await endsOf(gateway)).toHaveLength(1);
  upstream.answer((heard, response) =>
    behave(heard, response, { type: "error", kind: "overloaded", status: 529 }),
  );
  agent.elements.push(...agent.words("And the lighthouse?"));
  await agent.send();
  await expect.poll(() => endsOf(gateway)).toHaveLength(2);
});

test("a client that the loop guard stops finds one note that longhaul ended its requests", async () => {
  const upstream = await startUpstream((heard, response) =>
    behave(heard, response, { type: "error", kind: "overflow", status: 400 }),
  );
  const gateway = await startGateway({ upstream: upstream.url, config: { breaker: { overflows: 2 } } });
  const agent = new TestAgent(gateway);
  agent.elements.push(...agent.words("Look into the harbor."));
  for (let time = 0; time < 5; time++) expect((await agent.send()).status).toBe(400);
  expect(upstream.heard.length).toBeLessThan(5);
  await expect
    .poll(async () => (await endsOf(gateway)).map(({ requestEnd }) => requestEnd?.by))
    .toEqual(["provider", "longhaul"]);
});

test("a whole reply leaves no note", async () => {
  const { gateway, agent } = await startAgent({ type: "reply", reply: REPLY });
  await agent.next();
  expect(await endsOf(gateway)).toEqual([]);
});

proofTest(
  "retries are stored and shown, either with the reply that followed or with the end of the request",
  async () => {
    let refusals = 0;
    const upstream = await startUpstream((heard, response) => {
      if (heard.body.length > 60_000 && ++refusals < 10)
        return behave(heard, response, { type: "error", kind: "overflow", status: 400 });
      behave(heard, response, { type: "reply", reply: { ...REPLY, usage: { input: 9_000, output: 9 } } });
    });
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    for (let turn = 0; turn < 12; turn++) await agent.say(`Turn ${turn}: ${output(turn, 6_000)}`);
    expect(refusals).toBeGreaterThan(0);
    const [main] = await threadsOf(gateway, "main");
    const id = main?.id as string;
    const api = await ApiClient.open(gateway);
    const { requests } = (await api.get(`/sessions/${encodeURIComponent(id)}/usage`)).body;
    const retries = requests.map((request: { readonly retries: number }) => request.retries);
    expect(retries.reduce((sum: number, one: number) => sum + one, 0)).toBe(refusals);
    upstream.answer((heard, response) =>
      behave(heard, response, { type: "error", kind: "overflow", status: 400 }),
    );
    agent.elements.push(...agent.words(`The last turn: ${output(99, 6_000)}`));
    expect((await agent.send()).status).toBe(400);
    await expect.poll(() => endsOf(gateway)).toHaveLength(1);
    const [end] = await endsOf(gateway);
    expect(end?.requestEnd).toMatchObject({ by: "provider", retries: expect.any(Number) });
    const page = (await api.get(`/sessions/${encodeURIComponent(id)}/entries?limit=5&kinds=notice`)).body;
    expect(page.entries.at(-1).requestEnd).toEqual(end?.requestEnd);
    const { stdout } = await runHere(["show", id, "--store", gateway.path]);
    expect(stdout).toMatch(
      /note: request ended by the provider: .*\(status 400\) \(after \d+ retr(?:y|ies)\)/,
    );
  },
);
