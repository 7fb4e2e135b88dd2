import { expect, test } from "vitest";
import { findSender } from "../../../src/histories/openclaw/openclaw-decoder.ts";

const FENCE = "`".repeat(3);

const block = (heading: string, fields: object, json = JSON.stringify(fields, null, 2)) =>
  `${heading} (untrusted metadata):\n${FENCE}json\n${json}\n${FENCE}\n\n`;

test.each([
  [block("Sender", { label: "Ann B (12)", id: "12", name: "Ann B" }), "Ann B"],
  [block("Conversation info", { message_id: "7", sender: "Ann B" }), "Ann B"],
  [block("Conversation info", { sender: "12" }) + block("Sender", { id: "12", name: "Ann" }), "Ann"],
  [block("Conversation info", { sender: "12" }), undefined],
  [block("Sender", { label: "openclaw-control-ui", id: "openclaw-control-ui" }), undefined],
  [block("Sender", {}, "{broken"), undefined],
  ["hello there\n[from: Ann B (+4912)]", "Ann B"],
  ["hello there", undefined],
])("the sender of a message from a channel is found: %j", (text, sender) => {
  expect(findSender(text.startsWith("hello") ? text : `${text}Hello.`)).toBe(sender);
});
