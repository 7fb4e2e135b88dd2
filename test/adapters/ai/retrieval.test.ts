import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { running } from "./agent/running.ts";
import { lineOf, logOf, reply, speaking } from "./speaking.ts";

const asked = "What did we decide about the port of the staging server last time?";

async function remembering() {
  const all = await speaking();
  const earlier = await all.kernel.session("monday");
  await earlier.append({ role: "user", text: "We decided that the staging server uses port 7781." });
  return { ...all, retrieval: { memory: all.kernel.memory } };
}

describe("automatic retrieval", () => {
  test("automatic retrieval is off by default", async () => {
    const { server, session, model } = await remembering();
    server.script(reply("I do not know."));
    await generateText({ model: model(), prompt: asked });
    expect(await lineOf(session)).toHaveLength(2);
  });

  test.each(["caller", "session"] as const)(
    "automatic retrieval puts earlier words before the message that refers to them, once, and keeps the prefix: history by %s",
    async (history) => {
      const { server, session, model, retrieval } = await remembering();
      server.script(reply("7781."), reply("Gladly."), reply("Bye."));
      const speaker = model({ retrieval, history });
      const messages: ModelMessage[] = [];
      for (const content of [asked, "Thank you.", "Good night."]) {
        const said: ModelMessage = { role: "user", content };
        const given = history === "caller" ? [...messages, said] : [said];
        const { response } = await generateText({ model: speaker, messages: given });
        messages.push(said, ...response.messages);
      }
      const line = await lineOf(session);
      expect(line.map((said) => said.split("\n")[0])).toEqual([
        expect.stringMatching(/^user: <context mark="\w+">$/),
        `user: ${asked}`,
        "assistant: 7781.",
        "user: Thank you.",
        "assistant: Gladly.",
        "user: Good night.",
        "assistant: Bye.",
      ]);
      expect(line[0]).toContain("| We decided that the staging server uses port 7781.");
      const log = await logOf(session);
      expect(log[0]).toMatchObject({ message: { meta: { longhaul: "recalled" } } });
      expect(log.filter(({ kind }) => kind === "line")).toHaveLength(0);
      const [first = "", second = "", third = ""] = server.requests.map(({ body }) =>
        JSON.stringify(body.messages).slice(0, -1),
      );
      expect(second.startsWith(first)).toBe(true);
      expect(third.startsWith(second)).toBe(true);
    },
  );

  test("automatic retrieval does not run again in the steps of a tool loop or when a call is repeated", async () => {
    const { server, session, model, retrieval } = await remembering();
    const tools = { look: tool({ inputSchema: z.object({}), execute: async () => "seen" }) };
    const calls = [{ id: "c1", name: "look", input: {} }];
    server.script(reply({ toolCalls: calls }), { type: "error", kind: "overflow" }, reply("7781."));
    await generateText({
      model: model({ retrieval }),
      tools,
      stopWhen: isStepCount(3),
      prompt: asked,
    });
    const line = await lineOf(session);
    expect(line).toHaveLength(5);
    expect(line.filter((said) => said.includes("<context"))).toHaveLength(1);
  });

  test("automatic retrieval adds nothing if the message refers to nothing or the window already shows the words", async () => {
    const { server, session, model, retrieval } = await remembering();
    server.always(reply("Hm."));
    const speaker = model({ retrieval, history: "session" });
    await generateText({ model: speaker, prompt: "Write a poem on spring." });
    await session.append({ role: "user", text: "We decided that the staging server uses port 7781." });
    await generateText({ model: speaker, prompt: asked });
    expect((await lineOf(session)).filter((said) => said.includes("<context"))).toEqual([]);
  });

  test("automatic retrieval works for the input of an agent's task", async () => {
    const { server, kernel, session, run } = await running();
    const earlier = await kernel.session("monday");
    await earlier.append({ role: "user", text: "We decided that the staging server uses port 7781." });
    server.script(reply("7781."));
    await run(asked, { retrieval: true });
    const line = await lineOf(session);
    expect(line[0]).toMatch(/^user: <context[\s\S]*port 7781/);
    expect(line.slice(1)).toEqual([`user: ${asked}`, "assistant: 7781."]);
  });
});
