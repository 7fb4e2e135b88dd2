import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { openKernel } from "../../../src/kernel/index.ts";
import type { WireName } from "../../../src/wire/wire.ts";
import { getWire } from "../../../src/wire/wires.ts";
import { output } from "../../server/gateway/limited.ts";
import { numbersFrom } from "../../server/gateway/random-agent.ts";
import { textsIn } from "../../server/gateway/said.ts";
import { TestAgent } from "../../support/agent.ts";
import { lineOf, logOf } from "../../support/gateway.ts";
import type { Load } from "./actor.ts";
import type { BudgetLoad, ClusterPerson } from "./budget-load.ts";
import { MAX_OUTPUT_TOKENS, type SpendingRecord } from "./spending-record.ts";

/** Settings of the conversations. */
interface ConversationLoadOptions {
  readonly gateways: readonly { readonly url: string }[];
  readonly store: string;
  readonly count: number;
  readonly seed: number;
  /** Clients belong to people in turn. */
  readonly people: readonly ClusterPerson[];
  readonly record: SpendingRecord;
  readonly budgets: Pick<BudgetLoad, "raise">;
}

/** A client that continues with its conversation, whichever gateway answers. */
interface Client {
  readonly name: string;
  readonly person: string;
  readonly api: WireName;
  readonly agent: TestAgent;
  readonly random: (below: number) => number;
  turn: number;
}

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;
const RETRY_MS = 200;
/** A client gives up when a request has failed for this long. */
const MAX_FAILING_MS = 90_000;

/**
 * Conversations whose requests go to any gateway. A reply counts as acknowledged when the client has received all of
 * it; a request without one is repeated.
 */
export function createConversationLoad(options: ConversationLoadOptions): Load {
  const clients = Array.from({ length: options.count }, (_, at) => createClient(options, at));
  let done = 0;
  let lastAt: number | undefined;
  let longestPauseMs = 0;
  return {
    name: "conversations",
    done: () => done,
    async run(signal) {
      await Promise.all(
        clients.map(async (client) => {
          while (!signal.aborted) {
            await takeTurn(client, options);
            done++;
            const now = performance.now();
            if (lastAt !== undefined) longestPauseMs = Math.max(longestPauseMs, now - lastAt);
            lastAt = now;
          }
        }),
      );
    },
    async verify() {
      await using kernel = await openKernel({ store: options.store, embedder: null });
      // Sessions of tasks are thousands; those of people begin with their names.
      const lists = options.people.map(({ name }) => kernel.sessions({ prefix: `@${name}/`, limit: 1_000 }));
      const sessions = (await Promise.all(lists)).flat();
      const seen = new Set<string>();
      let messages = 0;
      for (const { id } of sessions) {
        await using session = await kernel.session(id);
        const log = (await logOf(session)).map(({ message }) => textsIn(message));
        if (log.length === 0) continue;
        const owners = new Set(log.flatMap((text) => text.match(/client-\d+-\d+/g) ?? []));
        assert.equal(owners.size, 1, `${id} holds messages of ${[...owners].join(", ")}`);
        const [owner = ""] = owners;
        assert.ok(!seen.has(owner), `${owner} has more than one session`);
        seen.add(owner);
        const client = clients.find(({ name }) => name === owner) as Client;
        assert.ok(
          id.includes(client.person),
          `${id} holds messages of ${owner}, a client of ${client.person}`,
        );
        const said = getWire(client.api)
          .decode(client.agent.elements)
          .map(({ input }) => textsIn(input));
        const line = (await lineOf(session)).map(({ message }) => textsIn(message));
        assert.deepEqual(line, said, `the line of ${owner} is not its conversation`);
        messages += said.length;
        for (const text of said)
          assert.equal(
            log.filter((one) => one === text).length,
            1,
            `${owner} has twice: ${text.slice(0, 200)}`,
          );
      }
      const lost = clients.filter(({ name }) => !seen.has(name)).map(({ name }) => name);
      assert.equal(lost.length, 0, `the log has no conversation of ${lost.join(", ")}`);
      const failures = [...options.record.people.values()].reduce((sum, one) => sum + one.failures, 0);
      return {
        conversations: seen.size,
        messages,
        repeated: failures,
        longestPauseMs: Math.round(longestPauseMs),
      };
    },
  };
}

/** The person of a client. */
export function findPerson(people: readonly ClusterPerson[], client: string): ClusterPerson {
  const number = Number(client.slice(client.lastIndexOf("-") + 1));
  return people[number % people.length] as ClusterPerson;
}

/** Fields that limit the output, by API. */
const OUTPUT_FIELDS = {
  anthropic: "max_tokens",
  "openai-chat": "max_completion_tokens",
  "openai-responses": "max_output_tokens",
} as const;

function createClient({ gateways, seed, people }: ConversationLoadOptions, at: number): Client {
  const name = `client-${seed}-${at}`;
  const api = APIS[at % 3] as (typeof APIS)[number];
  const agent = new TestAgent(gateways[0] as { url: string }, api);
  const person = findPerson(people, name);
  agent.headers["x-longhaul-token"] = person.secret;
  agent.fields[OUTPUT_FIELDS[api]] = MAX_OUTPUT_TOKENS;
  if (api === "openai-responses") agent.fields.store = false;
  if (Math.floor(at / 3) % 2 === 0) agent.headers["x-longhaul-session"] = name;
  return { name, person: person.name, api, agent, random: numbersFrom(seed * 1_000 + at), turn: 0 };
}

async function takeTurn(
  client: Client,
  { gateways, record, budgets }: ConversationLoadOptions,
): Promise<void> {
  const { agent, random, name, person } = client;
  const turn = client.turn++;
  agent.elements.push(...agent.words(`${name} says ${turn}. ${output(turn, random(2_000))}`));
  let begun = performance.now();
  const attempts: string[] = [];
  for (;;) {
    const sentMs = performance.now();
    agent.gateway = gateways[random(gateways.length)] as { url: string };
    record.recordSent(person, Buffer.byteLength(JSON.stringify(agent.body())));
    // A gateway that dies, or waits for the database, gives no whole answer.
    const answer = await agent.send({ signal: AbortSignal.timeout(40_000) }).catch(() => undefined);
    if (answer?.status === 200 && answer.isWhole && isEnded(client.api, answer.text)) {
      const reply = agent.read(answer.text);
      agent.elements.push(...reply.elements);
      record.recordAcknowledged(person, Number(reply.text.match(/^Reply (\d+) /)?.[1]));
      return;
    }
    if (answer?.status === 429 && answer.text.includes("is used up")) {
      await budgets.raise(person);
      begun = performance.now();
      continue;
    }
    record.get(person).failures++;
    const seconds = ((performance.now() - sentMs) / 1_000).toFixed(1);
    attempts.push(
      `${answer ? `${answer.status}${answer.isWhole ? "" : ", cut"}` : "no answer"} after ${seconds} s`,
    );
    if (answer && answer.status !== 200 && answer.status !== 503)
      throw new Error(`${name} got ${answer.status}: ${answer.text.slice(0, 500)}`);
    if (performance.now() - begun > MAX_FAILING_MS)
      throw new Error(`${name} got no answer to turn ${turn}: ${attempts.slice(-20).join("; ")}`);
    await sleep(RETRY_MS);
  }
}

const LAST_EVENTS = {
  anthropic: '"message_stop"',
  "openai-chat": "[DONE]",
  "openai-responses": '"response.completed"',
} as const;

function isEnded(api: WireName, text: string): boolean {
  return text.includes(LAST_EVENTS[api as keyof typeof LAST_EVENTS]);
}
