import { describe, expect, test } from "vitest";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { proofTest } from "../../../support/proof.ts";
import { type Answering, says, startUpstream } from "../../../support/upstream.ts";
import { onlyLine } from "../only-line.ts";

const WORDS =
  "The user asked about harbor parcels 7781 and 7782, and both were found on shelf nine of the north hall; the invoice of Tuesday is open and has to reach the accountant before Friday noon.";
const PROMPT = `Your task is to create a detailed summary of the conversation so far, so that another model can continue the work without losing context. The conversation will be replaced by your summary. Do not call any tools; respond with text only, inside <summary> tags. ${"Keep every name, number and path as it was written. ".repeat(8)}`;

const isSummaryPrompt = (body: Buffer) => body.includes("create a detailed summary");

/** Numbers its replies, and replies with a summary to a request for one. */
const answering: Answering = (heard, response, index) =>
  says(() => ({
    text: isSummaryPrompt(heard.body) ? `<summary>${WORDS}</summary>` : `Reply ${index} in this matter.`,
  }))(heard, response, index);

/** Two gateways on one store in a folder. */
async function startPair(reply: Answering = answering): Promise<readonly [TestGateway, TestGateway]> {
  const upstream = await startUpstream(reply);
  const one = await startGateway({ upstream: upstream.url });
  return [one, await startGateway({ upstream: upstream.url, path: one.path })];
}

async function talk(gateways: readonly TestGateway[], agent: TestAgent, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    agent.gateway = gateways[turn % gateways.length] as TestGateway;
    await agent.say(`Question ${turn} about the parcels in the harbor.`);
  }
}

/** Asks for a summary of a conversation without tools, as a separate request. */
async function summarize(gateway: TestGateway, agent: TestAgent): Promise<void> {
  const asking = new TestAgent(gateway, "openai-chat");
  Object.assign(asking.headers, agent.headers);
  asking.fields.tools = undefined;
  const lead = {
    role: "system",
    content: "You are a helpful AI assistant tasked with summarizing conversations.",
  };
  asking.elements = [lead, ...agent.elements, ...agent.words(PROMPT)];
  await asking.next();
}

/** The conversation that continues with a summary. */
function continueWith(summary: string, gateway: TestGateway, { headers }: TestAgent): TestAgent {
  const next = new TestAgent(gateway, "openai-chat");
  Object.assign(next.headers, headers);
  next.elements = [
    ...next.words(`This session is being continued from another one. Its summary:\n${summary}`),
  ];
  return next;
}

describe.each(["without an id", "with an id"])("a conversation %s over two gateways", (kind) => {
  test("a client's summary that one gateway has relayed links its continuation at the other", async () => {
    const pair = await startPair();
    const agent = new TestAgent(pair[0], "openai-chat");
    if (kind === "with an id") agent.headers["x-longhaul-session"] = "parcels";
    await talk(pair, agent, 3);
    await summarize(pair[0], agent);
    const next = continueWith(WORDS, pair[1], agent);
    await next.say("Go on with the invoice.");
    next.gateway = pair[0];
    await next.say("And then?");
    const mains = await threadsOf(pair[0], "main");
    expect(mains).toHaveLength(1);
    await using session = await pair[0].kernel.session(mains[0]?.id);
    const entries = await session.read({ from: 1, limit: 100 });
    expect(entries.filter(({ kind }) => kind === "notice")).toHaveLength(1);
    expect(entries.flatMap((entry) => (entry.kind === "line" ? [entry.departure] : []))).toEqual(["trimmed"]);
  });

  test("requests at the same moment over two gateways fork as over one", async () => {
    const waiting = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    const pair = await startPair((request, response, index) => {
      const answer = () => answering(request, response, index);
      if (!request.body.includes("zeppelin") || request.body.includes("Thank you")) return answer();
      heard.resolve();
      return void waiting.promise.then(answer);
    });
    const begin = new TestAgent(pair[0], "openai-chat");
    if (kind === "with an id") begin.headers["x-longhaul-session"] = "vehicles";
    await begin.say("We look after vehicles in the harbor today.");
    const agents = pair.map((gateway) => {
      const agent = new TestAgent(gateway, "openai-chat");
      Object.assign(agent.headers, begin.headers);
      agent.elements = [...begin.elements];
      return agent;
    }) as [TestAgent, TestAgent];
    const slow = agents[0].say("Where is the zeppelin moored?");
    await heard.promise;
    await agents[1].say("Where does the submarine lie?");
    waiting.resolve();
    await slow;
    for (const agent of agents) await agent.say("Thank you. What is next?");
    const sessions = await threadsOf(pair[0]);
    expect(
      sessions.map(({ meta }) => (meta?.gateway as { readonly kind?: string } | undefined)?.kind).toSorted(),
    ).toEqual(["agent", "main"]);
    for (const { id } of sessions) {
      await using session = await pair[0].kernel.session(id);
      const own = (await session.read({ from: 2, limit: 100 })).filter(({ kind }) => kind === "line");
      expect(own).toEqual([]);
    }
  });
});

test("a request that one gateway could not answer is repeated at the other without a second conversation", async () => {
  const pair = await startPair((heard, response, index) =>
    index === 0
      ? void response.writeHead(500, { "content-type": "application/json" }).end('{"error":{"message":"no"}}')
      : answering(heard, response, index),
  );
  const agent = new TestAgent(pair[0], "openai-chat");
  agent.elements = [...agent.words("A first question about the harbor.")];
  expect((await agent.send()).status).toBe(500);
  agent.gateway = pair[1];
  await agent.next();
  await agent.say("A second question.");
  expect(await onlyLine(pair[1], "main")).toEqual([
    "user|A first question about the harbor.",
    "assistant|Reply 1 in this matter.",
    "user|A second question.",
    "assistant|Reply 2 in this matter.",
  ]);
});

proofTest("however many conversations are summarized first, each one stays one conversation", async () => {
  const words = (at: number) =>
    `<summary>${Array.from({ length: 60 }, (_, word) => `w${at}x${word * 7}`).join(" ")}</summary>`;
  const upstream = await startUpstream((heard, response, index) => {
    const at = /number (\d+)/.exec(heard.body.toString("utf8"))?.[1];
    const text = isSummaryPrompt(heard.body) ? words(Number(at)) : `Reply ${index}.`;
    says(() => ({ text }))(heard, response, index);
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const agents = Array.from({ length: 70 }, () => new TestAgent(gateway, "openai-chat"));
  for (const [at, agent] of agents.entries()) {
    await agent.say(`Where is the harbor parcel number ${at}?`);
    await summarize(gateway, agent);
  }
  for (const [at, agent] of agents.entries())
    await continueWith(words(at), gateway, agent).say("Go on with the invoice.");
  expect(await threadsOf(gateway, "main")).toHaveLength(agents.length);
});
