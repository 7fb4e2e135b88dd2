import type { Entry, Fitted, OverlayBody, Session } from "../../index.ts";
import { countOf, formatCount } from "../count.ts";
import { escapeLine } from "../escape.ts";
import { shellWord } from "../shell-word.ts";
import { formatChange } from "../tokens.ts";
import { editWords } from "../transcript/edit-words.ts";
import { describedWindow } from "./window-options.ts";

/** Effect of a revert on the window. */
export interface Reverted {
  readonly session: string;
  /** The new revert overlay; undefined if there was nothing to revert. */
  readonly by: Entry<OverlayBody> | undefined;
  readonly before: Fitted;
  readonly after: Fitted;
}

/** Runs `revert` and reads the window before and after it. */
export async function reverting(
  session: Session,
  revert: () => Promise<Entry<OverlayBody> | undefined>,
): Promise<Reverted> {
  const { window } = await describedWindow(session, {});
  const before = await window.look();
  const by = await revert();
  return { session: session.id, by, before, after: await window.look() };
}

/** Formats the effect of a revert for people. */
export function revertedLines(reverted: Reverted, isQuiet: boolean): readonly string[] {
  const { session, by, before, after } = reverted;
  if (!by) return ["No edits since then."];
  const messages = `${formatCount(before.messages.length)} → ${countOf(after.messages.length, "message")}`;
  const size = `window: ${formatChange(before.tokens, after.tokens)}, ${messages}`;
  const isOver = after.tokens > after.limits.most;
  const over = `over the limit of ${formatCount(after.limits.most)} tokens: the next call edits the window again`;
  return [
    `#${by.seq} ${editWords(by.edit)}`,
    isSame(reverted) ? "window: unchanged" : size,
    ...(isOver ? [over] : []),
    ...(isQuiet ? [] : [`undo: longhaul revert ${shellWord(session)} ${by.seq}`]),
  ].map(escapeLine);
}

/** Formats the effect of a revert as JSON. */
export function revertedJson(reverted: Reverted) {
  const { session, by, before, after } = reverted;
  return {
    session,
    by: by?.id ?? null,
    isChanged: !isSame(reverted),
    tokens: { before: before.tokens, after: after.tokens },
    messages: { before: before.messages.length, after: after.messages.length },
  };
}

function isSame({ before, after }: Reverted): boolean {
  return JSON.stringify(before.messages) === JSON.stringify(after.messages);
}
