import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { WireName } from "../../../../src/wire/wire.ts";
import { TestAgent } from "../../../support/agent.ts";
import { logOf, startGateway, threadsOf } from "../../../support/gateway.ts";
import { proofCases, sizedTest } from "../../../support/proof.ts";
import { beginStream, eventsOf, startUpstream } from "../../../support/upstream.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;

sizedTest.each(proofCases(APIS))(
  "a client of %s sees the end of a reply only after the reply is stored",
  async (api: WireName) => {
    const upstream = await startUpstream(async (heard, response) => {
      const events = eventsOf(heard, { text: "The answer." });
      beginStream(response);
      // The end follows when the store is locked.
      response.write(events.slice(0, 2).join(""));
      await begun.promise;
      response.end(events.slice(2).join(""));
    });
    const begun = Promise.withResolvers<void>();
    const gateway = await startGateway({ upstream: upstream.url });
    const agent = new TestAgent(gateway, api);
    agent.elements.push(...agent.words("A question."));
    let received = "";
    let isEnded = false;
    const answering = agent.send({
      onBytes: (bytes) => {
        received += bytes.toString("utf8");
      },
    });
    void answering.then(() => {
      isEnded = true;
    });
    await upstream.received(1);
    await expect.poll(() => received).not.toBe("");
    const other = new DatabaseSync(join(gateway.path, "log.db"));
    other.exec("BEGIN IMMEDIATE");
    begun.resolve();
    await sleep(300);
    const hasEnd = () => /message_stop|\[DONE\]|response\.completed/.test(received);
    expect([hasEnd(), isEnded]).toEqual([false, false]);
    other.exec("ROLLBACK");
    other.close();
    const answer = await answering;
    expect([answer.isWhole, hasEnd()]).toEqual([true, true]);
    const [record] = await threadsOf(gateway);
    const log = await logOf(await gateway.kernel.session(record?.id));
    expect(log.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
  },
);
