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

/** The counted formats. */
export type CountedFormat = keyof typeof COUNTERS;

/** Content counts and size of a raw file. */
export interface RawCount extends FileCount {
  readonly bytes: number;
}

/**
 * Counts the content of a foreign tool's raw file without any code of the readers, for comparison with their results.
 * Each format uses the yardstick's rule; content that it omits is in `besides`.
 */
export function countRaw(format: CountedFormat, file: string | Buffer): RawCount {
  const bytes = Buffer.from(file as string);
  return { ...COUNTERS[format](bytes.toString("utf8").replace(/^\uFEFF/, "")), bytes: bytes.length };
}
