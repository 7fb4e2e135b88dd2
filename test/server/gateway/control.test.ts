import { describe, expect, test } from "vitest";
import { chooseArm } from "../../../src/server/gateway/thread/thread.ts";
import { jsonHere, runHere } from "../../cli/support/here.ts";
import { TestAgent } from "../../support/agent.ts";
import { logOf, quiet, startGateway, type TestGateway, threadsOf } from "../../support/gateway.ts";
import { proofTest } from "../../support/proof.ts";
import { output, startLimitedUpstream } from "./limited.ts";

const WINDOW = 12_000;

async function start(control: number, path?: string) {
  const upstream = await startLimitedUpstream({
    api: "anthropic",
    window: WINDOW,
    isAtOnce: true,
    count: (body) => Math.ceil(body.length / 4),
    reply: (index) => ({ id: `msg_${index}`, text: "Done.", toolCalls: [call(index)] }),
  });
  const gateway = await startGateway({
    upstream: [{ name: "small", baseUrl: upstream.url, apis: ["anthropic"], window: WINDOW }],
    config: { control },
    ...(path !== undefined && { path }),
  });
  return { upstream, gateway };
}

const call = (index: number) => ({ id: `toolu_${index}`, name: "read_file", input: { path: "a.ts" } });

/** A request of a conversation that is far too long for the window. */
function longAgent(gateway: TestGateway, name: string): TestAgent {
  const agent = new TestAgent(gateway);
  agent.fields.tools = [{ name: "read_file", input_schema: { type: "object" } }];
  agent.elements.push({ role: "user", content: `Look at all ships of ${name}.` });
  for (let turn = 0; turn < 24; turn++)
    agent.elements.push(
      {
        role: "assistant",
        content: [
          { type: "text", text: `Ship ${turn} of ${name}.` },
          { type: "tool_use", id: `${name}${turn}`, name: "read_file", input: { path: "a.ts" } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `${name}${turn}`, content: output(turn, 3_000) }],
      },
    );
  return agent;
}

describe("the control group", () => {
  test("the control group is a fixed share of conversations, chosen by their ids", () => {
    const ids = Array.from({ length: 4_000 }, (_, index) => `local/claude-code:${index}`);
    const control = ids.filter((id) => chooseArm(id, 0.1) === "control");
    expect(control.length).toBeGreaterThan(320);
    expect(control.length).toBeLessThan(480);
    expect(ids.filter((id) => chooseArm(id, 0.1) === "control")).toEqual(control);
    expect(ids.every((id) => chooseArm(id, 0) === "edited" && chooseArm(id, 1) === "control")).toBe(true);
    // A larger share keeps the conversations of a smaller one.
    expect(control.every((id) => chooseArm(id, 0.2) === "control")).toBe(true);
  });

  test("a conversation of the control group is logged and sent unchanged, even if the provider refuses it", async () => {
    const { upstream, gateway } = await start(1);
    await gateway.kernel.memories().remember("Ships have no doors.", { by: "user" });
    const agent = longAgent(gateway, "Bremen");
    const body = JSON.stringify({ ...agent.fields, messages: agent.elements });
    const answer = await agent.send();
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("prompt is too long");
    expect(upstream.refused()).toBe(1);
    const heard = upstream.heard.at(-1)?.json as {
      messages: unknown;
      system?: unknown;
      tools: readonly unknown[];
    };
    expect(heard.messages).toEqual(JSON.parse(body).messages);
    expect(JSON.stringify(heard)).not.toContain("doors");
    expect(heard.tools).toHaveLength(1);
    const [main] = await threadsOf(gateway, "main");
    expect(main?.meta?.gateway).toMatchObject({ arm: "control" });
    const session = await gateway.kernel.session(main?.id);
    expect(await logOf(session)).toHaveLength(agent.elements.length);
    expect(await session.overlays.list()).toEqual([]);
    for (let turn = 0; turn < 6; turn++) expect((await agent.send()).text).toContain("prompt is too long");
    expect(upstream.refused()).toBe(7);
    const { value } = await jsonHere(["usage", "--control", "--store", gateway.path]);
    expect(value.groups[0].conversations).toEqual({ control: 1, edited: 0 });
    expect(value.groups[0].figures.find(({ name }: { name: string }) => name === "overflows").control).toBe(
      7,
    );
  });

  test("the report compares the control group with edited conversations, and says when either has too few", async () => {
    const { gateway } = await start(0.5);
    for (const name of ["Bremen", "Kiel", "Emden", "Cuxhaven", "Husum", "Stade"])
      await longAgent(gateway, name).send();
    await quiet(gateway);
    const arms = (await threadsOf(gateway, "main")).map(({ id, meta }) => {
      const { arm } = (meta?.gateway ?? {}) as { arm?: string };
      expect(arm).toBe(chooseArm(id, 0.5));
      return arm;
    });
    expect(new Set(arms)).toEqual(new Set(["control", "edited"]));
    const { value } = await jsonHere(["usage", "--control", "--store", gateway.path]);
    expect(value).toMatchObject({ basis: "measured", minConversations: 20 });
    const [all, ...single] = value.groups;
    expect(all.conversations.control + all.conversations.edited).toBe(6);
    expect(all.isEnough).toBe(false);
    expect(single.length).toBeGreaterThan(0);
    const figure = (name: string) => all.figures.find((one: { name: string }) => one.name === name);
    // Every control conversation was refused once; edited ones fit.
    expect(figure("overflows")).toMatchObject({ control: 1, edited: 0, difference: -1, low: -1, high: -1 });
    expect(figure("steps")).toMatchObject({ control: 0, edited: 1 });
    expect(figure("rereads")).toMatchObject({ control: 23, edited: 24 });
    const { stdout } = await runHere(["usage", "--control", "--store", gateway.path]);
    expect(stdout).toMatch(
      /^All agents and models, measured: \d conversations? in the control arm, \d edited$/m,
    );
    expect(stdout).toContain("Too few to compare: each arm needs 20 conversations.");
    expect(stdout).toMatch(/^overflow errors +1\.00 +0\.00 +-1\.00 \(-100%\) +-1\.00 to -1\.00$/m);
  });

  proofTest(
    "a conversation leaves the control group when control is switched off, and then counts in neither arm",
    async () => {
      const first = await start(1);
      await longAgent(first.gateway, "Bremen").send();
      await first.gateway.close();
      const { gateway } = await start(0, first.gateway.path);
      const answer = await longAgent(gateway, "Bremen").send();
      expect(answer.status).toBe(200);
      const [main] = await threadsOf(gateway, "main");
      expect(main?.meta?.gateway).toMatchObject({ arm: "released" });
      const { value } = await jsonHere(["usage", "--control", "--store", gateway.path]);
      expect(value.groups).toEqual([]);
    },
  );

  test("no conversation is in the control group by default", async () => {
    const upstream = await startLimitedUpstream({
      api: "anthropic",
      window: WINDOW,
      count: (body) => Math.ceil(body.length / 4),
      reply: () => ({ text: "Done." }),
    });
    const gateway = await startGateway({ upstream: upstream.url });
    await new TestAgent(gateway).say("Hello.");
    const [main] = await threadsOf(gateway, "main");
    expect(main?.meta?.gateway).not.toHaveProperty("arm");
    const { stdout } = await runHere(["usage", "--control", "--store", gateway.path]);
    expect(stdout).toContain("No conversation has an arm yet");
  });
});
