import type { Exchange } from "../exchange/exchange-state.ts";
import { sendRequest } from "../upstream/send-request.ts";
import type { UpstreamResponse } from "../upstream/send-upstream.ts";

/** A request whose body is known. */
type BodySend = Pick<Exchange, "incoming" | "services" | "trace" | "request" | "target" | "span"> & {
  /** True if the gateway may change the window of the call. */
  readonly isEditable: boolean;
};

/** Sends a body; one that was not changed leaves as it was received, compressed if the upstream accepts that. */
export async function sendBody(
  { incoming, services, trace, request, target, span, isEditable }: BodySend,
  body: readonly Uint8Array[],
): Promise<UpstreamResponse> {
  const { upstream } = target;
  const { packedBodies } = services;
  const isSame = body[0] === request.messages.cut.bytes;
  const isPacked = isSame && incoming.raw !== incoming.body;
  const send = (pieces: readonly Uint8Array[], isBodyChanged: boolean) =>
    sendRequest(incoming, services, {
      upstream,
      body: pieces,
      isBodyChanged,
      isResponseRead: isBodyChanged || isEditable,
      span,
    });
  trace.bytesIn = incoming.body.length;
  if (!isPacked) return send(body, !isSame);
  // With edits off, the request is the client's own affair.
  if (!isEditable) return send([incoming.raw], false);
  if (!packedBodies.mayAccept(upstream.name)) return send(body, true);
  const response = await send([incoming.raw], false);
  if (!packedBodies.mustUnpack(upstream.name, response.status)) return response;
  response.body.destroy();
  const unpacked = await send(body, true);
  packedBodies.recordUnpacked(upstream.name, unpacked.status);
  return unpacked;
}
