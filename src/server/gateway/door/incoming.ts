import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestSpending } from "../limits/request-spending.ts";
import type { Trace } from "../observe/trace.ts";
import type { Principal } from "./principal.ts";
import type { Route } from "./route.ts";

/** An admitted request with its body. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: Principal;
  readonly route: Extract<Route, { readonly api: unknown }>;
  readonly query: string;
  /** Decompressed. */
  readonly body: Buffer;
  /** The bytes as received. */
  readonly raw: Buffer;
  /** Aborts when the client disconnects or the gateway closes. */
  readonly signal: AbortSignal;
  readonly trace: Trace;
  /** The budgets that count the request. */
  readonly spending: RequestSpending | undefined;
  /** Called when the request is about to be sent, so that the next one can be prepared. */
  readonly onPrepared: () => void;
  /** Counts the bytes of the messages that the log does not have yet as stored by the person, if anybody counts them. */
  readonly onStored: ((storedBytes: number) => void) | undefined;
}

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
