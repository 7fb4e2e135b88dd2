import type { Json, PartInput, Usage } from "../../kernel/index.ts";
import { computeFingerprint } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { type Leftovers, splitLeftovers } from "../content/leftovers.ts";
import type { FormatName } from "../port/format.ts";
import type { RecordBody, RecordItem } from "../reading/item.ts";

/** Place and time of a record. */
export interface ForeignPlace {
  readonly id: string;
  readonly at?: number | undefined;
  readonly child?: string | undefined;
  readonly parent?: string | null | undefined;
  /** True if the agent may rewrite the record. */
  readonly isMutable?: boolean;
}

/** A message of an agent. */
interface AgentMessage extends ForeignPlace {
  readonly role: "user" | "assistant" | "system" | "tool";
  readonly parts: readonly PartInput[];
  readonly model?: string | undefined;
  /** Fields without a counterpart; large ones become a raw record. */
  readonly rest?: Leftovers | undefined;
  readonly usage?: Usage | undefined;
}

/** Builds the records of a message: itself, its usage and its large fields. Without parts, it is a raw record. */
export function buildMessageRecords(format: FormatName, message: AgentMessage): readonly RecordItem[] {
  const { role, parts, model, rest, usage, ...place } = message;
  if (parts.length === 0) return rest ? [buildKeptRecord(place, rest as Json)] : [];
  const { small, large } = splitLeftovers(rest);
  const own = { role, parts, ...dropUndefined({ model }), ...(small && { meta: { [format]: small } }) };
  const { parent: _, ...beside } = place;
  return [
    buildRecord(place, { kind: "message", message: own }),
    ...(usage
      ? [
          buildRecord(
            { ...beside, id: `${place.id}:usage` },
            { kind: "usage", usage, ...dropUndefined({ model }) },
          ),
        ]
      : []),
    ...(large ? [buildKeptRecord({ ...beside, id: `${place.id}:extra` }, large)] : []),
  ];
}

/** Builds a record that longhaul keeps without a meaning. */
export function buildKeptRecord(place: ForeignPlace, value: Json): RecordItem {
  return buildRecord(place, { kind: "raw", value });
}

/** Builds a record; one that may be rewritten is versioned by its content. */
export function buildRecord({ id, isMutable, ...place }: ForeignPlace, body: RecordBody): RecordItem {
  const version = isMutable ? computeFingerprint(JSON.stringify(body)) : undefined;
  return { type: "record", id, ...dropUndefined({ version, ...place }), body };
}

/** Builds usage from counts; undefined if all are missing. */
export function buildUsage(
  counts: { readonly [K in keyof Usage]?: Usage[K] | undefined },
): Usage | undefined {
  const known = dropUndefined(counts) as Usage;
  return Object.values(known).some((count) => typeof count === "number" && count > 0) ? known : undefined;
}

/** Seconds or milliseconds since 1970, whichever an agent wrote, as milliseconds. */
export function toMilliseconds(value: unknown): number | undefined {
  const time = typeof value === "bigint" ? Number(value) : value;
  if (typeof time !== "number" || !Number.isFinite(time) || time <= 0) return undefined;
  return Math.trunc(time < 1e11 ? time * 1_000 : time);
}
