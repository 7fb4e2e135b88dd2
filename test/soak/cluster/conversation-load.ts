import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { openKernel } from "../../../src/index.ts";
import type { WireName } from "../../../src/wire/wire.ts";
import { getWire } from "../../../src/wire/wires.ts";
import { output } from "../../gateway/limited.ts";
import { numbersFrom } from "../../gateway/random-agent.ts";
import { textsIn } from "../../gateway/said.ts";
import { TestAgent } from "../../support/agent.ts";
import { lineOf, logOf } from "../../support/gateway.ts";
import type { Load } from "./actor.ts";

/** Settings of the conversations. */
interface ConversationLoadOptions {
  readonly gateways: readonly { readonly url: string }[];
  readonly store: string;
  readonly count: number;
  readonly seed: number;
}

/** A client that goes on with its conversation, whichever gateway answers. */
interface Client {
  readonly name: string;
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
  return {
    name: "conversations",
    done: () => done,
    async run(signal) {
      await Promise.all(
        clients.map(async (client) => {
          while (!signal.aborted) {
            await takeTurn(client, options.gateways);
            done++;
          }
        }),
      );
    },
    async verify() {
      await using kernel = await openKernel({ store: options.store, embedder: null });
      const sessions = await kernel.sessions({ limit: 1_000 });
      const seen = new Set<string>();
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
        const said = getWire(client.api)
          .decode(client.agent.elements)
          .map(({ input }) => textsIn(input));
        const line = (await lineOf(session)).map(({ message }) => textsIn(message));
        assert.deepEqual(line, said, `the line of ${owner} is not its conversation`);
        for (const text of said)
          assert.equal(
            log.filter((one) => one === text).length,
            1,
            `${owner} has twice: ${text.slice(0, 200)}`,
          );
      }
      assert.deepEqual([...seen].sort(), clients.map(({ name }) => name).sort());
    },
  };
}

function createClient({ gateways, seed }: ConversationLoadOptions, at: number): Client {
  const name = `client-${seed}-${at}`;
  const api = APIS[at % 3] as WireName;
  const agent = new TestAgent(gateways[0] as { url: string }, api);
  if (api === "openai-responses") agent.fields.store = false;
  if (at % 2 === 0) agent.headers["x-longhaul-session"] = name;
  return { name, api, agent, random: numbersFrom(seed * 1_000 + at), turn: 0 };
}

async function takeTurn(client: Client, gateways: readonly { readonly url: string }[]): Promise<void> {
  const { agent, random, name } = client;
  const turn = client.turn++;
  agent.elements.push(...agent.words(`${name} says ${turn}. ${output(turn, random(2_000))}`));
  const begun = performance.now();
  for (;;) {
    agent.gateway = gateways[random(gateways.length)] as { url: string };
    // A gateway that dies, or waits for the database, gives no whole answer.
    const answer = await agent.send({ signal: AbortSignal.timeout(40_000) }).catch(() => undefined);
    if (answer?.status === 200 && answer.isWhole && isEnded(client.api, answer.text)) {
      agent.elements.push(...agent.read(answer.text).elements);
      return;
    }
    if (answer && answer.status !== 200 && answer.status !== 503)
      throw new Error(`${name} got ${answer.status}: ${answer.text.slice(0, 500)}`);
    if (performance.now() - begun > MAX_FAILING_MS) throw new Error(`${name} got no answer to turn ${turn}`);
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
