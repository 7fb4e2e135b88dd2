import { describe, expect, test } from "vitest";
import { createToken } from "../../../src/server/gateway/index.ts";
import { findNewViolations } from "../../../src/server/gateway/outgoing/check-rules.ts";
import type { WireObject } from "../../../src/wire/wire.ts";
import { lineOf, logOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, sizedTest } from "../../support/proof.ts";
import { startUpstream } from "../../support/upstream.ts";
import { HAS_RECORDINGS } from "./recorded.ts";
import { type Replayed, readScenarios, replay, type Scenario } from "./replay.ts";
import { textsIn } from "./said.ts";

const scenarios = HAS_RECORDINGS ? readScenarios() : [];
const byName = scenarios.map((scenario) => [scenario.name, scenario] as const);
const PASS = { policy: "none" };

describe.skipIf(!HAS_RECORDINGS)("recordings of real clients", () => {
  sizedTest.each(proofCases(byName, 3))("recording %s passes whole with edits off", async (_, scenario) => {
    const upstream = await startUpstream();
    const gateway = await startGateway({ upstream: upstream.url, config: PASS });
    for (const { recorded, sent, sentHeaders, heard, answer } of await replay(gateway, upstream, scenario)) {
      expect(heard.url).toBe(recorded.url);
      expect(heard.body.equals(sent)).toBe(true);
      expect(connectionAside(heard.rawHeaders)).toEqual(connectionAside(sentHeaders));
      expect(answer.status).toBe(recorded.status);
      expect(answer.isWhole).toBe(!recorded.isCut);
      expect(answer.body.equals(recorded.bytes)).toBe(true);
      expect(answer.rawHeaders.join()).toContain("X-Request-Id,req_1");
      expect(answer.rawHeaders.join()).toContain("X-Ratelimit-Left,7");
    }
    expect(upstream.heard).toHaveLength(scenario.recorded.length);
  });

  sizedTest.each(proofCases(byName, 3))(
    "the recording %s is one conversation with each message stored once",
    async (_, scenario) => {
      const upstream = await startUpstream();
      const gateway = await startGateway({ upstream: upstream.url });
      await replay(gateway, upstream, scenario);
      const mains = await threadsOf(gateway, "main");
      expect(mains.map(({ id }) => id)).toHaveLength(1);
      const session = await gateway.kernel.session(mains[0]?.id);
      const talks = scenario.recorded.filter(
        ({ body }) => Array.isArray(body.tools) && body.tools.length > 0,
      );
      const last = talks.at(-1);
      const line = (await lineOf(session)).map(({ message }) => textsIn(message));
      expect(line.slice(0, -1)).toEqual(
        last?.api.decode(said(last.api.isLead, last.elements)).map(({ input }) => textsIn(input)),
      );
      const ids = (await logOf(session)).flatMap(({ message }) =>
        message.parts.flatMap((part) => ("callId" in part ? [`${part.type} ${part.callId}`] : [])),
      );
      const isWhole = scenario.recorded.every(({ isCut }) => !isCut);
      if (isWhole && !scenario.name.includes("ctx-once")) expect(ids).toEqual([...new Set(ids)]);
      const told = talks.flatMap(({ elements }) => callIds(elements));
      expect(new Set(ids)).toEqual(new Set([...told, ...lastCalls(ids)]));
    },
  );

  test.each(byName.filter(([name]) => name.includes("ctx-once")))(
    "the recording %s links the client's own summary to the messages that it replaces",
    async (_, scenario) => {
      const upstream = await startUpstream();
      const gateway = await startGateway({ upstream: upstream.url, config: PASS });
      await replay(gateway, upstream, scenario);
      const [main] = await threadsOf(gateway, "main");
      const session = await gateway.kernel.session(main?.id);
      const overlays = (await session.overlays.list()).filter(({ entry }) => entry.edit.type === "summarize");
      const entries = await session.read({ from: 1, limit: 1_000, kinds: ["overlay"] });
      const summary = entries.find((entry) => entry.kind === "overlay" && entry.edit.type === "summarize");
      expect(overlays.length + entries.length).toBeGreaterThan(0);
      const originals: string[] = [];
      for await (const entry of session.expand(summary?.seq ?? 0))
        if (entry.kind === "message") originals.push(textsIn(entry.message));
      const refused = scenario.recorded.find(({ status }) => status === 400);
      const before = refused?.api.decode(said(refused.api.isLead, refused.elements)) ?? [];
      expect(originals).toEqual(before.map(({ input }) => textsIn(input)));
    },
  );

  sizedTest.each(proofCases(byName, 3))(
    "the recording %s keeps every rule of its provider in a small window",
    async (_, scenario) => {
      const upstream = await startUpstream();
      const long = enlarged(scenario);
      const first = long.recorded.find(({ body }) => Array.isArray(body.tools) && body.tools.length > 0);
      const window = Math.ceil(JSON.stringify(first?.body).length / 2) + 5_000;
      const url = upstream.url;
      const upstreams = [
        { name: "small", baseUrl: url, apis: ["anthropic", "openai-chat", "openai-responses"], window },
      ];
      const gateway = await startGateway({ upstream: upstreams });
      const replayed = await replay(gateway, upstream, long);
      for (const one of replayed) checkRules(one);
      const edited = replayed.filter(({ heard, sent }) => !heard.body.equals(sent));
      if (scenario.name.includes("normal")) expect(edited.length).toBeGreaterThan(0);
      expect(await threadsOf(gateway, "main")).toHaveLength(1);
    },
  );

  test("two people who send the same messages have separate conversations", async () => {
    const upstream = await startUpstream();
    const env = { ALICE: createToken(), BOB: createToken() };
    const gateway = await startGateway({
      upstream: upstream.url,
      env,
      config: {
        tokens: [
          { name: "alice", env: "ALICE" },
          { name: "bob", env: "BOB" },
        ],
      },
    });
    const own = { alice: "notes-of-alice", bob: "notes-of-bob" };
    for (const scenario of scenarios.filter(({ name }) => name.includes("normal"))) {
      const alice = await replay(gateway, upstream, renamed(scenario, own.alice), env.ALICE);
      const bob = await replay(gateway, upstream, renamed(scenario, own.bob), env.BOB);
      for (const { heard } of alice) expect(heard.body.includes(own.bob)).toBe(false);
      for (const { heard } of bob) expect(heard.body.includes(own.alice)).toBe(false);
    }
    const sessions = await gateway.kernel.sessions({ limit: 1_000 });
    const principals = new Map<string, Set<string>>();
    for (const { id } of sessions) {
      const text = JSON.stringify(await logOf(await gateway.kernel.session(id)));
      const [principal = ""] = id.split("/");
      const seen = principals.get(principal) ?? new Set();
      for (const [name, word] of Object.entries(own)) if (text.includes(word)) seen.add(name);
      principals.set(principal, seen);
    }
    expect([...principals.values()].map((seen) => [...seen]).sort()).toEqual([["alice"], ["bob"]]);
    for (const question of [own.bob, own.alice]) {
      const recalled = (await (
        await fetch(`${gateway.url}/api/v1/recall?q=${encodeURIComponent(question)}`, {
          headers: { authorization: `Bearer ${env.BOB}` },
        })
      ).json()) as { readonly hits: unknown };
      const hits = JSON.stringify(recalled.hits);
      if (question === own.bob) expect(hits).toContain(own.bob);
      expect(hits).not.toContain(own.alice);
    }
  });
});

