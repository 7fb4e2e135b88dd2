import { generateText, type ModelMessage } from "ai";
import { expect, test } from "vitest";
import { withLonghaul } from "../../../src/adapters/ai/index.ts";
import { APIS, lineOf, reply, speaking } from "./speaking.ts";

test.each(APIS)("/compact typed in a chat compacts the conversation before the call: %s", async (api) => {
  const { server, session, plain } = await speaking();
  const model = withLonghaul(plain(api), { session });
  const messages: ModelMessage[] = [];
  const say = async (content: string) => {
    server.script(reply("Fine, that is done."));
    messages.push({ role: "user", content });
    const { response } = await generateText({ model, messages });
    messages.push(...response.messages);
    return JSON.stringify(server.requests.at(-1)?.body);
  };
  let before = "";
  for (let number = 0; number < 10; number++)
    before = await say(
      `Step ${number}: table orders_${number}. ${"It was discussed at length. ".repeat(40)}`,
    );
  const sent = await say("/compact keep the name orders_3");
  expect(sent.length).toBeLessThan(before.length / 2);
  expect(sent).toContain("one short sentence");
  expect((await lineOf(session)).join("\n")).toContain("user: /compact keep the name orders_3");
  const after = await say("What is next?");
  expect(after.length).toBeLessThan(before.length / 2);
  expect(after).toContain("What is next?");
  const overlays = await session.overlays.list();
  expect(overlays.filter(({ entry }) => entry.summary)).toHaveLength(1);
});
