import type { MessageInput, SessionRecord } from "../../index.ts";
import { findCompactCommand, MIN_SHRINK_CHARACTERS } from "../../window-entry.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import { hasNoEdits } from "../thread/unedited-log.ts";
import type { Target } from "../upstream/target.ts";

/** The policy that leaves a window far below its threshold alone; with "late" it waits for the threshold itself. */
const CALM_POLICIES: readonly string[] = ["longhaul", "longhaul late"];
/** A token takes at least about two bytes of a body, in any language. */
const MIN_BYTES_PER_TOKEN = 2;
/** Share of the threshold below which no edit can be due. */
const FAR_SHARE = 0.5;

/**
 * True if the body of a request will leave exactly as received, so that it can be sent before it is stored. Judged from
 * facts at hand, and in doubt false.
 */
export function canForwardFirst(
  thread: Thread,
  record: SessionRecord,
  callRequest: CallRequest,
  { model, clientModel }: Pick<Target, "model" | "clientModel">,
): boolean | Promise<boolean> {
  if (model !== clientModel || hasAdditions(callRequest)) return false;
  const { policy, policyKey, isDryRun, messages, limits } = callRequest;
  if (policy === "none" || isDryRun) return true;
  const { cut } = messages;
  const mostTokens = Math.min(limits.threshold, limits.window) * FAR_SHARE;
  const isFar = cut.bytes.length / MIN_BYTES_PER_TOKEN <= mostTokens;
  if (!isFar || !CALM_POLICIES.includes(policyKey)) return false;
  return !hasEditableNews(callRequest) && hasNoEdits(thread, record);
}

/** True if something else than the client's own messages and fields would be sent. */
function hasAdditions(callRequest: CallRequest): boolean {
  const { chain, edits, compactions, buildPlainPieces, onStored, memories, frame, limits } = callRequest;
  return (
    chain !== undefined ||
    edits !== undefined ||
    compactions !== undefined ||
    buildPlainPieces !== undefined ||
    onStored !== undefined ||
    memories?.text !== undefined ||
    frame.recallTools !== undefined ||
    limits.isOutputCounted === true
  );
}

/** True if a message that no request has sent yet may be shortened or replaced. */
function hasEditableNews({ messages: { list }, shrink }: CallRequest): boolean {
  const newest = list.at(-1);
  if (newest?.role === "user" && findCompactCommand(newest.input())) return true;
  return list.some(({ raw, written }) => written !== undefined || (raw && isEditable(raw, shrink !== false)));
}

function isEditable({ parts = [] }: MessageInput, isShrinking: boolean): boolean {
  return parts.some((part) => {
    if (part.type === "tool-result")
      return JSON.stringify(part).length >= (isShrinking ? MIN_SHRINK_CHARACTERS : Number.POSITIVE_INFINITY);
    return part.type !== "text" && part.type !== "reasoning" && part.type !== "tool-call";
  });
}
