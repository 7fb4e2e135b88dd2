import type { EntryId, Json, SessionId } from "../../index.ts";
import type { ApiName } from "../api/api.ts";

/** By what the conversations are found that a thread is held with. */
export interface Home {
  readonly api: ApiName;
  readonly client?: string | undefined;
  readonly explicit?: string | undefined;
  readonly firstKey: string;
}

/** The home of a caller's conversation that begins with a message. */
export function homeOf({ api, client, explicit }: Omit<Home, "firstKey">, firstKey: string): Home {
  return {
    api,
    firstKey,
    ...(client !== undefined && { client }),
    ...(explicit !== undefined && { explicit }),
  };
}

/** Where a reply is that a provider knows by an id, for requests that name it instead of saying what came before. */
export interface ResponsePlace {
  readonly session: SessionId;
  readonly home: Home;
  /** What a request goes on behind. */
  readonly entry: EntryId;
  /** True if the log holds all that was said up to there. */
  readonly isWhole: boolean;
  /** The response that the instructions among the items of the first request are kept with. */
  readonly lead?: string;
}

/** A place as the store keeps it; the session is known besides. */
export function placeJson({ home, entry, isWhole, lead }: ResponsePlace): Json {
  return { entry, isWhole, home: { ...home } as Json, ...(lead !== undefined && { lead }) };
}

/** A place as the store kept it; undefined for anything else. */
export function placeOf(session: SessionId, kept: Json | undefined): ResponsePlace | undefined {
  const { entry, isWhole, home, lead } = objectOf(kept);
  const { api, client, explicit, firstKey } = objectOf(home);
  if (typeof entry !== "string" || typeof api !== "string" || typeof firstKey !== "string") return undefined;
  return {
    session,
    entry,
    isWhole: isWhole === true,
    home: {
      api: api as ApiName,
      firstKey,
      ...(typeof client === "string" && { client }),
      ...(typeof explicit === "string" && { explicit }),
    },
    ...(typeof lead === "string" && { lead }),
  };
}

function objectOf(value: Json | undefined): { readonly [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json })
    : {};
}
