import { expect } from "vitest";
import type { WireName } from "../../../../src/wire/wire.ts";
import { getWire } from "../../../../src/wire/wires.ts";
import { TestAgent } from "../../../support/agent.ts";
import { logOf, quiet, type TestGateway } from "../../../support/gateway.ts";
import { behave, type Heard, startUpstream, type Upstream } from "../../../support/upstream.ts";
import type { Reply } from "../../../support/wire-server/behaviour.ts";
import { output } from "../limited.ts";
import { numbersFrom } from "../random-agent.ts";
import { textsIn } from "../said.ts";

export const WINDOW = 12_000;

/** One conversation: its requests go to any gateway. */
interface Plan {
  readonly name: string;
  readonly api: WireName;
  readonly turns: number;
  readonly isExplicit: boolean;
}

/** The bodies that left the gateways, by conversation, in order. */
export type SentBodies = ReadonlyMap<string, readonly string[]>;

/** A provider whose replies depend only on the request, so that any order of conversations gives the same. */
export async function startSteadyUpstream(): Promise<Upstream> {
  return startUpstream((heard, response) => {
    const tokens = Math.ceil(heard.body.length / 4);
    const usage = { input: tokens, cacheRead: 0, cacheWrite: 0, output: 40 };
    behave(heard, response, { type: "reply", reply: { usage, ...replyTo(heard) } });
  });
}

function replyTo(heard: Heard): Reply {
  const name = nameIn(heard.body);
  // The last marker of a turn is in every request, edited or not.
  const turn = Number([...heard.body.toString("utf8").matchAll(/\[turn (\d+)\]/g)].at(-1)?.[1] ?? 0);
  const random = numbersFrom(turn * 31 + name.length);
  const call = { id: `call_${name}_${turn}`, name: "read_file", input: { path: `src/${turn}.ts` } };
  return random(3) === 0
    ? { text: `${name} answers turn ${turn}.` }
    : { text: `${name} looks at ${turn}.`, toolCalls: [call] };
}

function nameIn(body: Buffer): string {
  return /agent-[a-z]+-\d+/.exec(body.toString("utf8"))?.[0] ?? "nobody";
}

export function plansFrom(seed: number, count: number, turns: number): readonly Plan[] {
  const apis = ["anthropic", "openai-chat", "openai-responses"] as const;
  return Array.from({ length: count }, (_, at) => ({
    name: `agent-${"abcdefgh"[at % 8]}-${seed}`,
    api: apis[(seed + at) % 3] as WireName,
    turns,
    isExplicit: (seed + at) % 2 === 0,
  }));
}

/** Lets all conversations run at once; each request goes to any gateway. */
export async function runPlans(
  plans: readonly Plan[],
  gateways: readonly TestGateway[],
  seed: number,
): Promise<readonly TestAgent[]> {
  return Promise.all(
    plans.map(async (plan, at) => {
      const random = numbersFrom(seed * 100 + at);
      const [first] = gateways as readonly [TestGateway, ...TestGateway[]];
      const agent = new TestAgent(first, plan.api);
      if (plan.api === "anthropic") agent.fields.system = `You are ${plan.name}, a coding agent.`;
      else if (plan.api === "openai-responses") {
        agent.fields.instructions = `You are ${plan.name}, a coding agent.`;
        agent.fields.store = false;
      } else agent.elements.push({ role: "system", content: `You are ${plan.name}, a coding agent.` });
      if (plan.isExplicit) agent.headers["x-session-id"] = plan.name;
      const choose = () => {
        agent.gateway = gateways[random(gateways.length)] as TestGateway;
      };
      choose();
      // Conversations begin alike, so that only their content tells them apart.
      let reply = await agent.say("[turn 0] Go through the project, file by file.");
      for (let turn = 1; turn < plan.turns; turn++) {
        choose();
        const text = `[turn ${turn}] ${output(turn, 600 + random(5_000))}`;
        reply = reply.calls.length > 0 ? await agent.hand(reply.calls, text) : await agent.say(text);
      }
      return agent;
    }),
  );
}

/** The bodies that the provider has received, by the conversation that they name. */
export function sentBodies(upstream: Upstream): SentBodies {
  const sent = new Map<string, string[]>();
  for (const { body } of upstream.heard) {
    const name = nameIn(body);
    sent.set(name, [...(sent.get(name) ?? []), body.toString("utf8")]);
  }
  return sent;
}

/** Each conversation is one session that contains each of its messages once, in order, and nothing else. */
export async function expectWholeLogs(
  gateways: readonly TestGateway[],
  plans: readonly Plan[],
  agents: readonly TestAgent[],
): Promise<void> {
  for (const gateway of gateways) await quiet(gateway);
  const [{ kernel }] = gateways as readonly [TestGateway];
  const records = await kernel.sessions({ limit: 1_000 });
  const logs = new Map<string, readonly string[]>();
  for (const { id } of records) {
    await using session = await kernel.session(id);
    logs.set(
      id,
      (await logOf(session)).map(({ message }) => textsIn(message)),
    );
  }
  const expected = agents.map((agent, at) =>
    getWire((plans[at] as Plan).api)
      .decode(agent.elements)
      .map(({ input }) => input)
      .filter(({ role }) => role !== "system")
      .map(textsIn),
  );
  const sorted = (all: readonly (readonly string[])[]) => all.map((texts) => texts.join("\n")).sort();
  expect(sorted([...logs.values()].filter((texts) => texts.length > 0))).toEqual(sorted(expected));
}

/** The requests of a conversation that do not begin with the messages of the one before: each needs an edit. */
export function findBreaks(api: WireName, bodies: readonly string[]): readonly number[] {
  const lists = bodies.map((body) =>
    (JSON.parse(body)[getWire(api).messagesField] as readonly unknown[]).map((one) => JSON.stringify(one)),
  );
  return lists.flatMap((list, at) => {
    const before = lists[at - 1] ?? [];
    return before.every((message, place) => message === list[place]) ? [] : [at];
  });
}

/** The number of edits that a conversation's log holds. */
export async function countEdits({ kernel }: TestGateway, name: string): Promise<number> {
  for (const { id } of await kernel.sessions({ limit: 1_000 })) {
    await using session = await kernel.session(id);
    if ((await logOf(session)).some(({ message }) => textsIn(message).includes(name)))
      return (await session.overlays.list()).length;
  }
  return 0;
}
