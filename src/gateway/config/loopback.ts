/** True if only this computer can reach the host. */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[|\]$/g, "");
  return plain === "localhost" || plain === "::1" || /^127(?:\.\d{1,3}){3}$/.test(plain);
}
