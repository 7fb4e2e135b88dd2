import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { MessageInput } from "../../../../src/kernel/index.ts";
import type { GatewayConfig } from "../../../../src/server/gateway/config/config.ts";
import { parseRequest } from "../../../../src/server/gateway/request/read-request.ts";
import { ReferencedItems } from "../../../../src/server/gateway/request/referenced-items.ts";
import { SeenBodies } from "../../../../src/server/gateway/request/seen-bodies.ts";
import { Redactor } from "../../../../src/server/gateway/thread/redactor.ts";
import { getWire } from "../../../../src/wire/wires.ts";

const SECRET = `sk-ant-api03-${"Ab1".repeat(31)}`;
const LARGE = `${"a line of text\n".repeat(100_000)}KEY=${SECRET}\n`;
const MIDDLING = `${"another line\n".repeat(30_000)}KEY=${SECRET}\n`;

test("the large texts of a body are prepared for redaction before any message is stored", async () => {
  const prepared: MessageInput[] = [];
  const redactor = new Redactor(() => {});
  const parts = {
    bodies: new SeenBodies(() => 1_000),
    items: new ReferencedItems(() => ({ items: 100, itemBytes: 100_000 })),
    config: () => ({ redact: true }) as GatewayConfig,
    stored: (message: MessageInput) => redactor.redact(message),
    prepareStored: async (messages: readonly MessageInput[]) => {
      prepared.push(...messages);
      await redactor.prepare(messages);
    },
  };
  const messages = [
    { role: "user", content: MIDDLING },
    { role: "assistant", content: "Fine." },
    { role: "user", content: LARGE },
  ];
  const body = Buffer.from(JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 10, messages }));
  const { messages: read } = await parseRequest(getWire("anthropic"), body, "somebody", parts);
  expect(read.list.map(({ raw }) => raw?.text?.length ?? raw?.parts?.length)).toEqual([
    expect.any(Number),
    expect.any(Number),
    undefined,
  ]);
  const [blob] = read.list[2]?.input().parts ?? [];
  if (blob?.type !== "blob" || !blob.bytes) throw new Error("the large text is not streamed");
  const stored = (await buffer(blob.bytes())).toString();
  expect(stored).toContain("a line of text");
  expect(stored).not.toContain(SECRET);
  expect(prepared.map((message) => JSON.stringify(message).length > LARGE.length)).toEqual([true]);
  await redactor.close();
});
