import { apiOf } from "../api/apis.ts";
import { BodyError, type CutBody, cutBody } from "../body/cut.ts";
import { type KnownMessage, type WireMessages, wireMessages } from "../body/wire-message.ts";
import { findCompactions } from "../compaction/find-compactions.ts";
import { plainPieces } from "../compaction/plain-pieces.ts";
import { CONTEXT_MANAGEMENT } from "../edits/context-edit.ts";
import { managedBy } from "../edits/managed-by.ts";
import type { Piece } from "../thread/outgoing.ts";
import { piecesAsSent } from "../thread/sent-pieces.ts";
import type { Destination } from "./destination.ts";
import { outgoingBody } from "./outgoing-body.ts";
import type { Admitted, ExchangeParts } from "./parts.ts";

/** A body to be counted. */
export interface CountedBody {
  readonly sent: readonly Uint8Array[];
  /** True if the client asks for edits that the gateway carries out. */
  readonly isManaged: boolean;
}

/**
 * A body as it would be sent for a reply, as far as known: if edits apply, with those of the conversation that it
 * extends.
 */
export function countedBody(
  { route, body, principal }: Admitted,
  { bodies, stored }: Pick<ExchangeParts, "bodies" | "stored">,
  { upstream, model, clientModel }: Destination,
  isEdited: boolean,
): CountedBody {
  const api = apiOf(route.api);
  const { name, messagesField } = api;
  try {
    const who = `${principal.id} ${name}`;
    let earlier: WireMessages<KnownMessage> | undefined;
    const cut = cutBody(body, messagesField, (bytes, from) => {
      earlier = bodies.find(who, bytes, from);
      return earlier?.cut;
    });
    const isOurs = isEdited && managedBy(upstream) === "gateway";
    const isManaged = isOurs && cut.fields.has(CONTEXT_MANAGEMENT);
    const edited =
      isEdited && earlier ? piecesAsSent(wireMessages({ api, stored }, cut, earlier), earlier) : undefined;
    const sent = outgoingBody(
      { cut },
      {
        pieces: edited ?? (isOurs ? withoutCompactions(cut) : undefined),
        without: isManaged ? [CONTEXT_MANAGEMENT] : [],
        ...(model !== clientModel && { fields: new Map([["model", model]]) }),
      },
    );
    return { sent, isManaged };
  } catch (error) {
    // The upstream will report the problem.
    if (error instanceof BodyError) return { sent: [body], isManaged: false };
    throw error;
  }
}

/**
 * The elements of a body with compaction blocks, for an upstream that does not support them; undefined for any other.
 */
function withoutCompactions(cut: CutBody): readonly Piece[] | undefined {
  const found = findCompactions(cut);
  return found && plainPieces(cut, found);
}
