import type { TappedRequest } from "./tap.ts";
import type { SeenRequest } from "./upstream/scripted-upstream.ts";

/** Hop-by-hop headers. */
const OF_THE_HOP = new Set([
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
]);

/**
 * Differences between requests as sent by the agent and as received by the upstream; empty if they match byte for byte.
 */
export function differences(sent: readonly TappedRequest[], seen: readonly SeenRequest[]): readonly string[] {
  const rest = [...seen];
  const found: string[] = [];
  for (const [index, request] of sent.entries()) {
    // Upgrade requests are answered by the first server that does not support the protocol.
    if (isUpgrade(request.rawHeaders)) continue;
    const name = `request ${index + 1} (${request.method} ${request.url})`;
    // Concurrent requests may overtake each other.
    const at = rest.findIndex(
      ({ method, url, body }) =>
        method === request.method && url === request.url && body.equals(request.body),
    );
    const [same] = at === -1 ? [] : rest.splice(at, 1);
    if (!same) found.push(`${name} did not arrive as it was sent`);
    else
      found.push(
        ...headerDifferences(request.rawHeaders, same.rawHeaders).map((words) => `${name}: ${words}`),
      );
  }
  return [...found, ...rest.map(({ method, url }) => `${method} ${url} arrived, and nobody had sent it so`)];
}

/** Number of requests that arrived with a changed body. */
export function countEdited(sent: readonly TappedRequest[], seen: readonly SeenRequest[]): number {
  return seen.filter(({ body }) => !sent.some((request) => request.body.equals(body))).length;
}

function headerDifferences(sent: readonly string[], seen: readonly string[]): readonly string[] {
  const [before, after] = [lines(sent), lines(seen)];
  const lost = before.filter((line) => !after.includes(line)).map((line) => `lost header ${line}`);
  const added = after.filter((line) => !before.includes(line)).map((line) => `new header ${line}`);
  if (lost.length + added.length > 0) return [...lost, ...added];
  return before.join("\n") === after.join("\n") ? [] : ["headers in another order"];
}

function lines(rawHeaders: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (!OF_THE_HOP.has((rawHeaders[at] as string).toLowerCase()))
      found.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return found;
}

function isUpgrade(rawHeaders: readonly string[]): boolean {
  return rawHeaders.some((name, index) => index % 2 === 0 && name.toLowerCase() === "upgrade");
}
