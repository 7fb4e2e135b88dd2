import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { buildPersonId } from "../../../../src/model/session-key.ts";
import { TestAgent } from "../../../support/agent.ts";
import { testFolder } from "../../../support/folder.ts";
import { ask, startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { NAMES, peopleIn, startGatewayOfPeople, tokenOf } from "../../../support/many-people.ts";
import { ALICE_TOKEN, BOB_TOKEN } from "../../../support/people.ts";
import { proofTest } from "../../../support/proof.ts";
import { type Answering, says, startUpstream } from "../../../support/upstream.ts";
import { ChainedClient, startKeepingUpstream, wordsIn } from "../chains/chained.ts";
import { lineOfThread } from "../only-line.ts";

const ALICE = ALICE_TOKEN;
const BOB = BOB_TOKEN;
const TOKENS = [
  { name: "alice", env: "ALICE" },
  { name: "bob", env: "BOB" },
];
/** The response that the fixture's chain ends with. */
const LAST_RESPONSE = "resp_2_40184";

const numbered: Answering = (heard, response, index) =>
  says(() => ({ text: `Reply number ${index + 1}.` }))(heard, response, index);

/** A store in which each credential was a separate person, as version 0.1 wrote it. */
function unpackFormerStore(): string {
  const folder = testFolder();
  const packed = readFileSync(new URL("../../../fixtures/store-by-credential.db.gz", import.meta.url));
  writeFileSync(join(folder, "log.db"), gunzipSync(packed), { mode: 0o600 });
  return folder;
}

async function listIds({ kernel }: TestGateway): Promise<readonly string[]> {
  return (await kernel.sessions({ limit: 100 })).map(({ id }) => id).sort();
}

function say(role: string, content: string) {
  return { role, content };
}

describe("without tokens", () => {
  test("without tokens, a login that renews its credential stays in one session", async () => {
    const upstream = await startUpstream(numbered);
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    for (const token of ["first", "second", "third"]) {
      agent.headers.authorization = `Bearer ${token}`;
      await agent.say(`With the ${token} token.`);
      expect(upstream.heard.at(-1)?.header("authorization")).toBe(`Bearer ${token}`);
    }
    const threads = await threadsOf(gateway, "main");
    expect(threads).toHaveLength(1);
    expect(threads[0]?.id).toMatch(/^local\/anthropic:/);
    expect(await lineOfThread(gateway, threads[0]?.id)).toHaveLength(6);
  });
});

describe("with tokens", () => {
  test("a person keeps the conversation after the token was replaced", async () => {
    const upstream = await startUpstream(numbered);
    const first = await startGateway({
      upstream: upstream.url,
      env: { ALICE },
      config: { tokens: TOKENS.slice(0, 1) },
    });
    const agent = new TestAgent(first);
    agent.headers["x-longhaul-token"] = ALICE;
    await agent.say("Begin.");
    await first.close();
    const env = { ALICE: `${ALICE}-replaced` };
    const second = await startGateway({
      upstream: upstream.url,
      path: first.path,
      env,
      config: { tokens: TOKENS.slice(0, 1) },
    });
    agent.gateway = second;
    agent.headers["x-longhaul-token"] = env.ALICE;
    await agent.say("Go on.");
    const threads = await threadsOf(second, "main");
    expect(threads.map(({ id }) => id.split("/")[0])).toEqual(["@alice"]);
    expect(await lineOfThread(second, threads[0]?.id)).toHaveLength(4);
  });

  test("names of people become ids that cannot be confused", () => {
    expect(buildPersonId("alice")).toBe("@alice");
    expect(buildPersonId("a/b c")).toBe("@a%2Fb%20c");
    const long = ["x".repeat(90), `${"x".repeat(89)}y`].map(buildPersonId);
    expect(new Set(long).size).toBe(2);
    for (const id of long) expect(id.length).toBeLessThanOrEqual(33);
  });
});

proofTest(
  "the pages show each person only that person's own conversations, whatever the person's name",
  async () => {
    const gateway = await startGatewayOfPeople();
    for (const name of NAMES) {
      const get = async (path: string) =>
        ask(gateway, { method: "GET", path, headers: { "x-longhaul-token": tokenOf(name) } });
      const own = `${buildPersonId(name)}/`;
      const { sessions } = JSON.parse((await get("/api/v1/sessions")).text);
      expect(sessions.map(({ id }: { readonly id: string }) => id.startsWith(own))).toEqual([true]);
      const { threads, totals } = JSON.parse((await get("/api/v1/gateway")).text);
      expect(threads.map(({ session }: { readonly session: string }) => session)).toEqual([sessions[0].id]);
      expect(totals).toBeNull();
      expect(peopleIn((await get("/api/v1/recall?q=how+many+turns+open+the+vault&k=50")).text)).toEqual([
        name,
      ]);
      for (const id of await listIds(gateway)) {
        const path = encodeURIComponent(id);
        const isOwn = id.startsWith(own);
        const { status, text } = await get(`/api/v1/sessions/${path}`);
        expect([status, peopleIn(text)]).toEqual(isOwn ? [200, [name]] : [404, []]);
        const recalled = await get(`/api/v1/recall?q=vault&session=${path}`);
        expect(peopleIn(recalled.text)).toEqual(isOwn ? [name] : []);
        if (!isOwn) expect((await get(`/api/v1/sessions?before=${path}`)).status).toBe(404);
        if (!isOwn) expect((await get(`/api/v1/sessions/${path}/window`)).status).toBe(404);
      }
    }
  },
);

describe("a store from before tokens had names", () => {
  test("a store from before tokens had names goes on with its conversations under another credential", async () => {
    const upstream = await startUpstream(numbered);
    const gateway = await startGateway({ upstream: upstream.url, path: unpackFormerStore() });
    const before = await listIds(gateway);
    for (const [api, first] of [
      ["anthropic", 1],
      ["openai-chat", 3],
    ] as const) {
      const agent = new TestAgent(gateway, api);
      agent.headers.authorization = "Bearer key-of-today";
      agent.elements = [
        say("user", "Find the bug in the parser."),
        say("assistant", `Reply number ${first}.`),
        say("user", "Now fix it, please."),
        say("assistant", `Reply number ${first + 1}.`),
      ];
      await agent.say("And write a test for it.");
    }
    const named = new TestAgent(gateway);
    named.headers["x-longhaul-session"] = "release";
    named.elements = [say("user", "Prepare the release of heliotrope."), say("assistant", "Reply number 5.")];
    await named.say("Publish it.");
    expect(await listIds(gateway)).toEqual(before);
    const lines = await Promise.all(
      before.map(async (id) => (await lineOfThread(gateway, id)).map((line) => line.split("|")[1])),
    );
    expect(lines.filter((line) => line.includes("And write a test for it."))).toHaveLength(2);
    expect(lines.find((line) => line.includes("Publish it."))).toContain(
      "Prepare the release of heliotrope.",
    );
  });

  test("a store from before tokens had names goes on with a response that only its log knows", async () => {
    const upstream = await startKeepingUpstream();
    const path = unpackFormerStore();
    const gateway = await startGateway({ upstream: upstream.url, path });
    await gateway.close();
    const again = await startGateway({ upstream: upstream.url, path });
    const client = new ChainedClient(again, LAST_RESPONSE);
    client.headers = { "x-api-key": "key-of-today" };
    await client.say("Where were we?");
    expect(wordsIn(upstream.contexts.at(-1) ?? []).join("\n")).toContain("Begin the chain.");
  });

  test("a store from before tokens had names gives each token's conversations only to the person of that name", async () => {
    const upstream = await startUpstream(numbered);
    const path = unpackFormerStore();
    const start = (env: Record<string, string>) =>
      startGateway({ upstream: upstream.url, path, env, config: { tokens: TOKENS } });
    const first = await start({ ALICE, BOB });
    const listed = async (gateway: TestGateway, token: string) => {
      const headers = { "x-longhaul-token": token };
      const { text } = await ask(gateway, { method: "GET", path: "/api/v1/sessions", headers });
      return (JSON.parse(text).sessions as { readonly id: string; readonly title: string }[]).map(
        ({ title }) => title,
      );
    };
    expect(await listed(first, ALICE)).toEqual(["Alice asks about the amethyst."]);
    expect(await listed(first, BOB)).toEqual(["Bob asks about the beryl."]);
    await first.close();
    // The token was replaced after the store had learned who owns the old sessions.
    const second = await start({ ALICE: `${ALICE}-replaced`, BOB });
    expect(await listed(second, `${ALICE}-replaced`)).toEqual(["Alice asks about the amethyst."]);
    const before = await listIds(second);
    const agent = new TestAgent(second);
    agent.headers["x-longhaul-token"] = `${ALICE}-replaced`;
    agent.elements = [say("user", "Alice asks about the amethyst."), say("assistant", "Reply number 6.")];
    await agent.say("Which stone was it?");
    expect(await listIds(second)).toEqual(before);
    const mallory = new TestAgent(second);
    mallory.headers["x-longhaul-token"] = BOB;
    mallory.elements = agent.elements.slice(0, 2);
    await mallory.say("Which stone was it?");
    expect(await listIds(second)).toHaveLength(before.length + 1);
  });
});
