import { anthropicWire } from "../../wire/anthropic/anthropic-wire.ts";
import { openaiChatWire } from "../../wire/openai-chat/openai-chat-wire.ts";
import { openaiResponsesWire } from "../../wire/openai-responses/openai-responses-wire.ts";
import type { Wire } from "../../wire/wire.ts";
import type { Writer } from "../port/writer.ts";
import { readLineMessages } from "./read-line-messages.ts";
import { writeJsonArray } from "./write-json-array.ts";

const FILE = "conversation.json";

/** Creates the writer that exports the active line as the body of a request. */
function createWireWriter(name: Writer["name"], wire: Wire): Writer {
  return {
    name,
    title: wire.title,
    isFolder: false,
    async *write(session) {
      const { lead, elements } = await wire.encodeRequest(readLineMessages(session), session);
      const fields = Object.entries(lead).map(([field, value]) => `"${field}":${JSON.stringify(value)},`);
      yield* writeJsonArray(FILE, elements, `{${fields.join("")}"${wire.messagesField}":`, "}");
    },
  };
}

export const anthropicWriter: Writer = createWireWriter("anthropic", anthropicWire);
export const openaiChatWriter: Writer = createWireWriter("openai-chat", openaiChatWire);
export const openaiResponsesWriter: Writer = createWireWriter("openai-responses", openaiResponsesWire);
