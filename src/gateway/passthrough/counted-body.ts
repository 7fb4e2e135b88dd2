import { getWire } from "../../wire/wires.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { buildPlainPieces } from "../outgoing/plain-pieces.ts";
import { repeatSentPieces } from "../outgoing/sent-pieces.ts";
import { CONTEXT_MANAGEMENT } from "../request/context-edit.ts";
import { getContextManager } from "../request/context-manager.ts";
import { BodyError, type CutBody, cutBody } from "../request/cut-body.ts";
import { findCompactions } from "../request/find-compactions.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import { type KnownMessage, type RequestMessages, readMessages } from "../request/request-messages.ts";
import type { Target } from "../upstream/target.ts";

/** A body to be counted. */
interface CountedBody {
  readonly sent: readonly Uint8Array[];
  /** True if the client asks for edits that the gateway carries out. */
  readonly isManaged: boolean;
}

/**
 * A body as it would be sent for a reply, as far as known: if edits apply, with those of the conversation that it
 * extends.
 */
export function buildCountedBody(
  { route, body, principal }: Incoming,
  { bodies, stored }: Pick<Services, "bodies" | "stored">,
  { upstream, model, clientModel }: Target,
  isEdited: boolean,
): CountedBody {
  const api = getWire(route.api);
  const { name, messagesField } = api;
  try {
    const who = `${principal.id} ${name}`;
    let earlier: RequestMessages<KnownMessage> | undefined;
    const cut = cutBody(body, messagesField, (bytes, from) => {
      earlier = bodies.find(who, bytes, from);
      return earlier?.cut;
    });
    const isOurs = isEdited && getContextManager(upstream) === "gateway";
    const isManaged = isOurs && cut.fields.has(CONTEXT_MANAGEMENT);
    const edited =
      isEdited && earlier
        ? repeatSentPieces(readMessages({ api, stored }, cut, earlier), earlier)
        : undefined;
    const sent = buildOutgoingBody(
      { cut },
      {
        pieces: edited ?? (isOurs ? stripCompactions(cut) : undefined),
        removed: isManaged ? [CONTEXT_MANAGEMENT] : [],
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
function stripCompactions(cut: CutBody): readonly OutgoingPiece[] | undefined {
  const found = findCompactions(cut);
  return found && buildPlainPieces(cut, found);
}
