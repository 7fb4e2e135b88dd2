import { countClaudeCode } from "./claude-code.ts";
import { countCline } from "./cline.ts";
import { countCodex } from "./codex.ts";
import { countCopilotCli } from "./copilot-cli.ts";
import type { FileCount } from "./count.ts";
import { countGeminiCli } from "./gemini-cli.ts";
import { countOpencode } from "./opencode.ts";
import { countPi } from "./pi.ts";
import { countSweAgent } from "./swe-agent.ts";

const COUNTERS = {
  "claude-code": countClaudeCode,
  cline: countCline,
  codex: countCodex,
  "copilot-cli": countCopilotCli,
  "gemini-cli": countGeminiCli,
  opencode: countOpencode,
  pi: countPi,
  "swe-agent": countSweAgent,
};

/** The formats that are counted. */
export type CountedFormat = keyof typeof COUNTERS;

/** What a raw file holds. */
export interface RawCount extends FileCount {
  readonly bytes: number;
}

/**
 * Counts what a raw file of a foreign tool holds, without any code of the readers: to be compared with what they find. The
 * rule of each format is that of the yardstick; what it leaves out stands in `besides`.
 */
export function countRaw(format: CountedFormat, file: string | Buffer): RawCount {
  const bytes = Buffer.from(file as string);
  return { ...COUNTERS[format](bytes.toString("utf8").replace(/^\uFEFF/, "")), bytes: bytes.length };
}
