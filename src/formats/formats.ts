import { aiSdkFormat } from "./ai-sdk-format.ts";
import { anthropicFormat } from "./anthropic-format.ts";
import { claudeCodeFormat } from "./claude-code-format.ts";
import { clineFormat } from "./cline-format.ts";
import { clineSdkFormat } from "./cline-sdk-format.ts";
import { codexFormat } from "./codex-format.ts";
import { copilotCliFormat } from "./copilot-cli-format.ts";
import type { Format } from "./format.ts";
import { geminiCliFormat } from "./gemini-cli-format.ts";
import { openaiChatFormat } from "./openai-chat-format.ts";
import { openaiResponsesFormat } from "./openai-responses-format.ts";
import { openclawFormat } from "./openclaw-format.ts";
import { opencodeFormat } from "./opencode-format.ts";
import { piFormat } from "./pi-format.ts";
import { rooFormat } from "./roo-format.ts";
import { sweAgentFormat } from "./swe-agent-format.ts";

/** All formats in order of detection: the most specific come first. */
export const FORMATS: readonly Format[] = [
  claudeCodeFormat,
  codexFormat,
  opencodeFormat,
  clineSdkFormat,
  rooFormat,
  clineFormat,
  openclawFormat,
  piFormat,
  geminiCliFormat,
  copilotCliFormat,
  sweAgentFormat,
  anthropicFormat,
  openaiResponsesFormat,
  aiSdkFormat,
  openaiChatFormat,
];
