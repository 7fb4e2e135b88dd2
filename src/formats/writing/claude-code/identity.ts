import type { Json, SessionRecord } from "../../../index.ts";
import { objectOf, textOf } from "../../content/fields.ts";
import { derivedUuid } from "./derived-ids.ts";

/** What every line of a conversation says. */
export interface Identity {
  readonly sessionId: string;
  /** Set for a sub-agent. */
  readonly agentId?: string;
  /** Fields that all lines repeat. */
  readonly repeated: { readonly [field: string]: Json };
  /** Fields that all usage reports repeat. */
  readonly repeatedUsage: { readonly [field: string]: Json };
  /** The conversation came from Claude Code itself. */
  readonly isOwn: boolean;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** What lines say of a session that came from elsewhere: as the version whose format is written. */
const DEFAULTS = { userType: "external", entrypoint: "cli", version: "2.1.80", gitBranch: "" };

/** The id of a session's file. */
export function sessionIdOf(record: SessionRecord): string {
  const id = textOf(sourceOf(record)?.id) ?? record.id;
  return UUID.exec(id)?.[0].toLowerCase() ?? derivedUuid(record.id);
}

/** The id of a sub-agent: its own, or one that its session's id always gives. */
export function agentIdOf(record: SessionRecord): string {
  const own = /\/agent-([^/]+)$/.exec(record.id)?.[1];
  return own ?? derivedUuid(record.id).replaceAll("-", "").slice(0, 8);
}

/** What the lines of a session say, or of a sub-agent of it. */
export function identityOf(record: SessionRecord, sessionId: string, agentId?: string): Identity {
  const facts = objectOf(record.meta?.["claude-code"]) as Identity["repeated"] | undefined;
  const { usage, agent: _, sessionId: named, agentId: __, ...repeated } = facts ?? {};
  return {
    sessionId: textOf(named) ?? sessionId,
    ...(agentId !== undefined && { agentId }),
    repeated: facts ? repeated : { ...DEFAULTS, cwd: cwdOf(record) },
    repeatedUsage: (objectOf(usage) as Identity["repeatedUsage"] | undefined) ?? {},
    isOwn: sourceOf(record)?.format === "claude-code",
  };
}

/** What is known of a sub-agent besides its conversation. */
export function agentFactsOf(record: SessionRecord): Json | undefined {
  return objectOf(record.meta?.["claude-code"])?.agent as Json | undefined;
}

function sourceOf(record: SessionRecord) {
  return objectOf(record.meta?.source);
}

/** The working folder, wherever the tool that it came from keeps it. */
function cwdOf({ meta }: SessionRecord): string {
  const places = [meta, ...Object.values(meta ?? {})];
  return places.map((place) => textOf(objectOf(place)?.cwd)).find((cwd) => cwd !== undefined) ?? "/";
}
