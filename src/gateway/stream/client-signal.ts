import type { ServerResponse } from "node:http";

/** Fires when the client has gone before its response was sent. Signals joined of others would cost several times as much. */
export function clientSignal(response: ServerResponse, controller = new AbortController()): AbortSignal {
  const { socket } = response.req;
  const onClose = () => {
    if (!response.writableFinished) controller.abort(new Error("The client has gone."));
  };
  if (socket.destroyed) onClose();
  socket.once("close", onClose);
  response.once("finish", () => socket.off("close", onClose));
  return controller.signal;
}
