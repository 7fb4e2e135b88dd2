import { afterEach, describe, expect, test, vi } from "vitest";
import { isRecallTool } from "../../../../src/server/gateway/recall/recall-tools.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway } from "../../../support/gateway.ts";
import type { Heard } from "../../../support/upstream.ts";
import { startLimitedUpstream } from "../limited.ts";

/** Text of about as many tokens. */
const wordsOf = (tokens: number) => "Read the file before you change it. ".repeat(Math.ceil(tokens / 8));
const LONG = wordsOf(60_000);

const HOUR_MS = 60 * 60_000 + 1;
const SHORT = ["Question 0?", "Question 1?", "Question 2?"];
const TOOL = { name: "look", description: "Looks.", input_schema: { type: "object" } };

function offersRecall({ json }: Heard): boolean {
  return (json.tools ?? []).some(({ name }: { readonly name: string }) => isRecallTool(name));
}

/** Options of a conversation; its beginning took place without the gateway. */
interface TalkOptions {
  readonly beginning?: number;
  readonly system?: string;
  readonly policy?: string;
  /** The words of the user; three short questions by default. */
  readonly questions?: readonly string[];
  /** Called before each later request; true restarts the gateway. */
  readonly between?: (turn: number) => boolean;
}

/** Holds a conversation, and tells which of them offered the gateway's tools. */
async function talk(
  recall: unknown,
  { beginning = 0, system = "Help.", policy = "longhaul", questions = SHORT, between }: TalkOptions = {},
) {
  const upstream = await startLimitedUpstream({
    api: "anthropic",
    window: 200_000,
    count: (body) => Math.ceil(body.length / 4),
    reply: () => ({ text: "Done." }),
  });
  const start = (path?: string) =>
    startGateway({ upstream: upstream.url, config: { recall, policy }, ...(path && { path }) });
  let gateway = await start();
  const agent = new TestAgent(gateway);
  agent.fields.tools = [TOOL];
  agent.fields.system = system;
  const sent: string[] = [];
  for (let turn = 0; turn < beginning; turn++)
    agent.elements.push({ role: "user", content: `Early ${turn}.` }, { role: "assistant", content: "Yes." });
  for (const [turn, content] of questions.entries()) {
    if (turn > 0 && between?.(turn)) {
      await gateway.close();
      gateway = await start(gateway.path);
    }
    agent.gateway = gateway;
    agent.elements.push({ role: "user", content });
    sent.push(JSON.stringify(agent.body()));
    expect((await agent.send()).status).toBe(200);
    agent.elements.push({ role: "assistant", content: [{ type: "text", text: "Done." }] });
  }
  return {
    offered: upstream.heard.map(offersRecall),
    bodies: upstream.heard.map(({ body }) => body.toString()),
    sent,
  };
}

describe("recall tools from the start of a conversation", () => {
  test("recall tools that start with a conversation are in every request of it", async () => {
    expect((await talk({ offer: "start" })).offered).toEqual([true, true, true]);
  });

  test("recall tools that start with a conversation do not join a conversation that began elsewhere", async () => {
    const { bodies, sent } = await talk({ offer: "start" }, { beginning: 2 });
    expect(bodies).toEqual(sent);
  });

  test("recall tools do not join a gateway that edits nothing, unless the configuration asks for them", async () => {
    const { bodies, sent } = await talk({}, { system: LONG, policy: "none" });
    expect(bodies).toEqual(sent);
  });

  test("recall tools are never offered if they are switched off, in the old or the new words", async () => {
    for (const recall of [{ offer: "never" }, { tools: "off" }, "off"])
      expect((await talk(recall)).offered).toEqual([false, false, false]);
  });
});

describe("recall tools whose offer depends on the price", () => {
  afterEach(() => void vi.useRealTimers());

  test("a short conversation reaches the provider byte for byte, also with a cold cache", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const between = () => {
      vi.setSystemTime(Date.now() + HOUR_MS);
      return false;
    };
    const { bodies, sent } = await talk({}, { system: wordsOf(20_000), between });
    expect(bodies).toEqual(sent);
  });

  test.each([
    ["system prompt", { system: LONG }],
    ["first question", { questions: [LONG, "And now?", "And then?"] }],
  ])(
    "a conversation with a long %s has recall tools in every request, also after a restart",
    async (_, options) => {
      const { offered, bodies } = await talk({}, { ...options, between: (turn) => turn === 2 });
      expect(offered).toEqual([true, true, true]);
      const tools = bodies.map((body) => JSON.stringify(JSON.parse(body).tools));
      expect(new Set(tools).size).toBe(1);
    },
  );

  test("a long conversation that began elsewhere stays as it is, because its cache may be hot", async () => {
    const { bodies, sent } = await talk({}, { system: LONG, beginning: 2 });
    expect(bodies).toEqual(sent);
  });

  test("a conversation that grew long gets recall tools once its cache is cold, and keeps them", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const between = (turn: number) => {
      if (turn === 2) vi.setSystemTime(Date.now() + HOUR_MS);
      return turn === 3;
    };
    const { offered } = await talk({}, { questions: ["Hello.", LONG, "And now?", "And then?"], between });
    expect(offered).toEqual([false, false, true, true]);
  });
});
