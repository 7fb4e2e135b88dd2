import type { Entry, FittedWindow, Session } from "../../index.ts";
import type { OverlayBody } from "../../log-entry.ts";
import { escapeLine } from "../escape.ts";
import { formatCount, formatQuantity } from "../format-count.ts";
import { quoteShellWord } from "../quote-shell-word.ts";
import { formatTokenChange } from "../tokens.ts";
import { describeEdit } from "../transcript/describe-edit.ts";
import { openDescribedWindow } from "./window-options.ts";

/** Effect of a revert on the window. */
interface RevertEffect {
  readonly session: string;
  /** The new revert overlay; undefined if there was nothing to revert. */
  readonly by: Entry<OverlayBody> | undefined;
  readonly before: FittedWindow;
  readonly after: FittedWindow;
}

/** Runs `revert` and reads the window before and after it. */
export async function measureRevert(
  session: Session,
  revert: () => Promise<Entry<OverlayBody> | undefined>,
): Promise<RevertEffect> {
  const { window } = await openDescribedWindow(session, {});
  const before = await window.look();
  const by = await revert();
  return { session: session.id, by, before, after: await window.look() };
}

/** Formats the effect of a revert for people. */
export function renderRevertEffect(reverted: RevertEffect, isQuiet: boolean): readonly string[] {
  const { session, by, before, after } = reverted;
  if (!by) return ["No edits since then."];
  const messages = `${formatCount(before.messages.length)} → ${formatQuantity(after.messages.length, "message")}`;
  const size = `window: ${formatTokenChange(before.tokens, after.tokens)}, ${messages}`;
  const isOver = after.tokens > after.limits.most;
  const over = `over the limit of ${formatCount(after.limits.most)} tokens: the next call edits the window again`;
  return [
    `#${by.seq} ${describeEdit(by.edit)}`,
    isSame(reverted) ? "window: unchanged" : size,
    ...(isOver ? [over] : []),
    ...(isQuiet ? [] : [`undo: longhaul revert ${quoteShellWord(session)} ${by.seq}`]),
  ].map(escapeLine);
}

/** Formats the effect of a revert as JSON. */
export function toRevertJson(reverted: RevertEffect) {
  const { session, by, before, after } = reverted;
  return {
    session,
    by: by?.id ?? null,
    isChanged: !isSame(reverted),
    tokens: { before: before.tokens, after: after.tokens },
    messages: { before: before.messages.length, after: after.messages.length },
  };
}

function isSame({ before, after }: RevertEffect): boolean {
  return JSON.stringify(before.messages) === JSON.stringify(after.messages);
}
