import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { openKernel } from "../../../src/kernel/index.ts";
import { textOfMessage } from "../../../src/model/message.ts";
import { testFolder } from "../../support/folder.ts";
import { ask, logOf, startGateway, threadsOf } from "../../support/gateway.ts";
import { proofCases, proofRounds, sizedTest } from "../../support/proof.ts";
import { Random } from "../../support/random.ts";
import { serveGateway } from "../../support/served-gateway.ts";
import { behave, startUpstream } from "../../support/upstream.ts";

const TALKS = 4;
/** Longest life of a gateway before it is killed. */
const MAX_LIFE_MS = 700;

interface Talk {
  readonly messages: { role: string; content: string }[];
  /** Replies whose end the client has heard. */
  readonly answers: string[];
}

/** Texts of all stored messages, also of those that are on no line any more. */
async function readStored(path: string): Promise<readonly string[]> {
  await using kernel = await openKernel({ path, embedder: null });
  const texts: string[] = [];
  for (const { id } of await kernel.sessions({ limit: 100 })) {
    await using session = await kernel.session(id);
    for (const { message } of await logOf(session)) texts.push(textOfMessage(message));
  }
  return texts;
}

/** 5 seeds of 8 kills each in a proof. */
sizedTest.each(proofCases([1, 2, 3, 4, 5]))(
  "a gateway killed at random moments has lost no word that the provider or the client has heard, seed %i",
  async (seed) => {
    const random = new Random(seed);
    const path = testFolder();
    const told = new Set<string>();
    let answered = 0;
    const upstream = await startUpstream((heard, response) => {
      for (const { role, content } of heard.json.messages) if (role === "user") told.add(content);
      const text = `Answer ${++answered}.`;
      const wait = random.below(25);
      setTimeout(() => behave(heard, response, { type: "reply", reply: { text } }), wait);
    });
    const talks: Talk[] = Array.from({ length: TALKS }, (_, talk) => ({
      messages: [{ role: "user", content: `Talk ${talk}: begin.` }],
      answers: [],
    }));
    const go = async (gateway: { readonly url: string }, talk: Talk): Promise<boolean> => {
      const stream = random.chance(0.5);
      const body = { model: "claude-sonnet-4-5", max_tokens: 100, stream, messages: talk.messages };
      const answer = await ask(gateway, { path: "/v1/messages", body }).catch(() => undefined);
      if (!answer?.isWhole || answer.status !== 200) return false;
      const text = [...answer.text.matchAll(/"text":"([^"]*)"/g)].map(([, words]) => words).join("");
      talk.answers.push(text);
      const count = talk.answers.length;
      talk.messages.push(
        { role: "assistant", content: text },
        { role: "user", content: `Talk ${talks.indexOf(talk)}, question ${count}.` },
      );
      return true;
    };
    for (let kill = 1; kill <= proofRounds(8, 3); kill++) {
      const gateway = await serveGateway(upstream.url, [], path);
      const work = talks.map(async (talk) => {
        while (await go(gateway, talk));
      });
      await sleep(random.below(MAX_LIFE_MS));
      await gateway.kill();
      await Promise.all(work);
      const stored = new Set(await readStored(path));
      const lost = [...told, ...talks.flatMap(({ answers }) => answers)].filter((word) => !stored.has(word));
      expect(lost, `lost by kill ${kill}`).toEqual([]);
    }
    const gateway = await startGateway({ upstream: upstream.url, path });
    for (const talk of talks) expect(await go(gateway, talk)).toBe(true);
    expect(await threadsOf(gateway)).toHaveLength(TALKS);
    await gateway.close();
    const stored = await readStored(path);
    const users = stored.filter((text) => text.startsWith("Talk"));
    expect(users.toSorted(), "each word of a person is stored once").toEqual([...new Set(users)].toSorted());
  },
);
