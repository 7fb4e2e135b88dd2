import { aiSdkFormat } from "./ai-sdk/ai-sdk-format.ts";
import { anthropicFormat } from "./anthropic-format.ts";
import { claudeCodeFormat } from "./claude-code/claude-code-format.ts";
import { clineFormat } from "./cline/cline-format.ts";
import { clineSdkFormat } from "./cline-sdk/cline-sdk-format.ts";
import { codexFormat } from "./codex/codex-format.ts";
import { copilotCliFormat } from "./copilot-cli/copilot-cli-format.ts";
import { geminiCliFormat } from "./gemini-cli/gemini-cli-format.ts";
import { openaiChatFormat } from "./openai-chat-format.ts";
import { openaiResponsesFormat } from "./openai-responses-format.ts";
import { openclawFormat } from "./openclaw/openclaw-format.ts";
import { opencodeFormat } from "./opencode/opencode-format.ts";
import { piFormat } from "./pi/pi-format.ts";
import type { Format } from "./port/format.ts";
import { rooFormat } from "./roo/roo-format.ts";
import { sweAgentFormat } from "./swe-agent/swe-agent-format.ts";

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
