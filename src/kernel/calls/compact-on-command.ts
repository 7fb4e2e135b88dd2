import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findCompactCommand } from "../faces/window.ts";
import {
  type CompactionResult,
  type EntryId,
  isLonghaulError,
  type MessageInput,
  parseEntryId,
  type Session,
  type SessionCompactOptions,
} from "../index.ts";

/** Number of overlays searched for a trace of the same command. */
const MAX_OVERLAYS = 50;

/**
 * Runs `/compact [instructions]` if it is the newest message of a conversation: compacts the session and asks the model
 * to confirm it in place of the command, which stays in the log. A repeated request does not run the command twice.
 * Call this in the conversation's turn, before fitting its window.
 */
export async function compactOnCommand(
  session: Session,
  newest: { readonly id: EntryId | undefined; readonly message: () => MessageInput },
  options: Omit<SessionCompactOptions, "instructions" | "dryRun"> = {},
): Promise<void> {
  const place = newest.id === undefined ? undefined : parseEntryId(newest.id);
  if (place?.session !== session.id) return;
  const command = findCompactCommand(newest.message());
  if (!command || (await isCarriedOut(session, place.seq))) return;
  const { instructions } = command;
  const done = await compactUnlessBusy(session, { ...options, ...dropUndefined({ instructions }) });
  const text = buildConfirmationRequest(instructions, done);
  await session.overlays.add(
    { type: "replace", target: { seq: place.seq }, parts: [{ type: "text", text }] },
    "the user's /compact was carried out; the model is asked to confirm it",
    "longhaul",
  );
}

async function isCarriedOut(session: Session, seq: number): Promise<boolean> {
  const overlays = await session.overlays.list(MAX_OVERLAYS);
  return overlays.some(
    ({ entry: { edit } }) =>
      edit.type === "replace" && "seq" in edit.target && edit.target.seq === seq && !edit.target.session,
  );
}

async function compactUnlessBusy(
  session: Session,
  options: SessionCompactOptions,
): Promise<CompactionResult | undefined> {
  try {
    return await session.compact(options);
  } catch (error) {
    // Another process is compacting; its summary is just as good.
    if (isLonghaulError(error, "COMPACTION_BUSY")) return undefined;
    throw error;
  }
}

function buildConfirmationRequest(
  instructions: string | undefined,
  done: CompactionResult | undefined,
): string {
  const asked = `The user typed ${JSON.stringify(`/compact${instructions === undefined ? "" : ` ${instructions}`}`)}.`;
  const outcome = done
    ? `It was carried out: ${done.left.entries} earlier messages are now a summary, ${Math.round(done.tokens.without)} tokens have become ${Math.round(done.tokens.with)}, and the whole conversation stays in the log.`
    : "There was nothing to compact.";
  return `[${asked} ${outcome} Tell the user so in one short sentence. Do nothing else, and call no tool.]`;
}
