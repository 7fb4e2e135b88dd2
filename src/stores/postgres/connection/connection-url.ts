import { hidePassword } from "../../../model/base/postgres-url.ts";
import { createArgumentError } from "../../../model/errors.ts";

/** A server of a connection. */
interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Which servers a connection accepts; "read-write" skips standbys, so that it follows a failover. */
type SessionTarget = "read-write" | "any";

/** The parts of a PostgreSQL URL. */
export interface ConnectionUrl {
  readonly servers: readonly ServerAddress[];
  /** The URL of one server, without our own parameters. */
  urlOf(server: ServerAddress): string;
  readonly schema: string;
  readonly target: SessionTarget;
  readonly maxConnections: number | undefined;
  /** Owners of the only sessions that can be read. */
  readonly reader: readonly string[] | undefined;
  /** The URL of a storage for blobs. */
  readonly blobs: string | undefined;
  /** The URL without its password, for messages. */
  readonly shown: string;
}

const DEFAULT_PORT = 5432;
const EXPECTED =
  "a URL such as postgres://user:password@host/database, with several hosts separated by commas";
/** `recall` chose between two searches in earlier versions. */
const OWN_PARAMETERS = ["schema", "target_session_attrs", "max_connections", "recall", "blobs", "reader"];

/**
 * Reads `postgres://user:password@host1:5432,host2/database?schema=longhaul&target_session_attrs=read-write`. Other
 * parameters, such as `sslmode`, are those of the package pg.
 */
export function parseConnectionUrl(text: string): ConnectionUrl {
  const parts = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/i.exec(text);
  if (!parts) throw createArgumentError("store", hidePassword(text), EXPECTED);
  const [, login, hosts = "", database = "", query = ""] = parts;
  const parameters = new URLSearchParams(query);
  const schema = parameters.get("schema") ?? "longhaul";
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema))
    throw createArgumentError("schema", schema, "a name of small letters, digits and underscores");
  const target = parameters.get("target_session_attrs") ?? "read-write";
  if (target !== "any" && target !== "read-write" && target !== "primary")
    throw createArgumentError("target_session_attrs", target, '"read-write", "primary" or "any"');
  const servers = (hosts || parameters.get("host") || "localhost").split(",").map(parseServer);
  const maxConnections = parseCount(parameters.get("max_connections"));
  const reader = parameters.get("reader")?.split(",");
  const blobs = parameters.get("blobs") ?? undefined;
  for (const name of [...OWN_PARAMETERS, "host"]) parameters.delete(name);
  const rest = parameters.size > 0 ? `?${parameters}` : "";
  return {
    servers,
    urlOf: ({ host, port }) => {
      const place = host.includes(":") ? `[${host}]` : encodeURIComponent(host);
      return `postgres://${login === undefined ? "" : `${login}@`}${place}:${port}${database}${rest}`;
    },
    schema,
    target: target === "any" ? "any" : "read-write",
    maxConnections,
    reader,
    blobs,
    shown: hidePassword(text),
  };
}

function parseServer(text: string): ServerAddress {
  const parts = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(text);
  const host = decodeURIComponent(parts?.[1] ?? parts?.[2] ?? "");
  const port = Number(parts?.[3] ?? DEFAULT_PORT);
  if (!parts || host === "" || port < 1 || port > 65_535)
    throw createArgumentError("host", text, "a host with or without a port, such as db.example:5432");
  return { host, port };
}

function parseCount(text: string | null): number | undefined {
  if (text === null) return undefined;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 2 && count <= 1_000) return count;
  throw createArgumentError("max_connections", text, "a whole number from 2 to 1000");
}
