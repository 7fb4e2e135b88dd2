import { aiSdk } from "./ai-sdk.ts";
import { anthropic } from "./anthropic.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { clineSdk } from "./cline-sdk.ts";
import { codex } from "./codex.ts";
import { copilotCli } from "./copilot-cli.ts";
import type { Format } from "./format.ts";
import { geminiCli } from "./gemini-cli.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import { openclaw } from "./openclaw.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { roo } from "./roo.ts";
import { sweAgent } from "./swe-agent.ts";

/** All formats in order of detection: the most specific come first. */
export const FORMATS: readonly Format[] = [
  claudeCode,
  codex,
  opencode,
  clineSdk,
  roo,
  cline,
  openclaw,
  pi,
  geminiCli,
  copilotCli,
  sweAgent,
  anthropic,
  openaiResponses,
  aiSdk,
  openaiChat,
];
