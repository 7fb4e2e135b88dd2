import { tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { aiSdkAgent } from "../../../../src/adapters/ai/index.ts";
import { startChild } from "../../../support/child.ts";
import { testFolder } from "../../../support/folder.ts";
import { testKernel } from "../../../support/kernel.ts";
import { proofTest } from "../../../support/proof.ts";
import { lineOf, logOf, reply } from "../speaking.ts";
import { calling, running } from "./running.ts";

/** A tool that starts, and returns only when told to. */
function slowTool() {
  const begun = Promise.withResolvers<void>();
  const slow = tool({
    inputSchema: z.object({}),
    execute: (_, { abortSignal }) => {
      begun.resolve();
      return new Promise<string>((_resolve, reject) => {
        abortSignal?.addEventListener("abort", () => reject(abortSignal.reason));
      });
    },
  });
  return { slow, begun: begun.promise };
}

const INTERRUPTED = /^tool: Interrupted: .*look before you repeat it\.$/;

describe("an interrupted AI SDK agent", () => {
  proofTest(
    "an agent whose process was killed goes on from the log, and the model hears that its open call was interrupted",
    async () => {
      const { server, plain } = await running();
      const path = testFolder();
      server.script(calling("c1", "deploy", {}, "Now."));
      const child = startChild(new URL("./crasher.ts", import.meta.url), [path, server.url]);
      expect((await child.lines.next()).value).toBe("called");
      child.process.kill("SIGKILL");
      await child.ended();

      const kernel = await testKernel({ path });
      server.script(reply("I do not know whether it is deployed."));
      kernel.tasks.register(aiSdkAgent({ kernel, name: "tester", model: plain() }));
      expect(await kernel.tasks.recover()).toMatchObject({ resumed: 1 });
      const { outcome } = await kernel.tasks.wait("t");
      expect(outcome?.result).toMatchObject({ text: "I do not know whether it is deployed.", steps: 2 });
      const line = await lineOf(await kernel.session("s"));
      expect(line).toEqual([
        "user: Deploy it.",
        "assistant: Now. | deploy({})",
        expect.stringMatching(INTERRUPTED),
        "assistant: I do not know whether it is deployed.",
      ]);
    },
  );

  test("an agent that is moved to the background goes on there at once", async () => {
    const { server, session, kernel, agent } = await running();
    const { slow, begun } = slowTool();
    server.script(calling("c1", "slow", {}), reply("Moved."));
    const task = await kernel.tasks.start(agent({ tools: { slow } }), "Go.", {
      session: session.id,
      mode: "foreground",
    });
    await begun;
    expect((await task.detach()).mode).toBe("background");
    const { outcome } = await task.wait();
    expect(outcome?.result).toMatchObject({ text: "Moved." });
    expect(await lineOf(session)).toEqual([
      "user: Go.",
      "assistant: slow({})",
      expect.stringMatching(INTERRUPTED),
      "assistant: Moved.",
    ]);
  });

  test("killing an agent stops its tools and its output, and the next task tells the model about the open call", async () => {
    const { server, session, kernel, agent, run } = await running();
    const { slow, begun } = slowTool();
    server.script(calling("c1", "slow", {}, "I begin."));
    const task = await kernel.tasks.start(agent({ tools: { slow } }), "Go.", { session: session.id });
    await begun;
    expect((await task.kill()).state).toBe("killed");
    expect(await lineOf(session)).toEqual(["user: Go.", "assistant: I begin. | slow({})"]);
    server.script(reply("Stopped."));
    await run("What happened?");
    expect(await lineOf(session)).toEqual([
      "user: Go.",
      "assistant: I begin. | slow({})",
      expect.stringMatching(INTERRUPTED),
      "user: What happened?",
      "assistant: Stopped.",
    ]);
  });

  test("killing an agent in the middle of a reply closes the connection and keeps the streamed words", async () => {
    const { server, session, kernel, agent } = await running();
    server.script({ type: "stall-midway", reply: { text: "one two three four" }, afterEvents: 5 });
    const task = await kernel.tasks.start(agent(), "Count.", { session: session.id });
    const { closed } = await server.received(1);
    const outputs = async () =>
      (await logOf(session)).flatMap((entry) =>
        entry.kind === "task" && entry.note.type === "output" ? [entry.note.text] : [],
      );
    await expect
      .poll(async () => (await session.read({ from: 1, kinds: ["task"] })).length)
      .toBeGreaterThan(2);
    await task.kill();
    expect(await closed).toBe(false);
    expect(await lineOf(session)).toEqual(["user: Count."]);
    expect((await outputs()).join("")).toMatch(/^(one two )?$/);
  });

  test("an agent that was interrupted after its last reply does not ask the model again", async () => {
    const { kernel, session, agent, server } = await running();
    const run = agent().run;
    const context = {
      task: "t",
      tag: "resume-test",
      input: "How is it?",
      cause: "resume" as const,
      mode: "background" as const,
      checkpoint: { noticesTo: 0 },
      signal: new AbortController().signal,
      session: async () => session,
      spent: () => ({ tokens: 0, dollars: 0, steps: 1 }),
      children: async () => [],
    };
    await session.append({ role: "user", text: "How is it?" });
    await session.append({ role: "assistant", text: "Fine." });
    const events = run(context as never)[Symbol.asyncIterator]();
    for (let next = await events.next(); ; next = await events.next()) {
      if (!next.done) continue;
      expect(next.value).toEqual({ text: "Fine.", steps: 1, stop: "done" });
      break;
    }
    expect(server.requests).toHaveLength(0);
    expect(kernel).toBeDefined();
  });
});
