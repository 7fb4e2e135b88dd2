import type { ServerResponse } from "node:http";

/**
 * Aborts when the client disconnects before its response was sent. `AbortSignal.any` would be several times as
 * expensive.
 */
export function createClientSignal(
  response: ServerResponse,
  controller = new AbortController(),
): AbortSignal {
  const { socket } = response.req;
  const onClose = () => {
    if (!response.writableFinished) controller.abort(new Error("The client has gone."));
  };
  if (socket.destroyed) onClose();
  socket.once("close", onClose);
  response.once("finish", () => socket.off("close", onClose));
  return controller.signal;
}
