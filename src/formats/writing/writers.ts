import { aiSdkUiWriter } from "./ai-sdk-ui-writer.ts";
import { aiSdkWriter } from "./ai-sdk-writer.ts";
import { claudeCodeWriter } from "./claude-code-writer.ts";
import { clineWriter } from "./cline-writer.ts";
import { markdownWriter } from "./markdown-writer.ts";
import { piWriter } from "./pi-writer.ts";
import { rooWriter } from "./roo-writer.ts";
import { anthropicWriter, openaiChatWriter, openaiResponsesWriter } from "./wire-writers.ts";
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
