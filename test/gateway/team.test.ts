import { expect, test } from "vitest";
import { ask, quiet, startGateway, type TestGateway } from "../support/gateway.ts";
import { says, startUpstream } from "../support/upstream.ts";

const MODEL = "claude-sonnet-4-5";
const USAGE = { input: 1_000, output: 100 };
const by = "test";

const question = (text: string, model = MODEL) => ({
  model,
  max_tokens: 100,
  messages: [{ role: "user", content: text }],
});

const send = (gateway: Pick<TestGateway, "url">, secret: string, text: string, model = MODEL) =>
  ask(gateway, {
    path: "/v1/messages",
    headers: { "x-longhaul-token": secret, "anthropic-version": "2023-06-01" },
    body: question(text, model),
  });

async function openTeam(path?: string) {
  const upstream = await startUpstream(says(() => ({ text: "Fine.", usage: USAGE })));
  const gateway = await startGateway({ upstream: upstream.url, ...(path !== undefined && { path }) });
  return { upstream, gateway, team: gateway.kernel.team };
}

test("a person's token opens the gateway, is never sent on, and ends when it is rotated or revoked", async () => {
  const { upstream, gateway, team } = await openTeam();
  const other = await startGateway({ upstream: upstream.url, path: gateway.path });
  const { secret } = await team.add("alice", { by });
  expect((await send(gateway, secret, "Hello")).status).toBe(200);
  const asKey = await ask(other, {
    path: "/v1/messages",
    headers: { "x-api-key": secret, "anthropic-version": "2023-06-01" },
    body: question("As a key"),
  });
  expect(asKey.status).toBe(200);
  expect(upstream.heard.flatMap(({ rawHeaders }) => rawHeaders).join(" ")).not.toContain(secret);
  await quiet(gateway);
  const [session] = await gateway.kernel.sessions({ prefix: "@alice/" });
  expect(session).toBeDefined();

  const without = await send(other, "lh_unknown", "Who?");
  expect([without.status, JSON.parse(without.text).error.type]).toEqual([401, "authentication_error"]);
  const { secret: next } = await team.rotate("alice", { by, graceMs: 60_000 });
  expect((await send(other, secret, "In the grace time")).status).toBe(200);
  await team.rotate("alice", { by, graceMs: 0 });
  const ended = await send(other, next, "Too late");
  expect(ended.status).toBe(401);
  expect(ended.text).toContain("valid until");
  await team.revoke("alice", { by });
  expect((await send(gateway, secret, "Revoked")).status).toBe(401);
});

test("a used up budget refuses in each API's own form, on every gateway, and says when it begins again", async () => {
  const { upstream, gateway, team } = await openTeam();
  const other = await startGateway({ upstream: upstream.url, path: gateway.path });
  const { secret } = await team.add("alice", { by });
  await team.setBudget({ person: "alice", amount: 1_000, unit: "tokens", period: "month" }, { by });
  const first = await send(gateway, secret, "The first request fits.");
  expect(first.status).toBe(200);
  await quiet(gateway);
  expect((await team.budgets("alice"))[0]).toMatchObject({ spent: 1_100, reserved: 0 });

  const refused = await send(other, secret, "The second does not.");
  expect(refused.status).toBe(429);
  expect(JSON.parse(refused.text)).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
  expect(refused.text).toContain("1,000 tokens per month");
  expect(Number(refused.header("retry-after"))).toBeGreaterThan(0);
  expect(refused.header("x-should-retry")).toBe("false");
  expect(Date.parse(refused.header("x-longhaul-budget-reset") ?? "")).toBeGreaterThan(Date.now());
  const headers = { "x-longhaul-token": secret };
  const messages = [{ role: "user", content: "Hello" }];
  const chat = await ask(other, {
    path: "/v1/chat/completions",
    headers,
    body: { model: "gpt-4o", messages },
  });
  expect([chat.status, JSON.parse(chat.text).error.code]).toEqual([429, "insufficient_quota"]);
  const responses = await ask(other, {
    path: "/v1/responses",
    headers,
    body: { model: "gpt-4o", input: "Hello" },
  });
  expect([responses.status, JSON.parse(responses.text).error.type]).toEqual([429, "insufficient_quota"]);
  expect(upstream.heard).toHaveLength(1);
  const embeddings = await ask(other, { path: "/v1/embeddings", headers, body: { model: "e", input: "x" } });
  expect(embeddings.status).toBe(429);

  await team.setBudget({ person: "alice", amount: 1_000_000, unit: "tokens", period: "month" }, { by });
  expect((await send(other, secret, "Raised.")).status).toBe(200);
  expect(
    (await ask(other, { path: "/v1/embeddings", headers, body: { model: "e", input: "x" } })).status,
  ).toBe(403);
});

