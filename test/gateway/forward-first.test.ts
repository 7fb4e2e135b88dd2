import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { TestAgent } from "../support/agent.ts";
import { testFolder } from "../support/folder.ts";
import { ask, logOf, startGateway, type TestGateway, threadsOf } from "../support/gateway.ts";
import { proofRounds, proofTest, sizedTest } from "../support/proof.ts";
import { serveGateway } from "../support/served-gateway.ts";
import { beginStream, behave, eventsOf, type Heard, startUpstream } from "../support/upstream.ts";

const MODEL = { model: "claude-sonnet-4-5", max_tokens: 100, stream: true };
const path = "/v1/messages";
const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });
const FIRST = [user("Where is the heron?"), assistant("At the lake.")];
const SECOND = [...FIRST, user("And the owl?")];

/** Makes every write wait until it is released. */
function lockStore(folder: string): () => void {
  const other = new DatabaseSync(join(folder, "log.db"));
  other.exec("BEGIN IMMEDIATE");
  return () => {
    other.exec("ROLLBACK");
    other.close();
  };
}

/** The words of every conversation, in order. */
async function readLines(gateway: TestGateway): Promise<readonly (readonly string[])[]> {
  const lines: string[][] = [];
  for (const { id } of await threadsOf(gateway)) {
    const log = await logOf(await gateway.kernel.session(id));
    lines.push(
      log.map(({ message }) => message.parts.map((part) => ("text" in part ? part.text : "")).join("")),
    );
  }
  return lines;
}

/** Answers with words that name the newest message, after some time. */
async function echo(heard: Heard, response: Parameters<typeof behave>[1]): Promise<void> {
  const { messages } = JSON.parse(heard.body.toString()) as { messages: { content: string }[] };
  const newest = messages.at(-1)?.content ?? "";
  behave(heard, response, { type: "reply", reply: { text: `Heard: ${newest}` } });
}

test("a request that nothing changes reaches the provider while the store is locked, and is stored later", async () => {
  const upstream = await startUpstream(echo);
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  await agent.say("First words.");
  const unlock = lockStore(gateway.path);
  const saying = agent.say("Second words.");
  await upstream.received(2);
  unlock();
  await saying;
  expect(await readLines(gateway)).toEqual([
    ["First words.", "Heard: First words.", "Second words.", "Heard: Second words."],
  ]);
  const flags = gateway.logged.filter(({ event }) => event === "request");
  expect(flags.map(({ isForwardedFirst }) => isForwardedFirst)).toEqual([true, true]);
});

test("a request whose tool result may be shortened is stored before it is sent", async () => {
  const upstream = await startUpstream(echo);
  const gateway = await startGateway({ upstream: upstream.url });
  const call = { type: "tool_use", id: "toolu_1", name: "Read", input: { path: "a.ts" } };
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: "a line of a file\n".repeat(20) };
  const messages = [
    user("Read a.ts."),
    { role: "assistant", content: [call] },
    { role: "user", content: [result] },
  ];
  expect((await ask(gateway, { path, body: { ...MODEL, messages } })).status).toBe(200);
  const [request] = gateway.logged.filter(({ event }) => event === "request");
  expect(request?.isForwardedFirst).toBeUndefined();
});

test("a client gets its reply although the store fails after its request was forwarded", async () => {
  const upstream = await startUpstream(echo);
  const gateway = await startGateway({ upstream: upstream.url, busyTimeoutMs: 50 });
  const agent = new TestAgent(gateway);
  await agent.say("First words.");
  const unlock = lockStore(gateway.path);
  agent.elements.push(user("Second words."));
  const answer = await agent.send();
  unlock();
  expect([answer.status, answer.isWhole, answer.text.includes("message_stop")]).toEqual([200, true, true]);
  expect(upstream.heard).toHaveLength(2);
  const errors = gateway.logged.filter(({ event }) => event === "request").map(({ error }) => error);
  expect(errors).toEqual([undefined, "STORE_BUSY"]);
});

