import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { EntryId } from "../../../../src/kernel/index.ts";
import type { WireObject } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { startGateway, type TestGateway } from "../../../support/gateway.ts";
import { proofCases, proofRounds, sizedTest } from "../../../support/proof.ts";
import { Random } from "../../../support/random.ts";
import { type Heard, says, startUpstream } from "../../../support/upstream.ts";
import { commonLength, promptOf } from "./prompt.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses", "google"] as const;
const TURNS = 50;
/** The turns after which the person has something remembered. */
const REMEMBERED = [3, 8, 13, 18, 23, 28, 33, 38, 43, 48];

/** The share of all prompt bytes that the prompt before began with. */
function cachedShare(heard: readonly Heard[]): number {
  let [cached, all, before] = [0, 0, ""];
  for (const one of heard) {
    const prompt = promptOf(one);
    const isExtension = prompt.startsWith(before);
    cached += isExtension ? before.length : commonLength(before, prompt);
    all += prompt.length;
    before = prompt;
  }
  return cached / all;
}

async function talk(
  api: (typeof APIS)[number],
  config: Readonly<Record<string, unknown>>,
  model: string | undefined,
  remembers: readonly number[],
): Promise<readonly Heard[]> {
  const upstream = await startUpstream(
    says((_, index) => ({ text: `Answer ${index}. ${"All is well. ".repeat(20)}` })),
  );
  const gateway = await startGateway({ upstream: upstream.url, config });
  await gateway.kernel.memories().remember("The user prefers short answers.", { by: "user" });
  const agent = new TestAgent(gateway, api);
  if (model !== undefined) agent.fields.model = model;
  for (let turn = 0; turn < TURNS; turn++) {
    await agent.say(`Question ${turn}: ${"what about this part of the plan? ".repeat(10)}`);
    if (remembers.includes(turn))
      await gateway.kernel.memories().remember(`Fact ${turn} of the project is settled.`, { by: "user" });
  }
  return upstream.heard;
}

const CASES = [
  ...APIS.map((api) => ({ api, model: undefined })),
  { api: "anthropic" as const, model: "claude-opus-4-8" },
];

describe.each(proofCases(CASES))("over $api with $model", ({ api, model }) => {
  sizedTest(
    "ten memories in fifty turns change no byte before the newest message, and all reach the model",
    async () => {
      const heard = await talk(api, { recall: { tools: "always", context: true } }, model, REMEMBERED);
      expect(heard).toHaveLength(TURNS);
      for (const [index, one] of heard.slice(1).entries())
        expect(promptOf(one).startsWith(promptOf(heard[index] as Heard)), `turn ${index + 1}`).toBe(true);
      const last = heard.at(-1)?.body.toString() ?? "";
      for (const turn of REMEMBERED.slice(0, -1)) expect(last.split(`Fact ${turn} of`)).toHaveLength(2);
      const plain = await talk(api, { memories: false, recall: "off" }, model, []);
      expect(cachedShare(heard)).toBeGreaterThanOrEqual(cachedShare(plain) - 0.005);
      if (model !== undefined) {
        const list: readonly { readonly role: string }[] = heard.at(-1)?.json.messages;
        expect(list.filter(({ role }) => role === "system")).toHaveLength(REMEMBERED.length);
      }
    },
  );
});

/** A conversation of one client, or a branch of it, and the requests that it has sent. */
interface Branch {
  readonly agent: TestAgent;
  sent: readonly (readonly WireObject[])[];
  prompt: readonly string[];
}

