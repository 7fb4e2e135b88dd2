import { aiderFormat } from "./agents/aider-format.ts";
import { antigravityFormat, cursorCliFormat, droidFormat } from "./agents/anthropic-like-formats.ts";
import { kimiCliFormat, kimiCodeFormat, vibeFormat } from "./agents/chat-like-formats.ts";
import { crushFormat } from "./agents/crush-format.ts";
import { cursorFormat } from "./agents/cursor-format.ts";
import { ampFormat, continueFormat } from "./agents/document-formats.ts";
import { chatgptFormat, claudeAiFormat } from "./agents/export-formats.ts";
import { gooseFormat } from "./agents/goose-format.ts";
import { grokFormat } from "./agents/grok-format.ts";
import { hermesFormat } from "./agents/hermes-format.ts";
import { kiloCliFormat, kiloCodeFormat, ompFormat, traeCliFormat } from "./agents/kindred-formats.ts";
import { kiroFormat } from "./agents/kiro-format.ts";
import { openhandsFormat } from "./agents/openhands-format.ts";
import { qwenCodeFormat } from "./agents/qwen-code-format.ts";
import { vscodeChatFormat } from "./agents/vscode-chat-format.ts";
import { zedFormat } from "./agents/zed-format.ts";
import { aiSdkFormat } from "./ai-sdk/ai-sdk-format.ts";
import { anthropicFormat, openaiChatFormat, openaiResponsesFormat } from "./api-formats.ts";
import { claudeCodeFormat } from "./claude-code/claude-code-format.ts";
import { clineFormat } from "./cline/cline-format.ts";
import { clineSdkFormat } from "./cline-sdk/cline-sdk-format.ts";
import { codexFormat } from "./codex/codex-format.ts";
import { copilotCliFormat } from "./copilot-cli/copilot-cli-format.ts";
import { geminiCliFormat } from "./gemini-cli/gemini-cli-format.ts";
import { openclawFormat } from "./openclaw/openclaw-format.ts";
import { opencodeFormat } from "./opencode/opencode-format.ts";
import { piFormat } from "./pi/pi-format.ts";
import type { Format } from "./port/format.ts";
import { rooFormat } from "./roo/roo-format.ts";
import { sweAgentFormat } from "./swe-agent/swe-agent-format.ts";

/** All formats in order of detection: the most specific come first. */
export const FORMATS: readonly Format[] = [
  traeCliFormat,
  ompFormat,
  kiloCliFormat,
  kiloCodeFormat,
  qwenCodeFormat,
  droidFormat,
  cursorCliFormat,
  antigravityFormat,
  kimiCodeFormat,
  kimiCliFormat,
  vibeFormat,
  grokFormat,
  kiroFormat,
  vscodeChatFormat,
  cursorFormat,
  zedFormat,
  gooseFormat,
  crushFormat,
  hermesFormat,
  continueFormat,
  ampFormat,
  openhandsFormat,
  claudeAiFormat,
  chatgptFormat,
  aiderFormat,
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
