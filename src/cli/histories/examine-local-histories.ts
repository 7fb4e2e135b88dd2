import { type AgentHistory, examineHistories } from "../../histories/index.ts";
import type { Kernel } from "../../kernel/index.ts";
import type { CliContext } from "../cli-context.ts";
import type { Finding } from "../doctor/finding.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { describeThreatened, KEEP_COMMANDS } from "./render-histories.ts";

/** Compares the histories of this user's agents with the store, if there is one. */
export function examineLocalHistories(
  { home, platform, env, signal }: CliContext,
  kernel: Kernel | undefined,
): Promise<readonly AgentHistory[]> {
  return examineHistories(kernel, { system: { home, platform, env }, signal });
}

/** Turns the state of the histories into a finding of the doctor. */
export function judgeHistories(histories: readonly AgentHistory[]): readonly Finding[] {
  const area = "histories";
  if (histories.length === 0) return [];
  const threatened = describeThreatened(histories);
  if (threatened !== undefined) return [{ area, level: "warning", text: threatened, remedy: KEEP_COMMANDS }];
  const count = histories.reduce((total, { conversations }) => total + conversations, 0);
  const agents = histories.map(({ title }) => title).join(", ");
  const text = `${formatQuantity(count, "conversation")} of ${agents}; none will be deleted that the store lacks`;
  return [{ area, level: "ok", text }];
}
