import type { EntryId, Json, SessionId } from "../../index.ts";
import type { WireName } from "../../wire/wire.ts";

/** The facts by which the family of a thread is found. */
export interface ThreadKey {
  readonly api: WireName;
  readonly client?: string | undefined;
  readonly explicit?: string | undefined;
  readonly firstKey: string;
}

/** The key of a caller's conversation with a given first message. */
export function buildThreadKey(
  { api, client, explicit }: Omit<ThreadKey, "firstKey">,
  firstKey: string,
): ThreadKey {
  return {
    api,
    firstKey,
    ...(client !== undefined && { client }),
    ...(explicit !== undefined && { explicit }),
  };
}

/**
 * The position of a reply that a provider knows by id, for requests that refer to it instead of repeating earlier
 * messages.
 */
export interface ResponsePlace {
  readonly session: SessionId;
  readonly threadKey: ThreadKey;
  /** The entry that such a request follows. */
  readonly entry: EntryId;
  /** True if the log contains everything up to that entry. */
  readonly isWhole: boolean;
  /** Id of the response that the instructions of the first request are stored with. */
  readonly lead?: string;
}

/** A place as stored; the session is stored separately. */
export function encodeResponsePlace({ threadKey, entry, isWhole, lead }: ResponsePlace): Json {
  return { entry, isWhole, home: { ...threadKey } as Json, ...(lead !== undefined && { lead }) };
}

/** Parses a stored place; undefined if it is invalid. */
export function parseResponsePlace(session: SessionId, stored: Json | undefined): ResponsePlace | undefined {
  const { entry, isWhole, home, lead } = toJsonObject(stored);
  const { api, client, explicit, firstKey } = toJsonObject(home);
  if (typeof entry !== "string" || typeof api !== "string" || typeof firstKey !== "string") return undefined;
  return {
    session,
    entry,
    isWhole: isWhole === true,
    threadKey: {
      api: api as WireName,
      firstKey,
      ...(typeof client === "string" && { client }),
      ...(typeof explicit === "string" && { explicit }),
    },
    ...(typeof lead === "string" && { lead }),
  };
}

function toJsonObject(value: Json | undefined): { readonly [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json })
    : {};
}
