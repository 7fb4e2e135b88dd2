import { anthropicWire } from "../wire/anthropic/anthropic-wire.ts";
import { openaiChatWire } from "../wire/openai-chat/openai-chat-wire.ts";
import { openaiResponsesWire } from "../wire/openai-responses/openai-responses-wire.ts";
import type { Wire } from "../wire/wire.ts";
import { aiSdkUiWriter, aiSdkWriter } from "./ai-sdk/ai-sdk-writer.ts";
import { claudeCodeWriter } from "./claude-code/claude-code-writer.ts";
import { clineWriter } from "./cline/cline-writer.ts";
import { codexWriter } from "./codex/codex-writer.ts";
import { geminiCliWriter } from "./gemini-cli/gemini-cli-writer.ts";
import { markdownWriter } from "./markdown/markdown-writer.ts";
import { opencodeWriter } from "./opencode/opencode-writer.ts";
import { piWriter } from "./pi/pi-writer.ts";
import type { Writer } from "./port/writer.ts";
import { rooWriter } from "./roo/roo-writer.ts";
import { readLineMessages } from "./writing/read-line-messages.ts";
import { writeJsonArray } from "./writing/write-json-array.ts";

const FILE = "conversation.json";

export const anthropicWriter: Writer = createWireWriter("anthropic", anthropicWire);
export const openaiChatWriter: Writer = createWireWriter("openai-chat", openaiChatWire);
export const openaiResponsesWriter: Writer = createWireWriter("openai-responses", openaiResponsesWire);

/** All writers: for people, for APIs, for other agents. */
export const WRITERS: readonly Writer[] = [
  markdownWriter,
  anthropicWriter,
  openaiChatWriter,
  openaiResponsesWriter,
  aiSdkWriter,
  aiSdkUiWriter,
  claudeCodeWriter,
  codexWriter,
  opencodeWriter,
  geminiCliWriter,
  clineWriter,
  rooWriter,
  piWriter,
];

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
