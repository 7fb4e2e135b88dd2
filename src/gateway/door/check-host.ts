import type { DoorConfig } from "./door-config.ts";
import { type DoorRefusal, quoteSafely, refuseForbidden, refuseRequest } from "./door-refusal.ts";
import type { RequestHead } from "./request-head.ts";

interface HostAndPort {
  readonly host: string;
  readonly port: string | undefined;
}

/** A Host header that was admitted, and everything that the decision depends on. */
interface AdmittedHost {
  readonly sent: string;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly host: string;
  readonly allowedHosts: readonly string[];
}

/** The last one: hardly any gateway has clients with different ones. */
let admitted: AdmittedHost | undefined;

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const WILDCARDS = ["0.0.0.0", "[::]"];
const DEFAULT_PORT = "80";

/**
 * Admits only requests whose Host names this gateway. A page whose name was rebound to our address sends its own name,
 * so a name must be configured; an address literal must be the address that the client connected to.
 */
export function checkHost(request: RequestHead, config: DoorConfig): DoorRefusal | undefined {
  const sent = request.headers.get("host") ?? [];
  if (sent.length !== 1 || !sent[0])
    return refuseRequest("A request needs exactly one Host header that is not empty.");
  if (isAdmitted(sent[0], request, config)) return undefined;
  const named = parseHost(sent[0]);
  if (!named) return refuseRequest("The Host header is no host name with an optional port.");
  if (isOurs(named, request, config)) {
    const { host, allowedHosts } = config;
    const { localAddress, localPort } = request;
    admitted = { sent: sent[0], localAddress, localPort, host, allowedHosts };
    return undefined;
  }
  return refuseForbidden(
    `The gateway does not answer to the host ${quoteSafely(sent[0])}; use the address it listens on, or add the name to allowedHosts.`,
  );
}

function isAdmitted(sent: string, request: RequestHead, config: DoorConfig): boolean {
  return (
    admitted !== undefined &&
    admitted.sent === sent &&
    admitted.localPort === request.localPort &&
    admitted.localAddress === request.localAddress &&
    admitted.host === config.host &&
    admitted.allowedHosts === config.allowedHosts
  );
}

function isOurs(named: HostAndPort, request: RequestHead, config: DoorConfig): boolean {
  const allowed = config.allowedHosts.map(parseHost).filter((host) => host !== undefined);
  if (allowed.some(({ host, port }) => host === named.host && (port ?? named.port) === named.port))
    return true;
  if ((named.port ?? DEFAULT_PORT) !== String(request.localPort)) return false;
  const ours = [...LOOPBACK, toHostLiteral(config.host), toHostLiteral(request.localAddress ?? "")];
  return ours.includes(named.host) && !WILDCARDS.includes(named.host);
}

/** Parses "name", "name:port" or "[address]:port"; undefined for anything else. */
function parseHost(text: string): HostAndPort | undefined {
  const match = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/.exec(text.toLowerCase());
  if (!match?.[1]) return undefined;
  const host = match[1].endsWith(".") ? match[1].slice(0, -1) : match[1];
  return { host, port: match[2] };
}

/** An address as written in a Host header: IPv6 in brackets, IPv4-mapped IPv6 as IPv4. */
function toHostLiteral(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
  return plain.includes(":") && !plain.startsWith("[") ? `[${plain}]` : plain;
}
