import type { Extras } from "../../content/blocks.ts";
import { objectOf, textOf } from "../../content/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";

/** What the reader of pi put into meta. */
export interface OwnMeta {
  readonly id: string | undefined;
  /** Undefined: the entry before; null: none. */
  readonly parentId: string | null | undefined;
  readonly timestamp: unknown;
  readonly type: string | undefined;
  readonly role: string | undefined;
  readonly isPlain: boolean;
  readonly extras: Extras | undefined;
  readonly entry: JsonObject | undefined;
  readonly message: JsonObject | undefined;
  readonly rest: JsonObject | undefined;
}

/** Formats that pi's decoder reads. */
export const OWN_FORMATS = ["pi", "openclaw"];

/** The meta of something that came from pi or OpenClaw; undefined for what came from elsewhere. */
export function ownMetaOf(meta: JsonObject | undefined): OwnMeta | undefined {
  const own = OWN_FORMATS.map((format) => objectOf(meta?.[format])).find((found) => found !== undefined);
  if (!own) return undefined;
  const { parentId } = own;
  return {
    id: textOf(own.id),
    parentId: parentId === null || typeof parentId === "string" ? parentId : undefined,
    timestamp: own.timestamp,
    type: textOf(own.type),
    role: textOf(own.role),
    isPlain: own.plain === true,
    extras: objectOf(own.extras) as Extras | undefined,
    entry: objectOf(own.entry),
    message: objectOf(own.message),
    rest: objectOf(own.rest),
  };
}
