import { describe, expect, test } from "vitest";
import { extractCarryOver } from "../../../src/kernel/faces/window.ts";
import type { SessionWindowOptions } from "../../../src/kernel/index.ts";
import { jsonHere, runHere } from "../../cli/support/here.ts";
import { TestAgent } from "../../support/agent.ts";
import { startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { testKernel } from "../../support/kernel.ts";
import { proofTest } from "../../support/proof.ts";
import { behave, startUpstream } from "../../support/upstream.ts";
import { ApiClient } from "../api/support/api-client.ts";

const WINDOW = 20_000;
/** A text of about this share of the window. */
const words = (share: number) => "alpha beta gamma delta ".repeat(Math.round((WINDOW * share) / 4));
const MODELS = { m: { window: WINDOW } };

async function openSession() {
  return (await testKernel({ path: ":memory:", models: MODELS })).session();
}

/** The advice for a conversation with a pin, other history and a newest question of these shares of the window. */
async function adviceFor(
  shares: { readonly pin?: number; readonly history?: number; readonly question?: number },
  options: Partial<SessionWindowOptions> = {},
) {
  const session = await openSession();
  const { pin = 0, history = 0, question = 0 } = shares;
  await session.append({ role: "user", text: "Plan the harbor of Meridian." });
  await session.append({ role: "assistant", text: "Done." });
  if (pin > 0) {
    const { id } = await session.append({ role: "user", text: `The charter: ${words(pin)}` });
    await session.pin(id);
    await session.append({ role: "assistant", text: "Noted." });
  }
  for (let turn = 0; turn < 4; turn++) {
    await session.append({ role: "user", text: `Turn ${turn} ${words(history / 8)}` });
    await session.append({ role: "assistant", text: `Reply ${turn} ${words(history / 8)}` });
  }
  await session.append({ role: "user", text: `And now? ${words(question)}` });
  const window = session.window({ model: "m", oversize: "clip", ...options });
  return { looked: (await window.look()).advice, fitted: (await window.fit()).advice };
}

describe("advice to begin a new conversation", () => {
  test("a new conversation is advised when pins that never leave take 70 % of the window", async () => {
    const { looked, fitted } = await adviceFor({ pin: 0.76 });
    expect(fitted?.share).toBeGreaterThanOrEqual(0.7);
    expect(fitted?.settledTokens).toBe((fitted?.share ?? 0) * WINDOW);
    expect(looked).toEqual(fitted);
  });

  test("a new conversation is advised when the window is 70 % full and edits are off", async () => {
    const { fitted } = await adviceFor({ history: 0.78 }, { policy: "none" });
    expect(fitted?.share).toBeGreaterThanOrEqual(0.7);
  });
});

describe("no advice to begin a new conversation", () => {
  test.each([
    ["while less than 70 % can never leave", { pin: 0.6 }, {}],
    ["while history can still leave, however full the window is", { pin: 0.3, history: 0.5 }, {}],
    ["because of a long question, which can leave in the next turn", { question: 0.76 }, {}],
    ["below 70 % with edits off", { history: 0.6 }, { policy: "none" }],
    [
      "because of system prompt and tools, which a new conversation would have too",
      { pin: 0.1 },
      { system: WINDOW * 0.4, tools: WINDOW * 0.25 },
    ],
  ] as const)("a new conversation is not advised %s", async (_, shares, options) => {
    expect(await adviceFor(shares, options)).toEqual({ looked: undefined, fitted: undefined });
  });
});

test("the text to carry over quotes requests, to-dos and an earlier summary", async () => {
  const session = await openSession();
  await session.append({ role: "user", text: "Plan the harbor of Meridian with 14 berths." });
  await session.append({ role: "assistant", text: `Berth 9 stays free. ${words(0.1)}` });
  const input = { todos: [{ content: "Ask the pilot", status: "pending" }] };
  const call = { type: "tool-call", callId: "c", name: "TodoWrite", input } as const;
  await session.append({ role: "assistant", parts: [call] });
  await session.append({ role: "tool", parts: [{ type: "tool-result", callId: "c", output: "ok" }] });
  for (let turn = 0; turn < 3; turn++) {
    await session.append({ role: "user", text: `Now quay number ${turn}.` });
    await session.append({ role: "assistant", text: `Quay ${turn} is done. ${words(0.05)}` });
  }
  await session.compact();
  await session.append({ role: "user", text: "Also paint the lighthouse." });
  const { slots } = await session.window({ model: "m" }).look();
  const text = extractCarryOver(slots);
  for (const name of ["Meridian", "[ ] Ask the pilot", "paint the lighthouse"]) expect(text).toContain(name);
});

/** Talks through a gateway until the provider counts this share of the window. */
async function talk(gateway: TestGateway, agent: TestAgent, turns: number) {
  for (let turn = 0; turn < turns; turn++) await agent.say(`Turn ${turn}: ${words(0.05)}`);
  const [main] = await threadsOf(gateway, "main");
  const session = await gateway.kernel.session(main?.id);
  const { entries } = await session.page({ kinds: ["notice"], limit: 100 });
  const notes = entries.flatMap((entry) => (entry.kind === "notice" ? [entry.text] : []));
  return { session, notes: notes.filter((text) => text.includes("begin a new conversation")) };
}

async function startTalk(config: object) {
  const upstream = await startUpstream((heard, response) => {
    const usage = { input: Math.ceil(heard.body.length / 6), output: 5 };
    behave(heard, response, { type: "reply", reply: { text: "Fine.", usage } });
  });
  const from = [{ name: "up", baseUrl: upstream.url, apis: ["anthropic"], window: WINDOW }];
  const gateway = await startGateway({ upstream: from, config: { ...config } });
  return { from, gateway, agent: new TestAgent(gateway) };
}

test("the gateway advises only once, even across a restart, and the API and command line show the text to carry over", async () => {
  const { from, gateway, agent } = await startTalk({ policy: "none" });
  expect((await talk(gateway, agent, 8)).notes).toEqual([]);
  const { session, notes } = await talk(gateway, agent, 10);
  expect(notes).toEqual([
    expect.stringMatching(
      /^7\d % of the window can never leave it: begin a new conversation, carried over: /,
    ),
  ]);
  expect(gateway.logged.filter(({ event }) => event === "advice")).toHaveLength(1);
  const { id } = session;
  await gateway.close();
  const restarted = await startGateway({ upstream: from, path: gateway.path, config: { policy: "none" } });
  agent.gateway = restarted;
  expect((await talk(restarted, agent, 1)).notes).toEqual(notes);

  const api = await ApiClient.open(restarted);
  const { advice } = (await api.get(`/sessions/${encodeURIComponent(id)}/window?window=${WINDOW}`)).body;
  expect(advice.share).toBeGreaterThanOrEqual(0.7);
  expect(advice.carryOver).toContain("Turn 0: alpha");
  const flags = ["--store", gateway.path, "--window", String(WINDOW), "--policy", "none"];
  const shown = await jsonHere(["context", id, "--json", ...flags]);
  expect(shown.value.window.advice).toEqual(advice);
  const { stdout } = await runHere(["context", id, "--full", ...flags]);
  expect(stdout).toMatch(/% of the window can never leave it: begin a new conversation\n/);
  expect(stdout).toContain("Turn 0: alpha");
});

proofTest("the gateway never advises while its edits make room", async () => {
  const { gateway, agent } = await startTalk({});
  const { notes } = await talk(gateway, agent, 30);
  expect(gateway.logged.some(({ event }) => event === "edit")).toBe(true);
  expect(notes).toEqual([]);
});

test("the gateway advises about pins that fill the window", async () => {
  const { gateway, agent } = await startTalk({});
  const { session, notes } = await talk(gateway, agent, 16);
  expect(notes).toEqual([]);
  for await (const { id, kind } of session.entries({ kinds: ["message"] }))
    if (kind === "message") await session.pin(id);
  expect((await talk(gateway, agent, 3)).notes).toHaveLength(1);
});