/** Lives through random turns, and returns the places at which a request began otherwise than the one before it. */
async function live({ api, model }: (typeof CASES)[number], seed: number, steps: number): Promise<string[]> {
  const random = new Random(seed);
  let calls = 0;
  const upstream = await startUpstream(
    says((heard, index) => {
      const dice = (index * 7919) % 10;
      const name = dice < 3 ? "run_command" : "longhaul_recall";
      const isAsked = dice === 3 && JSON.stringify(heard.json.tools ?? []).includes(name);
      if (dice > 3 || (dice === 3 && !isAsked))
        return { text: `Answer ${index}. ${"All is well. ".repeat(5)}` };
      return { toolCalls: [{ id: `c${++calls}`, name, input: { query: `port ${calls}` } }] };
    }),
  );
  const options = { upstream: upstream.url, config: { recall: { offer: "always", context: true } } };
  let gateway = await startGateway(options);
  const { path } = gateway;
  let second: TestGateway | undefined;
  const found: string[] = [];
  let place = "";
  const openBranch = (name: string, from?: Branch): Branch => {
    const agent = new TestAgent(gateway, api);
    if (model !== undefined) agent.fields.model = model;
    if (name !== "") agent.headers["x-longhaul-session"] = name;
    agent.elements = [...(from?.agent.elements ?? [])];
    return { agent, sent: from?.sent ?? [], prompt: from?.prompt ?? [] };
  };
  const ask = async (branch: Branch): Promise<void> => {
    const { agent, sent, prompt: before } = branch;
    agent.gateway = random.chance(0.5) ? (second ?? gateway) : gateway;
    const elements = [...agent.elements];
    const first = upstream.heard.length;
    const reply = await agent.next();
    const prompt = promptOf(upstream.heard[first] as Heard).split("\n");
    const known = sent.at(-1) ?? [];
    const same = elements.findIndex((one, index) => !isDeepStrictEqual(one, known[index]));
    const shared = same === -1 ? elements.length : same;
    // Each message has at least one line; the newest message of either request may have grown.
    const isExtended = shared === known.length && shared < elements.length;
    const needed = isExtended ? before.length : shared === 0 ? 0 : Math.min(before.length, shared + 1);
    const at = before.findIndex((line, index) => line !== prompt[index]);
    if (at !== -1 && at < needed) found.push(`${place}: line ${at} of ${needed}`);
    Object.assign(branch, { sent: [...sent, elements], prompt });
    if (reply.calls.length === 0) return;
    agent.elements.push(...agent.results(reply.calls, [`Output of ${reply.calls[0]?.id}.`]));
    if (random.chance(0.3)) await remember();
    if (random.chance(0.2)) await restart();
    await ask(branch);
  };
  const remember = () =>
    gateway.kernel.memories().remember(`Fact ${upstream.heard.length} is settled.`, { by: "user" });
  const restart = async () => {
    await gateway.close();
    gateway = await startGateway({ ...options, path });
  };
  const say = (branch: Branch, words: string) => {
    branch.agent.elements.push(...branch.agent.words(words));
    return ask(branch);
  };
  await remember();
  await new TestAgent(gateway, api).say("The staging server listens on port 7781.");
  const branches = [openBranch("first"), openBranch("")];
  for (const branch of branches) await say(branch, `Hello ${branches.indexOf(branch)}.`);
  for (let step = 0; step < steps; step++) {
    const branch = random.pick(branches);
    const { agent, sent } = branch;
    const isNamed = agent.headers["x-longhaul-session"] !== undefined;
    const kind = random.pick([
      "turn",
      "turn",
      "turn",
      "remember",
      "restart",
      "second",
      "fork",
      "rewind",
      "again",
    ]);
    place = `seed ${seed}, step ${step} (${kind})`;
    if (kind === "remember") await remember();
    else if (kind === "restart") await restart();
    else if (kind === "second") {
      await second?.close();
      second = second ? undefined : await startGateway({ ...options, path });
    } else if (kind === "again" && isNamed) {
      // Branches without a name share their messages: one that is repeated with a new memory has it in all of them.
      agent.elements = [...(sent.at(-1) ?? [])];
      await ask(branch);
    } else if (kind === "fork") {
      branches.push(openBranch(isNamed ? `fork ${step}` : "", branch));
      await say(branches.at(-1) as Branch, `Another way ${step}.`);
    } else {
      // Without a reply it would be another conversation that begins alike.
      const back = sent.filter(({ length }) => length > 2);
      if (kind === "rewind" && back.length > 0) agent.elements = [...random.pick(back)];
      await say(branch, `Step ${step}: ${random.pick(["which port was it, do you remember?", "go on."])}`);
    }
  }
  return found;
}

describe.each(proofCases(CASES))("a life over $api with $model", (one) => {
  sizedTest(
    "restarts, a second gateway, forks, rewinds and repetitions change no byte before the newest message",
    async () => {
      for (let seed = 1; seed <= proofRounds(12, 2); seed++) expect(await live(one, seed, 30)).toEqual([]);
    },
  );
});

test("a memory whose message was taken back is shown again, but not a forgotten memory", async () => {
  const upstream = await startUpstream(says("Fine."));
  const gateway = await startGateway({ upstream: upstream.url });
  const memories = gateway.kernel.memories();
  await memories.remember("The port is 7781.", { by: "user" });
  const agent = new TestAgent(gateway);
  await agent.say("Hello.");
  const host = await memories.remember("The host is staging.", { by: "user" });
  const before = [...agent.elements];
  await agent.say("Go on.");
  agent.elements = before;
  await agent.say("Go elsewhere.");
  expect(upstream.heard.at(-1)?.body.toString().split("The host is staging.")).toHaveLength(2);
  await memories.forget(host?.id as EntryId);
  await agent.say("And on.");
  expect(upstream.heard.at(-1)?.body.toString()).not.toContain("The host is staging.");
});

