import { expect, test } from "vitest";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { quiet, startGateway } from "../../../support/gateway.ts";
import { type Heard, says, startUpstream } from "../../../support/upstream.ts";

const TOOL = { type: "memory_20250818", name: "memory" };

/** The texts of the results in the newest message of a request. */
function results(heard: Heard | undefined): readonly string[] {
  const content = heard?.json.messages.at(-1).content as readonly WireObject[];
  return content.map((block) => String(block.content));
}

function say(...inputs: readonly object[]) {
  return {
    toolCalls: inputs.map((input, at) => ({
      id: `m${at}_${JSON.stringify(input).length}`,
      name: "memory",
      input,
    })),
  };
}

async function start(calls: readonly object[], config: object = { memoryTool: "serve" }) {
  const upstream = await startUpstream(
    says((_, index) => (index < calls.length ? say(calls[index] as object) : { text: "Done." })),
  );
  const gateway = await startGateway({ upstream: upstream.url, config: { ...config } });
  const agent = new TestAgent(gateway);
  agent.fields.tools = [TOOL, { name: "run_command", input_schema: { type: "object" } }];
  return { upstream, gateway, agent };
}

test("the memory tool is answered from the person's memories, and the client sees one reply", async () => {
  const { upstream, gateway, agent } = await start([
    { command: "view", path: "/memories" },
    { command: "create", path: "/memories/notes.md", file_text: "Port 7781.\nHost staging." },
    { command: "str_replace", path: "/memories/notes.md", old_str: "7781", new_str: "7782" },
    { command: "insert", path: "/memories/notes.md", insert_line: 0, insert_text: "Facts:" },
    { command: "view", path: "/memories/notes.md" },
    { command: "rename", old_path: "/memories/notes.md", new_path: "/memories/facts.md" },
    { command: "view", path: "/memories/../etc/passwd" },
    { command: "view", path: "/memories" },
  ]);
  await gateway.kernel.memories().remember("The user prefers short answers.", { by: "user" });
  const reply = await agent.say("Remember the port.");
  expect([reply.text, reply.calls]).toEqual(["Done.", []]);
  const told = upstream.heard.slice(1).map(results);
  expect(told[0]?.[0]).toContain("/memories/remembered.md");
  expect(told[4]?.[0]).toBe("     1\tFacts:\n     2\tPort 7782.\n     3\tHost staging.");
  expect(told[6]?.[0]).toMatch(/^Error: /);
  expect(told[7]?.[0]).toContain("/memories/facts.md");
  expect(told[7]?.[0]).not.toContain("notes.md");
  const texts = (await gateway.kernel.memories().list()).map(({ text }) => text);
  expect(texts).toContain("/memories/facts.md\nFacts:\nPort 7782.\nHost staging.");
});

test("another client of the same person reads the same memory file", async () => {
  const { upstream, gateway, agent } = await start([
    { command: "create", path: "/memories/a.md", file_text: "Alpha." },
  ]);
  await agent.say("Save.");
  upstream.answer(
    says((_, index) => (index === 2 ? say({ command: "view", path: "/memories/a.md" }) : { text: "Read." })),
  );
  const other = new TestAgent(gateway);
  other.fields.tools = [TOOL];
  other.fields.system = "Another client.";
  await other.say("What do you know?");
  expect(results(upstream.heard.at(-1))).toEqual(["     1\tAlpha."]);
});

test("a note that the model saves next to calls of the client's tools is stored", async () => {
  const { upstream, gateway, agent } = await start([]);
  const save = { command: "create", path: "/memories/b.md", file_text: "Beta." };
  upstream.answer(
    says(() => ({ toolCalls: [...say(save).toolCalls, { id: "c1", name: "run_command", input: {} }] })),
  );
  const reply = await agent.say("Go.");
  expect(reply.calls.map(({ name }) => name)).toEqual(["run_command"]);
  await quiet(gateway);
  const texts = (await gateway.kernel.memories().list()).map(({ text }) => text);
  expect(texts).toEqual(["/memories/b.md\nBeta."]);
});

test.each([
  [{}, [TOOL]],
  [{ memoryTool: "serve" }, [{ name: "memory", input_schema: { type: "object" } }]],
])("calls of a memory tool reach the client by default, and if only the name fits", async (config, tools) => {
  const { agent } = await start([{ command: "view", path: "/memories" }], config);
  agent.fields.tools = tools;
  expect((await agent.say("Look.")).calls.map(({ name }) => name)).toEqual(["memory"]);
});
