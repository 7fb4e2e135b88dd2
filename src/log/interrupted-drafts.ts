import { isOwnerAlive, isOwnerRunning } from "../model/base/owner.ts";
import type { DamagedBody, MessageBody, SessionId } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import { flattenParts } from "../model/message.ts";
import { decodeStoredBody } from "./entry-body.ts";
import type { Log } from "./log.ts";
import type { DraftRecord } from "./store/draft-store.ts";

/** A draft whose writer is alive. */
export interface LiveDraft {
  readonly id: string;
  /** Time of the last write. */
  readonly at: number;
  readonly body: MessageBody;
}

/** The drafts of a session whose writers are alive. */
export async function listLiveDrafts(log: Log, session: SessionId): Promise<readonly LiveDraft[]> {
  const now = log.clock.now();
  const drafts = await log.store.drafts.list(session);
  return drafts.flatMap(({ id, at, owner, payload }) => {
    const body = isWriting(owner, at, now) ? decodeDraft(payload) : undefined;
    return body?.kind === "message" ? [{ id, at, body }] : [];
  });
}

/** Appends the drafts of dead writers as interrupted messages, each exactly once across processes. */
export async function adoptInterrupted(log: Log, session: SessionId): Promise<number> {
  const now = log.clock.now();
  const orphans = (await log.store.drafts.list(session)).filter(
    (draft) => !isWriting(draft.owner, draft.at, now),
  );
  let adopted = 0;
  for (const orphan of orphans) if (await adopt(log, orphan)) adopted++;
  return adopted;
}

async function adopt(log: Log, draft: DraftRecord): Promise<boolean> {
  const body = decodeDraft(draft.payload);
  const blobs = listBlobs(body);
  try {
    await log.append(draft.session, [{ body, ...(blobs.length > 0 && { blobs }) }], {
      finishes: draft.id,
      at: draft.at,
    });
    return true;
  } catch (error) {
    // A read-only store leaves the draft to a process that can write.
    if (isLonghaulError(error, "DRAFT_FINISHED") || isLonghaulError(error, "STORE_READ_ONLY")) return false;
    throw error;
  }
}

function isWriting(owner: string, at: number, now: number): boolean {
  return isOwnerRunning(owner) || isOwnerAlive(owner, at, now);
}

function decodeDraft(payload: Uint8Array): MessageBody | DamagedBody {
  return decodeStoredBody({ kind: "message", payload }) as MessageBody | DamagedBody;
}

function listBlobs(body: MessageBody | DamagedBody): string[] {
  if (body.kind === "damaged") return [];
  return [
    ...new Set(flattenParts(body.message).flatMap((part) => (part.type === "blob" ? [part.digest] : []))),
  ];
}