test("longhaul's own tools join inside a conversation if the client changes its tools there, and change no byte before", async () => {
  let call = 0;
  const upstream = await startUpstream(
    says(() => ({ toolCalls: [{ id: `c${++call}`, name: "run_command", input: { n: call } }] })),
  );
  const gateway = await startGateway({
    upstream: upstream.url,
    config: { recall: { tools: "always" } },
  });
  const agent = new TestAgent(gateway);
  agent.fields.model = "claude-opus-4-8";
  const tools = [
    { name: "run_command", input_schema: { type: "object" } },
    { name: "deploy", input_schema: { type: "object" }, defer_loading: true },
  ];
  agent.fields.tools = tools;
  agent.headers["anthropic-beta"] = "mid-conversation-tool-changes-2026-07-01";
  let reply = await agent.say("Go through all files.");
  for (let turn = 0; turn < 5; turn++) reply = await agent.hand(reply.calls, `Output ${turn}.`);
  for (const [index, one] of upstream.heard.slice(1).entries())
    expect(promptOf(one).startsWith(promptOf(upstream.heard[index] as Heard))).toBe(true);
  const last = upstream.heard.at(-1)?.json;
  expect(last.tools.slice(0, 2)).toEqual(tools);
  const own: readonly { readonly name: string; readonly defer_loading: boolean }[] = last.tools.slice(2);
  expect(own.map(({ name }) => name)).toContain("longhaul_recall");
  expect(own.every(({ defer_loading }) => defer_loading)).toBe(true);
  const added = last.messages.filter(({ role }: { role: string }) => role === "system");
  expect(added).toHaveLength(1);
  expect(added[0].content[0]).toEqual({
    type: "tool_addition",
    tool: { type: "tool_reference", name: own[0]?.name },
  });
  const at = last.messages.indexOf(added[0]);
  expect([last.messages[at - 1].role, last.messages[at + 1].role]).toEqual(["user", "assistant"]);
});

test("an upstream that refuses tools inside a conversation gets them in the list of tools", async () => {
  let call = 0;
  const upstream = await startUpstream((heard, response, index) => {
    if (heard.body.includes("tool_addition")) {
      response.writeHead(400, { "content-type": "application/json" });
      const error = { type: "invalid_request_error", message: "tool_addition is not supported" };
      response.end(JSON.stringify({ type: "error", error }));
    } else
      says(() => ({ toolCalls: [{ id: `c${++call}`, name: "run_command", input: { n: call } }] }))(
        heard,
        response,
        index,
      );
  });
  const gateway = await startGateway({ upstream: upstream.url, config: { recall: { tools: "always" } } });
  const agent = new TestAgent(gateway);
  agent.fields.model = "claude-opus-4-8";
  agent.fields.tools = [
    { name: "run_command", input_schema: { type: "object" } },
    { name: "deploy", input_schema: { type: "object" }, defer_loading: true },
  ];
  agent.headers["anthropic-beta"] = "mid-conversation-tool-changes-2026-07-01";
  const reply = await agent.say("Go.");
  await agent.hand(reply.calls, "Done.");
  const tried = upstream.heard.map(({ body }) => body.includes("tool_addition"));
  expect(tried).toEqual([true, false, false]);
  expect(upstream.heard.at(-1)?.body.toString()).toContain("longhaul_recall");
});

test("an upstream that refuses system messages inside a conversation gets memories in the user's message", async () => {
  const upstream = await startUpstream((heard, response, index) => {
    const { messages } = heard.json;
    if (!messages.some(({ role }: { role: string }) => role === "system"))
      return says("Fine.")(heard, response, index);
    response.writeHead(400, { "content-type": "application/json" });
    const message = "messages.1.role: Input should be 'user' or 'assistant'";
    response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }));
  });
  const gateway = await startGateway({ upstream: upstream.url });
  const agent = new TestAgent(gateway);
  agent.fields.model = "claude-opus-4-8";
  await agent.say("Hello.");
  await gateway.kernel.memories().remember("The host is staging.", { by: "user" });
  await agent.say("Go on.");
  await agent.say("And on.");
  expect(upstream.heard).toHaveLength(4);
  for (const { json } of upstream.heard.slice(2))
    expect(JSON.stringify(json.messages[2])).toContain("The host is staging.");
});
