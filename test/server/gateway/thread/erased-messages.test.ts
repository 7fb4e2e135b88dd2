import { describe, expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, threadsOf } from "../../../support/gateway.ts";
import { says, startUpstream } from "../../../support/upstream.ts";

const SECRET = "The vault opens with heronfold turns.";
const WORD = "heronfold";
const NAMED = { "x-claude-code-session-id": "origin-0001" };

/** A conversation of three exchanges, some of whose messages were erased, behind a gateway that was started again. */
async function restartAfterErasure(erased: readonly string[], headers: Record<string, string> = {}) {
  const upstream = await startUpstream(says((_, index) => ({ text: `Reply ${index + 1}.` })));
  const first = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(first);
  Object.assign(agent.headers, headers);
  for (const words of ["Hello.", SECRET, "What is next?"]) await agent.say(words);
  const [thread] = await threadsOf(first, "main");
  const id = thread?.id ?? "";
  await using session = await first.kernel.session(id);
  for await (const { seq, ...entry } of session.entries({ kinds: ["message"] }))
    if (erased.some((words) => JSON.stringify(entry).includes(words))) await session.redact(seq);
  await first.close();
  const gateway = await startGateway({ upstream: upstream.url, path: first.path });
  agent.gateway = gateway;
  const from = upstream.heard.length;
  return {
    ...{ agent, gateway, id },
    sent: () => upstream.heard.slice(from).map(({ body }) => body.toString()),
    /** Everything that is stored, except erased content. */
    async readStored() {
      const stored: string[] = [];
      for (const { id: each } of await threadsOf(gateway)) {
        await using one = await gateway.kernel.session(each);
        for await (const entry of one.entries()) stored.push(JSON.stringify(entry));
      }
      return stored.join("\n");
    },
  };
}

describe("an erased message of a conversation whose client still has it, after a restart", () => {
  test.each([
    ["a conversation without a message", [SECRET], {}],
    ["a conversation with the client's id", [SECRET], NAMED],
    ["a conversation without its first message", ["Hello."], {}],
    ["a conversation without a message and its reply", [SECRET, "Reply 2."], {}],
    ["a conversation without its last exchange", ["What is next?", "Reply 3."], NAMED],
  ])("%s goes on, and neither the log nor the provider gets the erased words", async (_, erased, headers) => {
    const { agent, gateway, id, sent, readStored } = await restartAfterErasure(erased, headers);
    for (const words of ["Go on.", "And now?"]) await agent.say(words);
    expect((await threadsOf(gateway)).map((thread) => thread.id)).toEqual([id]);
    expect(sent()).toHaveLength(2);
    for (const words of erased)
      for (const text of [await readStored(), ...sent()]) expect(text).not.toContain(words);
    for (const body of sent()) expect(body).toContain("Go on.");
  });

  test.each([
    ["anthropic", "restarted"],
    ["openai-chat", "restarted"],
    ["openai-responses", "restarted"],
    ["google", "restarted"],
    ["anthropic", "running"],
  ] as const)(
    "an erased result of a tool keeps its call and its place (%s, %s gateway)",
    async (api, state) => {
      const call = { id: "call_1", name: "read_file", input: { path: ".env" } };
      const upstream = await startUpstream(
        says((_, index) => (index === 1 ? { toolCalls: [call] } : { text: `Reply ${index + 1}.` })),
      );
      const first = await startGateway({ upstream: upstream.url });
      const agent = new TestAgent(first, api);
      await agent.say("Hello.");
      await agent.hand((await agent.say("Which settings are there?")).calls, SECRET);
      const [thread] = await threadsOf(first, "main");
      await using session = await first.kernel.session(thread?.id ?? "");
      for await (const { seq, ...entry } of session.entries({ kinds: ["message"] }))
        if (JSON.stringify(entry).includes(WORD)) await session.redact(seq);
      if (state === "restarted") {
        await first.close();
        agent.gateway = await startGateway({ upstream: upstream.url, path: first.path });
      }
      await agent.say("Go on.");
      const sent = upstream.heard.at(-1)?.body.toString() ?? "";
      expect(sent).not.toContain(WORD);
      expect(sent).toContain("[removed on request]");
      // One id is the call's, the other one the result's.
      expect(sent.split('"call_1"')).toHaveLength(3);
    },
  );

  test("the newest reply of a running gateway is not sent after its erasure", async () => {
    const upstream = await startUpstream(says((_, index) => ({ text: `Reply ${index + 1}: ${SECRET}` })));
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway);
    for (const words of ["Hello.", "And now?"]) {
      await agent.say(words);
      const [thread] = await threadsOf(gateway, "main");
      await using session = await gateway.kernel.session(thread?.id ?? "");
      for await (const { seq, ...entry } of session.entries({ kinds: ["message"] }))
        if (JSON.stringify(entry).includes(WORD)) await session.redact(seq);
    }
    await agent.say("Go on.");
    const sent = upstream.heard.slice(1).map(({ body }) => body.toString());
    expect(sent).toHaveLength(2);
    expect(sent.join("\n")).not.toContain(WORD);
  });

  test("a copy under a new id becomes a fork without the erased words", async () => {
    const { agent, gateway, sent, readStored } = await restartAfterErasure([SECRET], NAMED);
    const fork = new TestAgent(gateway);
    fork.headers["x-claude-code-session-id"] = "fork-0002";
    fork.elements = [...agent.elements];
    for (const words of ["Another way.", "Go on."]) await fork.say(words);
    expect(await threadsOf(gateway, "main")).toHaveLength(2);
    expect(await readStored()).not.toContain(WORD);
    expect(sent().join("\n")).not.toContain(WORD);
  });

  test("a client that says something else in place of the erased end is stored", async () => {
    const { agent, readStored, sent } = await restartAfterErasure(["What is next?", "Reply 3."], NAMED);
    agent.elements.splice(4);
    await agent.say("Something else.");
    await agent.say("Go on.");
    expect(await readStored()).toContain("Something else.");
    for (const body of sent()) expect(body).toContain("Something else.");
  });

  test("a client that goes back before it and says something else is stored", async () => {
    const { agent, readStored, sent } = await restartAfterErasure([SECRET]);
    agent.elements.splice(2);
    await agent.say("Something else.");
    expect(await readStored()).toContain("Something else.");
    expect(sent()[0]).toContain("Something else.");
  });
});
