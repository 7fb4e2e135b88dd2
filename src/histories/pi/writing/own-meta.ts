import type { Extras } from "../../../wire/block-content.ts";
import { toObject, toText } from "../../../wire/fields.ts";
import type { JsonObject } from "../../reading/json-lines.ts";

/** Meta that the reader of pi stored. */
export interface OwnMeta {
  readonly id: string | undefined;
  /** Undefined: the previous entry; null: none. */
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
export const PI_FORMATS = ["pi", "openclaw"];

/** Returns the meta of an entry imported from pi or OpenClaw; undefined for other origins. */
export function parseOwnMeta(meta: JsonObject | undefined): OwnMeta | undefined {
  const own = PI_FORMATS.map((format) => toObject(meta?.[format])).find((found) => found !== undefined);
  if (!own) return undefined;
  const { parentId } = own;
  return {
    id: toText(own.id),
    parentId: parentId === null || typeof parentId === "string" ? parentId : undefined,
    timestamp: own.timestamp,
    type: toText(own.type),
    role: toText(own.role),
    isPlain: own.plain === true,
    extras: toObject(own.extras) as Extras | undefined,
    entry: toObject(own.entry),
    message: toObject(own.message),
    rest: toObject(own.rest),
  };
}
