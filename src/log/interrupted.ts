import type { MessageBody, SessionId } from "../model/entry.ts";
import { isLonghaulError } from "../model/errors.ts";
import { flatParts } from "../model/message.ts";
import type { DraftRecord } from "../store/draft-store.ts";
import { decodeBody } from "./body.ts";
import type { Log } from "./log.ts";
import { isOwnerAlive } from "./owner.ts";

/** A message that someone is writing right now. */
export interface LiveDraft {
  readonly id: string;
  /** When it was last stored. */
  readonly at: number;
  readonly body: MessageBody;
}

/** The drafts of a session whose writers live. */
export async function liveDrafts(log: Log, session: SessionId): Promise<readonly LiveDraft[]> {
  const now = log.clock.now();
  const drafts = await log.store.drafts.list(session);
  return drafts
    .filter((draft) => isOwnerAlive(draft.owner, draft.at, now))
    .map(({ id, at, payload }) => ({ id, at, body: bodyOf(payload) }));
}

/** Appends the drafts that dead writers left, as interrupted messages; each once, whoever comes first. */
export async function adoptInterrupted(log: Log, session: SessionId): Promise<number> {
  const now = log.clock.now();
  const orphans = (await log.store.drafts.list(session)).filter(
    (draft) => !isOwnerAlive(draft.owner, draft.at, now),
  );
  let adopted = 0;
  for (const orphan of orphans) if (await adopt(log, orphan)) adopted++;
  return adopted;
}

async function adopt(log: Log, draft: DraftRecord): Promise<boolean> {
  const body = bodyOf(draft.payload);
  const blobs = blobsOf(body);
  try {
    await log.append(draft.session, [{ body, ...(blobs.length > 0 && { blobs }) }], {
      finishes: draft.id,
      at: draft.at,
    });
    return true;
  } catch (error) {
    if (isLonghaulError(error, "DRAFT_FINISHED")) return false;
    throw error;
  }
}

function bodyOf(payload: Uint8Array): MessageBody {
  return decodeBody("message", payload) as MessageBody;
}

function blobsOf({ message }: MessageBody): string[] {
  return [...new Set(flatParts(message).flatMap((part) => (part.type === "blob" ? [part.digest] : [])))];
}
