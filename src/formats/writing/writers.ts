import { aiSdkWriter } from "./ai-sdk.ts";
import { aiSdkUiWriter } from "./ai-sdk-ui.ts";
import { anthropicWriter } from "./anthropic.ts";
import { claudeCodeWriter } from "./claude-code.ts";
import { clineWriter } from "./cline.ts";
import { markdownWriter } from "./markdown.ts";
import { openaiChatWriter } from "./openai-chat.ts";
import { openaiResponsesWriter } from "./openai-responses.ts";
import { piWriter } from "./pi.ts";
import { rooWriter } from "./roo.ts";
import type { Writer } from "./writer.ts";

/** All writers: for people, for APIs, for other agents. */
export const WRITERS: readonly Writer[] = [
  markdownWriter,
  anthropicWriter,
  openaiChatWriter,
  openaiResponsesWriter,
  aiSdkWriter,
  aiSdkUiWriter,
  claudeCodeWriter,
  clineWriter,
  rooWriter,
  piWriter,
];
