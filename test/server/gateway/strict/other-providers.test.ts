import { describe, expect } from "vitest";
import type { WireName } from "../../../../src/wire/wire.ts";
import { type AskedCall, TestAgent } from "../../../support/agent.ts";
import { startGateway, type TestGateway, threadsOf } from "../../../support/gateway.ts";
import { proofCases, sizedTest } from "../../../support/proof.ts";
import { fieldsIn } from "../../../support/provider-rules/judgement.ts";
import { type StrictUpstream, startStrictUpstream } from "../../../support/strict-upstream.ts";
import type { Heard } from "../../../support/upstream.ts";
import type { Reply } from "../../../support/wire-server/behaviour.ts";
import { output } from "../limited.ts";

const WINDOW = 20_000;
const STEPS = 40;
/** The items of the Responses API that keep a place of their own, and the step at which a client adds them. */
const SPECIAL_AT = 6;
const SPECIAL = [
  { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "search_web" }] },
  { type: "configuration_update", reasoning: { effort: "high" } },
];

interface Case {
  readonly api: WireName;
  readonly model: string;
}

const CASES: readonly Case[] = [
  { api: "openai-chat", model: "deepseek-v4-pro" },
  { api: "openai-responses", model: "gpt-6.1-sol" },
  { api: "google", model: "gemini-3-pro" },
  { api: "openai-chat", model: "deepseek-v3.2" },
  { api: "openai-chat", model: "kimi-k2.7-code" },
  { api: "openai-chat", model: "glm-4.7" },
  { api: "openai-chat", model: "x-ai/grok-5" },
];

/** Calls in rounds, some of them parallel, then an answer in words. */
function replyOf(_: Heard, index: number): Reply {
  const reasoning = `Thought ${index}: ${output(index, 150)}`;
  if (index % 7 === 6) return { reasoning, text: `Round ${index} is done: ${output(index, 100)}` };
  const toolCalls = Array.from({ length: index % 3 === 0 ? 2 : 1 }, (_, at) => ({
    id: `call_${index}_${at}`,
    name: "read_file",
    input: { path: `src/part${index}/file${at}.ts` },
  }));
  return { reasoning, toolCalls };
}

interface Session {
  readonly upstream: StrictUpstream;
  readonly statuses: readonly number[];
}

/** An agent's session in a small window; `undoAt` takes the newest edit back, and a restart comes before it. */
async function work({ api, model }: Case, undoAt: readonly number[]): Promise<Session> {
  const upstream = await startStrictUpstream({ window: () => WINDOW, reply: replyOf });
  const config = { recall: {}, models: { [model]: { window: WINDOW, maxOutput: 2_000 } } };
  let gateway = await startGateway({ upstream: upstream.url, config });
  const agent = new TestAgent(gateway, api);
  if (api !== "google") agent.fields.model = model;
  if (api === "openai-responses")
    Object.assign(agent.fields, { store: false, include: ["reasoning.encrypted_content"] });
  let calls: readonly AskedCall[] = [];
  const statuses: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    if (step === STEPS / 2) {
      await gateway.close();
      gateway = await startGateway({ upstream: upstream.url, path: gateway.path, config });
      agent.gateway = gateway;
    }
    if (undoAt.includes(step)) await undo(gateway);
    const results = calls.map((_, at) => output(step * 10 + at, 4_000));
    if (calls.length > 0) agent.elements.push(...agent.results(calls, results));
    else agent.elements.push(...agent.words(`Request ${step}: what does part ${step % 9} do?`));
    if (api === "openai-responses" && step === SPECIAL_AT) agent.elements.push(...SPECIAL);
    const answer = await agent.send();
    statuses.push(answer.status);
    if (answer.status !== 200) break;
    const reply = agent.read(answer.text);
    ({ calls } = reply);
    agent.elements.push(...reply.elements);
  }
  return { upstream, statuses };
}

async function undo(gateway: TestGateway): Promise<void> {
  const [main] = await threadsOf(gateway, "main");
  const at = `${gateway.url}/api/v1/sessions/${encodeURIComponent(String(main?.id))}/revert`;
  await fetch(at, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
}

/** Whether the newest words with the user's role are those of the person, not a note alone. */
function endsWithPerson({ json }: Heard): boolean {
  const elements = fieldsIn(json.messages ?? json.input ?? json.contents);
  const isWords = ({ role, content, parts }: (typeof elements)[number]) =>
    role === "user" &&
    (content !== undefined || fieldsIn(parts).some(({ text }) => text !== undefined)) &&
    !fieldsIn(parts).some(({ functionResponse }) => functionResponse);
  return JSON.stringify(elements.findLast(isWords)).includes("Request");
}

/** The faults of a session, by count. */
function countFaults({ upstream, statuses }: Session, { api }: Case) {
  const rest = upstream.heard.slice(SPECIAL_AT);
  const keepsSpecial = ({ json }: Heard) =>
    SPECIAL.every(({ type }) => fieldsIn(json.input).some((item) => item.type === type));
  return {
    refused: upstream.refusals().map(({ rule }) => rule),
    failed: statuses.filter((status) => status !== 200).length,
    lost: upstream.judged.flatMap(({ lost }) => lost).length,
    notesAsTurns: upstream.heard.filter((heard) => !endsWithPerson(heard)).length,
    withoutSpecialItems: api === "openai-responses" ? rest.filter((heard) => !keepsSpecial(heard)).length : 0,
  };
}

const FAULTLESS = { refused: [], failed: 0, lost: 0, notesAsTurns: 0, withoutSpecialItems: 0 };

/** Google gets a note behind a person's words as a message of its own. */
const FAILING: readonly string[] = ["gemini-3-pro"];
const UNDOS: readonly (readonly [string, readonly number[]])[] = [
  ["without an undo", []],
  ["with an undo", [26]],
];

describe.each(proofCases(CASES))("$model over $api, with edits and a restart", (one) => {
  const define = FAILING.includes(one.model) ? sizedTest.fails : sizedTest;
  for (const [title, undoAt] of UNDOS)
    define(`${title} no request is refused, and no reasoning of a reply that stays is lost`, async () => {
      const session = await work(one, undoAt);
      const sizes = session.upstream.heard.map(({ body }) => body.length);
      expect(Math.max(...sizes), "the window was never full").toBeGreaterThan(2 * WINDOW);
      expect(countFaults(session, one)).toEqual(FAULTLESS);
    });
});