function said(
  isLead: (element: WireObject) => boolean,
  elements: readonly WireObject[],
): readonly WireObject[] {
  const first = elements.findIndex((element) => !isLead(element));
  return elements.slice(first < 0 ? elements.length : first);
}

/** Headers expected upstream: all except those of the connection, which belong to the hop. */
function connectionAside(rawHeaders: readonly string[]): readonly string[] {
  const own = ["host", "connection", "content-length"];
  return rawHeaders.filter(
    (_, index) => !own.includes((rawHeaders[index - (index % 2)] as string).toLowerCase()),
  );
}

/** Ids of calls and results in a request, as entries name them. */
function callIds(elements: readonly WireObject[]): readonly string[] {
  const text = JSON.stringify(elements);
  const found = (pattern: RegExp, type: string) =>
    [...text.matchAll(pattern)].map(([, id]) => `${type} ${id}`);
  return [
    ...found(/"type":"tool_use","id":"([^"]+)"/g, "tool-call"),
    ...found(/"tool_use_id":"([^"]+)"/g, "tool-result"),
    ...found(/"id":"([^"]+)","type":"function"/g, "tool-call"),
    ...found(/"tool_call_id":"([^"]+)"/g, "tool-result"),
    ...found(/"type":"function_call",[^{}]*?"call_id":"([^"]+)"/g, "tool-call"),
    ...found(/"type":"function_call_output","call_id":"([^"]+)"/g, "tool-result"),
  ];
}

/** Calls of replies that no later request contains. */
function lastCalls(ids: readonly string[]): readonly string[] {
  return ids.filter((id) => id.startsWith("tool-call") && !ids.includes(id.replace("call", "result")));
}

const BULK = Array.from({ length: 900 }, (_, at) => `row ${at} of gamma`).join("\n");

/** The same conversation with results that fill a window. */
function enlarged(scenario: Scenario): Scenario {
  return changed(scenario, (text) => {
    let count = 0;
    return text.replaceAll("gamma line 42", () => `${BULK} ${count++ % 3}`.replaceAll("\n", "\\n"));
  });
}

function renamed(scenario: Scenario, name: string): Scenario {
  return changed(scenario, (text) => text.replaceAll("notes.txt", `${name}.txt`).replaceAll("otes", name));
}

function changed({ name, recorded }: Scenario, change: (text: string) => string): Scenario {
  const made = recorded.map((one) => {
    const body = JSON.parse(change(JSON.stringify(one.body)));
    return { ...one, body, elements: body[one.api.messagesField] };
  });
  return { name, recorded: made };
}

/** Invariants of every outgoing request, edited or not. */
function checkRules({ recorded: { api, elements }, heard }: Replayed): void {
  const after = heard.json[api.messagesField] as readonly WireObject[];
  expect(findNewViolations(api.name, elements, after)).toEqual([]);
  const markers = heard.body.toString().match(/"cache_control":/g)?.length ?? 0;
  expect(markers).toBeLessThanOrEqual(4);
  // Thinking that is bound to content which has left leaves as a whole.
  const hasThinking = JSON.stringify(after.findLast(isOfAssistant) ?? {}).includes('"type":"thinking"');
  const latest = (list: readonly WireObject[]) => {
    const own = list.findLast(isOfAssistant);
    if (hasThinking || !Array.isArray(own?.content)) return unmarked(own);
    return unmarked({ ...own, content: own.content.filter(({ type }) => type !== "thinking") });
  };
  expect(latest(after)).toBe(latest(elements));
}

function isOfAssistant({ role, type }: WireObject): boolean {
  return role === "assistant" || type === "function_call" || type === "reasoning";
}

/** A serialized element without cache markers. */
function unmarked(element: WireObject | undefined): string {
  return JSON.stringify(element ?? {}, (key, value) => (key === "cache_control" ? undefined : value));
}
