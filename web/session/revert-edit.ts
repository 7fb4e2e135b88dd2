import { toFailure } from "../api/api-failure.ts";
import { call } from "../api/client.ts";
import { showToast } from "../components/toasts.tsx";
import { formatShort } from "../format/number.ts";
import { sessionText as text } from "./session-text.ts";

/** Takes an edit of the window back, says so, and offers to redo it. */
export async function revertEdit(
  session: string,
  overlay: number,
  onDone: () => void,
  edit?: number,
): Promise<void> {
  try {
    const { by, isHeld, tokens } = await call("POST /sessions/{session}/revert", {
      params: { session },
      body: { overlay, ...(edit !== undefined && { edit }) },
    });
    onDone();
    showToast(
      text(isHeld ? "undoneHeld" : "undone", {
        before: formatShort(tokens.before),
        after: formatShort(tokens.after),
      }),
      by === null ? undefined : { label: text("redo"), run: () => void revertEdit(session, by, onDone) },
    );
  } catch (error) {
    const { message, remedy } = toFailure(error);
    showToast(`${message} ${remedy}`);
  }
}
