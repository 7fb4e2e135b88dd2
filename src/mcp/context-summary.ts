import type { Kernel, Session } from "../index.ts";
import { sanitizeName } from "../memory/text/sanitize-text.ts";

const MAX_OVERLAYS = 5;

/** The window of a session's next call in words: its size by parts, and its newest edits. */
export async function summarizeContext(session: Session, kernel: Kernel): Promise<string> {
  const { model, ...frame } = await session.lastCall();
  const { tokens, messages, parts, limits } = await session
    .window({ ...frame, model: model ?? "unknown" })
    .look();
  const record = await kernel.find(session.id);
  const title = record?.title === undefined ? "" : ` (${sanitizeName(record.title, 80)})`;
  const sizes = Object.entries(parts)
    .filter(([name, size]) => size > 0 && name !== "free")
    .map(([name, size]) => `${name} ${size}`);
  const overlays = await session.overlays.list(MAX_OVERLAYS);
  const edits = overlays.map(({ entry: { seq, at, reason, receipt }, isHolding }) => {
    const saved = receipt ? `, ${receipt.tokens.without} → ${receipt.tokens.with} tokens` : "";
    return `#${seq} ${new Date(at).toISOString().slice(0, 16)}Z ${sanitizeName(reason, 120)}${saved}${isHolding ? "" : ", reverted"}`;
  });
  return [
    `Conversation ${sanitizeName(session.id)}${title}, model ${sanitizeName(model ?? "unknown")}.`,
    `The next call would send ${messages.length} messages, ${tokens} of ${limits.window} tokens: ${sizes.join(", ")}.`,
    ...(edits.length === 0
      ? ["Nothing was removed from its window."]
      : ["Newest edits of its window:", ...edits]),
  ].join("\n");
}