test("a looping client is refused before anything is forwarded", async () => {
  const upstream = await startUpstream(echo);
  const gateway = await startGateway({ upstream: upstream.url, config: { breaker: { requests: 2 } } });
  const body = { ...MODEL, messages: SECOND };
  const statuses: number[] = [];
  for (let round = 0; round < 4; round++) statuses.push((await ask(gateway, { path, body })).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(upstream.heard.length);
  expect(statuses.at(-1)).not.toBe(200);
});

sizedTest("hundreds of conversations at once never mix, and each log is what was sent", async () => {
  const upstream = await startUpstream(echo);
  const gateway = await startGateway({ upstream: upstream.url });
  const count = proofRounds(300, 24);
  const turns = 3;
  const agents = Array.from({ length: count }, () => new TestAgent(gateway));
  await Promise.all(
    agents.map(async (agent, index) => {
      for (let turn = 0; turn < turns; turn++) await agent.say(`Words ${index}-${turn} of agent ${index}.`);
    }),
  );
  const expected = Array.from({ length: count }, (_, index) =>
    Array.from({ length: turns }, (_, turn) => `Words ${index}-${turn} of agent ${index}.`).flatMap(
      (words) => [words, `Heard: ${words}`],
    ),
  );
  const byWords = (one: readonly string[], other: readonly string[]) =>
    String(one) < String(other) ? -1 : 1;
  expect((await readLines(gateway)).toSorted(byWords)).toEqual(expected.toSorted(byWords));
  const requests = gateway.logged.filter(({ event }) => event === "request");
  expect(requests.every(({ isForwardedFirst }) => isForwardedFirst === true)).toBe(true);
  expect(upstream.heard).toHaveLength(count * turns);
});

/** A killed gateway: the moment of its end, and the words that its log has then. */
const STAGES = [
  { stage: "before the request was stored", stored: ["Where is the heron?", "At the lake."] },
  { stage: "in the middle of the reply", stored: ["Where is the heron?", "At the lake.", "And the owl?"] },
  {
    stage: "after the last byte of the reply",
    stored: ["Where is the heron?", "At the lake.", "And the owl?", "In the barn."],
  },
] as const;

proofTest.each(STAGES)(
  "a gateway killed $stage has lost exactly that, and a client that asks again doubles nothing",
  async ({ stage, stored }) => {
    const folder = testFolder();
    const begun = Promise.withResolvers<void>();
    const upstream = await startUpstream((heard, response, index) => {
      const text = index === 0 ? "At the lake." : "In the barn.";
      if (index !== 1 || stage === STAGES[2].stage)
        return behave(heard, response, { type: "reply", reply: { text } });
      if (stage === STAGES[1].stage) beginStream(response).write(eventsOf(heard, { text })[0]);
    });
    const killed = await serveGateway(upstream.url, [], folder);
    expect((await ask(killed, { path, body: { ...MODEL, messages: FIRST.slice(0, 1) } })).status).toBe(200);
    const unlock = stage === STAGES[0].stage ? lockStore(folder) : undefined;
    const onBytes = () => begun.resolve();
    const asking = ask(killed, { path, body: { ...MODEL, messages: SECOND }, onBytes }).catch(
      () => undefined,
    );
    await upstream.received(2);
    if (stage === STAGES[1].stage) await begun.promise;
    if (stage === STAGES[2].stage) await asking;
    await killed.kill();
    unlock?.();

    const gateway = await startGateway({ upstream: upstream.url, path: folder });
    expect(await readLines(gateway)).toEqual([stored]);
    const again =
      stage === STAGES[2].stage ? [...SECOND, assistant("In the barn."), user("Thanks.")] : SECOND;
    expect((await ask(gateway, { path, body: { ...MODEL, messages: again } })).status).toBe(200);
    const words = [...again.map(({ content }) => content), "In the barn."];
    expect(await readLines(gateway)).toEqual([words]);
  },
);
