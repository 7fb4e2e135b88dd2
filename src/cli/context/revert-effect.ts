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
  const isHeld = findHeld(after, by) !== undefined;
  const limit = `over the limit of ${formatCount(after.limits.most)} tokens: the next call`;
  const over = isHeld
    ? `${limit} leaves content out, and what came back last`
    : `${limit} edits the window again`;
  const command = `longhaul revert ${quoteShellWord(session)} ${by.seq}`;
  return [
    `#${by.seq} ${describeEdit(by.edit)}`,
    isSame(reverted) ? "window: unchanged" : size,
    ...(isHeld ? ["held: what came back stays until the limit forces it out"] : []),
    ...(isReleased(reverted) ? ["released: what had come back may leave early again"] : []),
    ...(isOver ? [over] : []),
    ...(isQuiet ? [] : [`${isHeld ? "undo and release" : "undo"}: ${command}`]),
  ].map(escapeLine);
}

function findHeld({ held = [] }: FittedWindow, { session, seq }: Pick<Entry, "session" | "seq">) {
  return held.find(({ revert }) => revert.session === session && revert.seq === seq);
}

function isReleased({ by, before, after }: RevertEffect): boolean {
  if (by?.edit.type !== "revert") return false;
  const target = { session: by.edit.session ?? by.session, seq: by.edit.overlay };
  return findHeld(before, target) !== undefined && findHeld(after, target) === undefined;
}

/** Formats the effect of a revert as JSON. */
export function toRevertJson(reverted: RevertEffect) {
  const { session, by, before, after } = reverted;
  return {
    session,
    by: by?.id ?? null,
    isChanged: !isSame(reverted),
    isHeld: by !== undefined && findHeld(after, by) !== undefined,
    tokens: { before: before.tokens, after: after.tokens },
    messages: { before: before.messages.length, after: after.messages.length },
  };
}

function isSame({ before, after }: RevertEffect): boolean {
  return JSON.stringify(before.messages) === JSON.stringify(after.messages);
}
