import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { textOfMessage } from "../../../src/model/message.ts";
import { startChild } from "../../support/child.ts";
import { testFolder } from "../../support/folder.ts";
import { ask, logOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, proofRounds, sizedTest } from "../../support/proof.ts";
import { Random } from "../../support/random.ts";
import { behave, startUpstream } from "../../support/upstream.ts";

const TALKS = 4;
/** Longest life of gateways before they are killed. */
const MAX_LIFE_MS = 700;

interface Talk {
  readonly messages: { role: string; content: string }[];
  /** Replies whose end the client has heard. */
  readonly answers: string[];
}

/** Texts of all stored messages, including messages that are on no line any more. */
async function readStored(path: string): Promise<readonly string[]> {
  await using kernel = await openKernel({ path, embedder: null });
  const texts: string[] = [];
  for (const { id } of await kernel.sessions({ limit: 100 })) {
    await using session = await kernel.session(id);
    for (const { message } of await logOf(session)) texts.push(textOfMessage(message));
  }
  return texts;
}

/**
 * In a proof 500 rounds: 10 groups, in each 10 kills of a process that serves 5 stores, which are all read after each
 * kill. Starting a process takes longer than all else, and a kill stops each store at a moment of its own work.
 */
sizedTest.each(proofCases([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))(
  "a gateway killed at random moments loses and doubles no word that the provider or client has seen, group %i",
  async (group) => {
    const seeds = Array.from({ length: proofRounds(5, 2) }, (_, index) => 5 * group + index + 1);
    const random = new Random(group);
    const provider = await startProvider(random);
    const houses = await Promise.all(seeds.map((seed) => openHouse(provider, seed)));
    for (let kill = 1; kill <= proofRounds(10, 3); kill++) {
      const child = startChild(new URL("./killed/serve-stores.ts", import.meta.url), [
        provider.url,
        ...houses.map(({ path }) => path),
      ]);
      const { value } = await child.lines.next();
      if (!value) throw new Error(`The gateways did not start: ${child.errors()}`);
      const urls: string[] = JSON.parse(value);
      const work = houses.flatMap((house, at) =>
        house.talks.map(async (talk) => {
          while (await go({ url: urls[at] as string }, house, talk));
        }),
      );
      await sleep(random.below(MAX_LIFE_MS));
      child.process.kill("SIGKILL");
      await child.ended();
      await Promise.all(work);
      for (const house of houses) await checkNothingLost(provider, house, kill);
    }
    for (const house of houses) await checkNothingDoubled(provider, house);
  },
);

interface Provider {
  readonly url: string;
  /** All words of people that the provider has received. */
  readonly told: ReadonlySet<string>;
}

/** A store and the conversations that go on over it. */
interface House {
  readonly seed: number;
  readonly path: string;
  readonly random: Random;
  readonly talks: readonly Talk[];
}

/** Starts a provider that answers after a random time. */
async function startProvider(random: Random): Promise<Provider> {
  const told = new Set<string>();
  let answered = 0;
  const { url } = await startUpstream((heard, response) => {
    for (const { role, content } of heard.json.messages) if (role === "user") told.add(content);
    const text = `Answer ${++answered}.`;
    const wait = random.below(25);
    setTimeout(() => behave(heard, response, { type: "reply", reply: { text } }), wait);
  });
  return { url, told };
}

/** Sends the next request of a conversation; false if its reply did not come whole. */
async function go(gateway: { readonly url: string }, house: House, talk: Talk): Promise<boolean> {
  const stream = house.random.chance(0.5);
  const body = { model: "claude-sonnet-4-5", max_tokens: 100, stream, messages: talk.messages };
  const answer = await ask(gateway, { path: "/v1/messages", body }).catch(() => undefined);
  if (!answer?.isWhole || answer.status !== 200) return false;
  const text = [...answer.text.matchAll(/"text":"([^"]*)"/g)].map(([, words]) => words).join("");
  talk.answers.push(text);
  const name = talk.messages[0]?.content.split(":")[0];
  talk.messages.push(
    { role: "assistant", content: text },
    { role: "user", content: `${name}: question ${talk.answers.length}.` },
  );
  return true;
}

/** Creates a store in which each conversation has its first reply. */
async function openHouse(provider: Provider, seed: number): Promise<House> {
  const talks: Talk[] = Array.from({ length: TALKS }, (_, talk) => ({
    messages: [{ role: "user", content: `Store ${seed} talk ${talk}: begin.` }],
    answers: [],
  }));
  const house = { seed, path: testFolder(), random: new Random(seed), talks };
  // A first request has no reply in it: repeated after a reply that was stored and never heard, it begins a conversation.
  const first = await startGateway({ upstream: provider.url, path: house.path });
  for (const talk of talks) expect(await go(first, house, talk)).toBe(true);
  await first.close();
  return house;
}

async function checkNothingLost(
  { told }: Provider,
  { seed, path, talks }: House,
  kill: number,
): Promise<void> {
  const stored = new Set(await readStored(path));
  const ours = [...told].filter((word) => word.startsWith(`Store ${seed} `));
  const lost = [...ours, ...talks.flatMap(({ answers }) => answers)].filter((word) => !stored.has(word));
  expect(lost, `lost by kill ${kill} of store ${seed}`).toEqual([]);
}

async function checkNothingDoubled(provider: Provider, house: House): Promise<void> {
  const gateway = await startGateway({ upstream: provider.url, path: house.path });
  for (const talk of house.talks) expect(await go(gateway, house, talk)).toBe(true);
  expect(await threadsOf(gateway)).toHaveLength(TALKS);
  await gateway.close();
  const stored = await readStored(house.path);
  const users = stored.filter((text) => text.startsWith("Store"));
  expect(users.toSorted(), "each word of a person is stored once").toEqual([...new Set(users)].toSorted());
}
