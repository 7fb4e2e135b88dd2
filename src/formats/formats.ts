import { aiSdkFormat } from "./ai-sdk.ts";
import { anthropicFormat } from "./anthropic.ts";
import { claudeCodeFormat } from "./claude-code.ts";
import { clineFormat } from "./cline.ts";
import { clineSdkFormat } from "./cline-sdk.ts";
import { codexFormat } from "./codex.ts";
import { copilotCliFormat } from "./copilot-cli.ts";
import type { Format } from "./format.ts";
import { geminiCliFormat } from "./gemini-cli.ts";
import { openaiChatFormat } from "./openai-chat.ts";
import { openaiResponsesFormat } from "./openai-responses.ts";
import { openclawFormat } from "./openclaw.ts";
import { opencodeFormat } from "./opencode.ts";
import { piFormat } from "./pi.ts";
import { rooFormat } from "./roo.ts";
import { sweAgentFormat } from "./swe-agent.ts";

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
