/** True if only this computer can reach the host. */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[|\]$/g, "");
  return plain === "localhost" || plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}

/** The address by which this computer reaches a server that may listen on all of its addresses. */
export function toOpenableUrl(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${toOpenableHost(hostname.replace(/^\[|\]$/g, ""))}${port && `:${port}`}`;
}

/** An address that stands for all addresses of the computer is reached at its loopback address. */
export function toOpenableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
