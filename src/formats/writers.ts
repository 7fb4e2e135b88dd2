import { aiSdkUiWriter } from "./ai-sdk/ai-sdk-ui-writer.ts";
import { aiSdkWriter } from "./ai-sdk/ai-sdk-writer.ts";
import { claudeCodeWriter } from "./claude-code/claude-code-writer.ts";
import { clineWriter } from "./cline/cline-writer.ts";
import { codexWriter } from "./codex/codex-writer.ts";
import { geminiCliWriter } from "./gemini-cli/gemini-cli-writer.ts";
import { markdownWriter } from "./markdown/markdown-writer.ts";
import { opencodeWriter } from "./opencode/opencode-writer.ts";
import { piWriter } from "./pi/pi-writer.ts";
import type { Writer } from "./port/writer.ts";
import { rooWriter } from "./roo/roo-writer.ts";
import { anthropicWriter, openaiChatWriter, openaiResponsesWriter } from "./writing/wire-writers.ts";

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
