import type { Agent } from "./agent.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex, codexOpenai } from "./codex.ts";
import { continueDev } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { geminiCli } from "./gemini-cli.ts";
import { openclaw } from "./openclaw.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwenCode } from "./qwen-code.ts";
import { SDKS } from "./sdks.ts";

/** All agents, in the order they run. */
export const AGENTS: readonly Agent[] = [
  claudeCode,
  pi,
  opencode,
  codex,
  codexOpenai,
  continueDev,
  cline,
  qwenCode,
  copilot,
  openclaw,
  geminiCli,
  ...SDKS,
];
