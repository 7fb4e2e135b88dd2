import type { Conversation } from "../../conversation/conversation.ts";
import type { EntryId, FittedWindow } from "../../index.ts";
import type { RequestMessage } from "../request/request-messages.ts";

/** A window, and whether it belongs to the line of another call. */
interface LineFit {
  readonly fitted: FittedWindow | undefined;
  readonly isMoved: boolean | undefined;
}

/** Maximum number of windows to fit while other processes change the line. */
const MAX_TRIES = 20;

/**
 * Fits the window of the line that ends with `last`. Repeats the fit while other calls move the line: those of this
 * process before it, those of other gateways on the same store at any time.
 */
export async function fitOwnLine(
  conversation: Conversation<RequestMessage>,
  last: EntryId | undefined,
  fitLine: () => Promise<LineFit>,
): Promise<FittedWindow | undefined> {
  for (let tries = 1; ; tries++) {
    await conversation.endLineAt(last);
    const { fitted, isMoved } = await fitLine();
    if (!isMoved || tries === MAX_TRIES) return fitted;
  }
}
