import type { Json, SessionRecord } from "../../../kernel/index.ts";
import { toObject, toText } from "../../../wire/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";
import { deriveUuid } from "../../writing/derive-uuid.ts";
import { OWN_FIELD } from "../own-fields.ts";

/** Fields that every line of a conversation repeats. */
export interface TranscriptIdentity {
  readonly sessionId: string;
  /** Set for a sub-agent. */
  readonly agentId?: string;
  /** Further fields that all lines repeat. */
  readonly repeated: { readonly [field: string]: Json };
  /** True if the conversation was imported from Claude Code. */
  readonly isOwn: boolean;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Fields for sessions of other formats: those of the Claude Code version whose format is written. */
const DEFAULTS = { userType: "external", entrypoint: "cli", version: "2.1.80", gitBranch: "" };

/** Returns the id for a session's file. */
export function getTranscriptId(record: SessionRecord): string {
  // A sub-agent that is exported alone must not replace its parent session.
  if (record.relation === "child") return deriveUuid(record.id);
  const id = toText(getSource(record)?.id) ?? record.id;
  return UUID.exec(id)?.[0].toLowerCase() ?? deriveUuid(record.id);
}

/** Returns the id of a sub-agent: its own, or one derived from its session id. */
export function getAgentId(record: SessionRecord): string {
  const own = /\/agent-([\w.-]+)$/.exec(record.id)?.[1];
  return own ?? deriveUuid(record.id).replaceAll("-", "").slice(0, 8);
}

/** Builds the identity of a session. */
export function buildTranscriptIdentity(record: SessionRecord, sessionId: string): TranscriptIdentity {
  const facts = toObject(record.meta?.["claude-code"]) as TranscriptIdentity["repeated"] | undefined;
  const { agent: _, sessionId: named, agentId: __, ...repeated } = facts ?? {};
  return {
    sessionId: toText(named) ?? sessionId,
    repeated: facts ? repeated : { ...DEFAULTS, cwd: findCwd(record) },
    isOwn: getSource(record)?.format === "claude-code",
  };
}

/** Builds the identity of a sub-agent; unknown fields are those of its parent. */
export function buildAgentIdentity(record: SessionRecord, starter: TranscriptIdentity): TranscriptIdentity {
  const isKnown = toObject(record.meta?.["claude-code"]) !== undefined;
  const own = buildTranscriptIdentity(record, starter.sessionId);
  return { ...own, ...(!isKnown && { repeated: starter.repeated }), agentId: getAgentId(record) };
}

/** Returns the facts about a sub-agent outside its conversation; undefined if there are none. */
export function getAgentFacts({ meta }: SessionRecord): JsonObject | undefined {
  const facts = toObject(toObject(meta?.["claude-code"])?.agent);
  const callId = toText(meta?.callId);
  const own = callId === undefined ? {} : { [OWN_FIELD]: { callId } };
  return facts || callId !== undefined ? { ...facts, ...own } : undefined;
}

function getSource(record: SessionRecord) {
  return toObject(record.meta?.source);
}

/** Finds the working folder in the meta of any tool. */
function findCwd({ meta }: SessionRecord): string {
  const places = [meta, ...Object.values(meta ?? {})];
  return places.map((place) => toText(toObject(place)?.cwd)).find((cwd) => cwd !== undefined) ?? "/";
}
