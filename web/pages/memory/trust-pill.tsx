import type { Reply } from "../../api/routes.ts";
import { memoryText as text } from "./memory-text.ts";

const TRUST_TEXTS = {
  user: "trustUser",
  agent: "trustAgent",
  quoted: "trustQuoted",
  rejected: "trustRejected",
} as const;
const HINTS = {
  user: "trustUserHint",
  agent: "trustAgentHint",
  quoted: "trustQuotedHint",
  rejected: "trustRejectedHint",
} as const;

export type Memory = Reply<"GET /memories">["memories"][number];

/** The trust in a memory, and its author unless that is the user. */
export function TrustPill({ memory: { trust, by } }: { readonly memory: Pick<Memory, "trust" | "by"> }) {
  const isOther = by !== "user" && (trust === "user" || trust === "rejected");
  return (
    <span class={`pill trust-${trust}`} title={text(HINTS[trust])}>
      {text(TRUST_TEXTS[trust])}
      {isOther && ` (${text(TRUST_TEXTS[by])})`}
    </span>
  );
}
