import type { ServerResponse } from "node:http";

class ClientGoneError extends Error {}

/** True for the reason of a signal that aborted because the client disconnected. */
export function isClientGone(reason: unknown): boolean {
  return reason instanceof ClientGoneError;
}

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
    if (!response.writableFinished) controller.abort(new ClientGoneError("The client has gone."));
  };
  if (socket.destroyed) onClose();
  socket.once("close", onClose);
  response.once("finish", () => socket.off("close", onClose));
  return controller.signal;
}
