import type { Json, SessionRecord } from "../../../index.ts";
import { OWN_FIELD } from "../../claude-code/own-fields.ts";
import { objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { derivedUuid } from "./derived-ids.ts";

/** What every line of a conversation says. */
export interface Identity {
  readonly sessionId: string;
  /** Set for a sub-agent. */
  readonly agentId?: string;
  /** Fields that all lines repeat. */
  readonly repeated: { readonly [field: string]: Json };
  /** The conversation came from Claude Code itself. */
  readonly isOwn: boolean;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** What lines say of a session that came from elsewhere: as the version whose format is written. */
const DEFAULTS = { userType: "external", entrypoint: "cli", version: "2.1.80", gitBranch: "" };

/** The id of a session's file. */
export function sessionIdOf(record: SessionRecord): string {
  // A sub-agent that is written by itself must not take the place of the session that started it.
  if (record.relation === "child") return derivedUuid(record.id);
  const id = textOf(sourceOf(record)?.id) ?? record.id;
  return UUID.exec(id)?.[0].toLowerCase() ?? derivedUuid(record.id);
}

/** The id of a sub-agent: its own, or one that its session's id always gives. */
export function agentIdOf(record: SessionRecord): string {
  const own = /\/agent-([\w.-]+)$/.exec(record.id)?.[1];
  return own ?? derivedUuid(record.id).replaceAll("-", "").slice(0, 8);
}

/** What the lines of a session say. */
export function identityOf(record: SessionRecord, sessionId: string): Identity {
  const facts = objectOf(record.meta?.["claude-code"]) as Identity["repeated"] | undefined;
  const { agent: _, sessionId: named, agentId: __, ...repeated } = facts ?? {};
  return {
    sessionId: textOf(named) ?? sessionId,
    repeated: facts ? repeated : { ...DEFAULTS, cwd: cwdOf(record) },
    isOwn: sourceOf(record)?.format === "claude-code",
  };
}

/** What the lines of a sub-agent say: where nothing is known of them, as in the session that started it. */
export function agentIdentityOf(record: SessionRecord, starter: Identity): Identity {
  const isKnown = objectOf(record.meta?.["claude-code"]) !== undefined;
  const own = identityOf(record, starter.sessionId);
  return { ...own, ...(!isKnown && { repeated: starter.repeated }), agentId: agentIdOf(record) };
}

/** What is known of a sub-agent besides its conversation; undefined if nothing. */
export function agentFactsOf({ meta }: SessionRecord): JsonObject | undefined {
  const facts = objectOf(objectOf(meta?.["claude-code"])?.agent);
  const callId = textOf(meta?.callId);
  const own = callId === undefined ? {} : { [OWN_FIELD]: { callId } };
  return facts || callId !== undefined ? { ...facts, ...own } : undefined;
}

function sourceOf(record: SessionRecord) {
  return objectOf(record.meta?.source);
}

/** The working folder, wherever the tool that it came from keeps it. */
function cwdOf({ meta }: SessionRecord): string {
  const places = [meta, ...Object.values(meta ?? {})];
  return places.map((place) => textOf(objectOf(place)?.cwd)).find((cwd) => cwd !== undefined) ?? "/";
}
