import { expect, test } from "vitest";
import { lineOf, startGateway, threadsOf } from "../../../support/gateway.ts";
import { startUpstream } from "../../../support/upstream.ts";
import { talk } from "./talk.ts";

test("the name of a participant is stored as the speaker and shown in a hit", async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({ upstream: upstream.url });
  const said = [{ role: "user", name: "alice", content: "The vault opens with 7171 turns." }];
  await talk({ gateway, api: "openai-chat", isStreamed: false }, said);
  const [main] = await threadsOf(gateway, "main");
  const [first] = await lineOf(await gateway.kernel.session(main?.id));
  expect(first?.message.meta).toMatchObject({ speaker: "alice", "openai-chat": { name: "alice" } });
  const { hits } = await gateway.kernel.memory.recall("how many turns open the vault");
  expect(hits[0]).toMatchObject({ speaker: "alice" });
  expect(upstream.heard[0]?.json.messages).toEqual(said);
});
