import { getWire } from "../../wire/wires.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { type BodyChanges, buildOutgoingBody } from "../outgoing/outgoing-body.ts";
import { buildPlainPieces } from "../outgoing/plain-pieces.ts";
import { isExtension, repeatSentPieces } from "../outgoing/sent-pieces.ts";
import { readBodyFacts } from "../request/body-facts.ts";
import { CONTEXT_MANAGEMENT } from "../request/context-edit.ts";
import { getContextManager } from "../request/context-manager.ts";
import { BodyError, type CutBody, cutBody } from "../request/cut-body.ts";
import { findCompactions } from "../request/find-compactions.ts";
import { LIFT_FROM_BYTES } from "../request/lift.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import { parseRequestFields } from "../request/request-fields.ts";
import {
  type KnownMessage,
  type MessageReading,
  type RequestMessages,
  readMessages,
} from "../request/request-messages.ts";
import type { Target } from "../upstream/target.ts";
import { addCountedAdditions } from "./counted-additions.ts";

/** A body to be counted. */
interface CountedBody {
  readonly sent: readonly Uint8Array[];
  /** True if the client asks for edits that the gateway carries out. */
  readonly isManaged: boolean;
  /** True if it extends a conversation whose requests are sent as they come. */
  readonly isControl?: boolean;
}

/**
 * A body as it would be sent for a reply, as far as known: if edits apply, with those of the conversation that it
 * extends, and with the gateway's additions.
 */
export function buildCountedBody(
  { route, body, principal }: Incoming,
  { bodies, stored, config }: Pick<Services, "bodies" | "stored" | "config">,
  { upstream, model, clientModel }: Target,
  { isEdited, memories }: { readonly isEdited: boolean; readonly memories: string | undefined },
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
    // A large body that extends no known one is counted as it is, because parsing it would take too long.
    const isRead = isEdited && (earlier !== undefined || body.length < LIFT_FROM_BYTES);
    const messages = isRead ? readCounted({ api, stored }, cut, earlier) : undefined;
    const edited = messages && earlier ? repeatSentPieces(messages, earlier) : undefined;
    const changes: BodyChanges = {
      pieces: edited ?? (isOurs ? stripCompactions(cut) : undefined),
      removed: isManaged ? [CONTEXT_MANAGEMENT] : [],
      ...(model !== clientModel && { fields: new Map([["model", model]]) }),
    };
    if (!messages) return { sent: buildOutgoingBody({ cut }, changes), isManaged };
    const known = earlier && isExtension(messages, earlier) ? earlier.cut.memo.additions : undefined;
    const request = {
      api,
      messages,
      fields: parseRequestFields(api, cut),
      facts: readBodyFacts(api, messages),
    };
    const whole = addCountedAdditions(changes, request, memories, config(), known);
    return { sent: buildOutgoingBody({ cut }, whole), isManaged, isControl: known?.isControl === true };
  } catch (error) {
    // The upstream will report the problem.
    if (error instanceof BodyError) return { sent: [body], isManaged: false };
    throw error;
  }
}

function readCounted(
  reading: MessageReading,
  cut: CutBody,
  earlier: RequestMessages<KnownMessage> | undefined,
): RequestMessages {
  return cut.listFrom === undefined ? { cut, lead: 0, list: [] } : readMessages(reading, cut, earlier);
}

/**
 * The elements of a body with compaction blocks, for an upstream that does not support them; undefined for any other.
 */
function stripCompactions(cut: CutBody): readonly OutgoingPiece[] | undefined {
  const found = findCompactions(cut);
  return found && buildPlainPieces(cut, found);
}
