import type { ServerResponse } from "node:http";

/** A signal that fires when the client has gone before its response was sent. */
export function clientSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const { socket } = response.req;
  const onClose = () => {
    if (!response.writableFinished) controller.abort(new Error("The client has gone."));
  };
  if (socket.destroyed) onClose();
  socket.once("close", onClose);
  response.once("finish", () => socket.off("close", onClose));
  return controller.signal;
}
