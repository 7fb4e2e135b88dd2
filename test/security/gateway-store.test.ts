import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { onlyLine } from "../server/gateway/only-line.ts";
import { TestAgent } from "../support/agent.ts";
import { testFolder } from "../support/folder.ts";
import { ask, quiet, startGateway, type TestGateway, threadsOf } from "../support/gateway.ts";
import { type Answering, says, startUpstream, type Upstream } from "../support/upstream.ts";
import { damageBlob, damageEntry } from "./damage.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const numbered: Answering = (heard, response, index) =>
  says(() => ({ text: `Reply number ${index + 1}.` }))(heard, response, index);

/** Restarts the gateway on the same store. */
async function restart(gateway: TestGateway, upstream: Upstream): Promise<TestGateway> {
  await gateway.close();
  return startGateway({ upstream: upstream.url, path: gateway.path });
}

/** An agent with the same conversation on another gateway. */
function moved(agent: TestAgent, gateway: TestGateway, api: (typeof APIS)[number]): TestAgent {
  const next = new TestAgent(gateway, api);
  next.elements.push(...agent.elements);
  return next;
}

const ready = async (gateway: TestGateway) =>
  JSON.parse((await ask(gateway, { method: "GET", path: "/readyz" })).text);

describe.each(APIS)("a conversation over %s", (api) => {
  test("a conversation whose session is deleted while it is open goes on from the client's history", async () => {
    const upstream = await startUpstream(numbered);
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    await agent.say("Find the bug in the parser.");
    await agent.say("Now fix it, please.");
    const [main] = await threadsOf(gateway, "main");
    await gateway.kernel.deleteSession(main?.id as string, { recursive: true });
    expect((await agent.say("And write a test for it.")).text).toContain("Reply");
    expect((await agent.say("Thank you.")).text).toContain("Reply");
    expect(await onlyLine(gateway, "main")).toEqual([
      "user|Find the bug in the parser.",
      "assistant|Reply number 1.",
      "user|Now fix it, please.",
      "assistant|Reply number 2.",
      "user|And write a test for it.",
      "assistant|Reply number 3.",
      "user|Thank you.",
      "assistant|Reply number 4.",
    ]);
  });

  test.each([1, 2, 3, 4])(
    "a conversation with a damaged entry %i goes on after a restart, and the log holds all its messages again",
    async (seq) => {
      const upstream = await startUpstream(numbered);
      let gateway = await startGateway({ upstream: upstream.url });
      const agent = new TestAgent(gateway, api);
      await agent.say("Find the bug in the parser.");
      await agent.say("Now fix it, please.");
      const [main] = await threadsOf(gateway, "main");
      const id = main?.id as string;
      const session = await gateway.kernel.session(id);
      const messages = (await session.read({ from: 1, kinds: ["message"] })).map((entry) => entry.seq);
      await gateway.close();
      damageEntry(gateway.path, id, messages[seq - 1] as number);
      gateway = await restart(gateway, upstream);
      const again = moved(agent, gateway, api);
      expect((await again.say("And write a test for it.")).text).toContain("Reply");
      expect((await again.say("Thank you.")).text).toContain("Reply");
      const said = JSON.stringify(upstream.heard.at(-1)?.body.toString());
      for (const words of ["Find the bug", "Reply number 1", "Now fix it", "Reply number 3", "Thank you"])
        expect(said).toContain(words);
      await quiet(gateway);
      const lines = await Promise.all(
        (await threadsOf(gateway, "main")).map(async ({ id: own }) => {
          const { entries } = await (await gateway.kernel.session(own)).page({ kinds: ["message"] });
          return entries.map(({ kind }) => kind);
        }),
      );
      expect(lines).toContainEqual(Array.from({ length: 8 }, () => "message"));
    },
  );

  test("a conversation with a damaged blob goes on after a restart", async () => {
    const upstream = await startUpstream(numbered);
    let gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    await agent.say(`Read this.\n${"a long line of a log file\n".repeat(4_000)}`);
    await agent.say("Now fix it, please.");
    const [main] = await threadsOf(gateway, "main");
    const session = await gateway.kernel.session(main?.id as string);
    const entries = await session.read({ from: 1, kinds: ["message"] });
    const parts = entries.flatMap((entry) => (entry.kind === "message" ? entry.message.parts : []));
    const blob = parts.find((part) => part.type === "blob");
    await gateway.close();
    damageBlob(gateway.path, blob?.type === "blob" ? blob.digest : "");
    gateway = await restart(gateway, upstream);
    const again = moved(agent, gateway, api);
    expect((await again.say("And write a test for it.")).text).toContain("Reply");
    expect(upstream.heard.at(-1)?.body.toString()).toContain("a long line of a log file");
  });
});

describe("a gateway whose store fails", () => {
  test("a gateway whose store fails relays replies that it cannot store, reports that it is not ready, and then recovers", async () => {
    const upstream = await startUpstream(numbered);
    const path = testFolder();
    const gateway = await startGateway({ upstream: upstream.url, path, busyTimeoutMs: 100 });
    const agent = new TestAgent(gateway, "anthropic");
    expect((await agent.say("Find the bug.")).text).toContain("Reply");
    await quiet(gateway);
    expect(await ready(gateway)).toMatchObject({ status: "ready" });
    const lock = new DatabaseSync(join(path, "log.db"));
    lock.exec("BEGIN IMMEDIATE");
    expect((await agent.say("Now fix it, please.")).text).toContain("Reply");
    expect(await ready(gateway)).toEqual({ status: "not ready", reasons: ["store"] });
    expect(gateway.logged.some(({ event, error }) => event === "request" && error === "STORE_BUSY")).toBe(
      true,
    );
    lock.exec("ROLLBACK");
    lock.close();
    expect(await ready(gateway)).toMatchObject({ status: "ready" });
    expect((await agent.say("Thank you.")).text).toContain("Reply");
    expect(await onlyLine(gateway, "main")).toEqual([
      "user|Find the bug.",
      "assistant|Reply number 1.",
      "user|Now fix it, please.",
      "assistant|Reply number 2.",
      "user|Thank you.",
      "assistant|Reply number 3.",
    ]);
  });

  test("a gateway reports that it is not ready when the files of its store were removed", async () => {
    const upstream = await startUpstream(numbered);
    const gateway = await startGateway({ upstream: upstream.url });
    expect(await ready(gateway)).toMatchObject({ status: "ready" });
    const aside = join(testFolder(), "aside");
    renameSync(gateway.path, aside);
    expect(await ready(gateway)).toEqual({ status: "not ready", reasons: ["store"] });
    await gateway.close();
    rmSync(aside, { recursive: true });
  });
});
