import type { Entry, MessageBody, Session } from "../../src/kernel/index.ts";
import { formatCount } from "../format.ts";
import { timed } from "../stopwatch.ts";
import { expect, type Tour } from "../tour.ts";

/** Time to replace a message. */
export interface EditFigures {
  readonly replaceMs: number;
}

/** Replaces an old message and keeps everything after it. */
export async function editThePast(session: Session, { length, terminal }: Tour): Promise<EditFigures> {
  terminal.heading(
    "5. Edit a message long past",
    "The new wording takes the old one's place; what followed stays on the line.",
  );
  const old = await userMessageBefore(session, Math.floor(length.messages / 2));
  const text = "Please look at the scheduler first; the queue can wait until tomorrow.";
  const { value: replacement, ms } = await timed(() => session.replace(old.seq, { role: "user", text }));
  terminal.fact("replace", `entry ${formatCount(old.seq)} by entry ${formatCount(replacement.seq)}`, ms);
  const [line] = await session.lines(1);
  const ranges =
    line?.ranges.map(({ from, to }) => [...new Set([from, to])].map(formatCount).join("–")) ?? [];
  terminal.fact("the line is now", ranges.join(", "));
  expect((await session.entry(old.id))?.kind === "message", "the original is still in the log");
  return { replaceMs: ms };
}

async function userMessageBefore(session: Session, seq: number): Promise<Entry<MessageBody>> {
  for (let at = seq; at > 0; at--) {
    const entry = await session.entry(at);
    if (entry?.kind === "message" && entry.message.role === "user") return entry;
  }
  throw new Error(`No user message was found at or before entry ${seq}.`);
}