test("money is counted by the prices of usage, and a model without a price is refused", async () => {
  const { gateway, team } = await openTeam();
  const { secret } = await team.add("alice", { by });
  await team.setBudget({ person: "alice", amount: 0.005, unit: "usd", period: "day" }, { by });
  const unpriced = await send(gateway, secret, "Hello", "no-such-model");
  expect(unpriced.status).toBe(403);
  expect(unpriced.text).toContain("models.*.prices");
  const priced = await send(gateway, secret, "Hello");
  expect(priced.status).toBe(200);
  await quiet(gateway);
  const [budget] = await team.budgets("alice");
  // 1,000 input tokens at $3 and 100 output tokens at $15 per million.
  expect(budget?.spent).toBeCloseTo(0.0045, 6);
  const warned = await send(gateway, secret, "Nearly there");
  expect(warned.header("x-longhaul-budget-warning")).toContain("of the budget of alice is used");
  await quiet(gateway);
  const sessions = await gateway.kernel.sessions({ prefix: "@alice/" });
  const notes: string[] = [];
  for (const { id } of sessions) {
    await using session = await gateway.kernel.session(id);
    for (const entry of await session.read({ from: 1, kinds: ["notice"] }))
      if ("text" in entry) notes.push(String(entry.text));
  }
  expect(notes.filter((text) => text.includes("budget of alice"))).toHaveLength(1);
  expect(gateway.logged.filter(({ event }) => event === "budget")).toHaveLength(1);
  expect((await send(gateway, secret, "Over")).status).toBe(429);
});

test("budgets are never exceeded by more than the requests in flight, and failures cost nothing", async () => {
  const { upstream, gateway, team } = await openTeam();
  const other = await startGateway({ upstream: upstream.url, path: gateway.path });
  const { secret } = await team.add("alice", { by });
  await team.setBudget({ person: "alice", amount: 5, unit: "requests", period: "total" }, { by });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) => send(at % 2 === 0 ? gateway : other, secret, `Request ${at}`)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
  expect(upstream.heard).toHaveLength(5);

  await team.setBudget({ person: "alice", amount: 100, unit: "requests", period: "total" }, { by });
  await team.setBudget({ person: "alice", amount: 10_000, unit: "tokens", period: "total" }, { by });
  upstream.answer((_, response) => response.writeHead(500).end("{}"));
  expect((await send(gateway, secret, "Fails")).status).toBe(500);
  await quiet(gateway);
  const tokens = (await team.budgets("alice")).find(({ unit }) => unit === "tokens");
  expect(tokens).toMatchObject({ spent: 0, reserved: 0 });
});

test("rates, models and upstreams of a person are limited with a clear refusal", async () => {
  const { gateway, team } = await openTeam();
  const { secret } = await team.add("bob", { by, models: ["claude-haiku-*"], upstreams: ["upstream"] });
  const forbidden = await send(gateway, secret, "Too large a model");
  expect(forbidden.status).toBe(403);
  expect(JSON.parse(forbidden.text).error).toMatchObject({ type: "permission_error" });
  expect(forbidden.text).toContain("allowed: claude-haiku-*");
  await team.change("bob", { by, models: null, upstreams: ["elsewhere"] });
  expect((await send(gateway, secret, "Another upstream")).text).toContain("the upstream upstream");
  await team.change("bob", { by, upstreams: null });
  await team.setBudget({ person: "bob", amount: 1, unit: "requests", period: "minute" }, { by });
  const answers = [await send(gateway, secret, "One"), await send(gateway, secret, "Two")];
  // A minute may end in between.
  const last = answers[1]?.status === 200 ? await send(gateway, secret, "Three") : answers[1];
  expect(last?.status).toBe(429);
  expect(last?.text).toContain("rate limit of bob");
  expect(Number(last?.header("retry-after"))).toBeLessThanOrEqual(60);
});

test("tokens of the configuration go on working beside people, and budgets of the team count everybody", async () => {
  const upstream = await startUpstream(says(() => ({ text: "Fine.", usage: USAGE })));
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { tokens: [{ name: "ci", env: "CI_TOKEN" }] },
    env: { CI_TOKEN: "a-token-of-the-configuration-0123456789" },
  });
  const { team } = gateway.kernel;
  const { secret } = await team.add("alice", { by });
  await team.setBudget({ amount: 1_500, unit: "tokens", period: "week", model: "claude-*" }, { by });
  expect((await send(gateway, "a-token-of-the-configuration-0123456789", "From CI")).status).toBe(200);
  await quiet(gateway);
  expect((await send(gateway, secret, "From Alice")).status).toBe(200);
  await quiet(gateway);
  const refused = await send(gateway, "a-token-of-the-configuration-0123456789", "Again");
  expect(refused.status).toBe(429);
  expect(refused.text).toContain("The budget of the team");
  const metrics = await ask(gateway, { method: "GET", path: "/metrics", headers: { "x-api-key": secret } });
  expect(metrics.text).not.toContain("longhaul_person");
  await team.change("alice", { by, role: "admin" });
  const all = await ask(gateway, { method: "GET", path: "/metrics", headers: { "x-api-key": secret } });
  expect(all.text).toContain('longhaul_person_requests_total{person="ci"} 2');
  expect(all.text).toContain('longhaul_person_refusals_total{person="ci"} 1');
  expect(all.text).toContain('longhaul_person_tokens_total{person="alice"} 1100');
});
