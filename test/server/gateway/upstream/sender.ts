import { onTestFinished } from "vitest";
import {
  type AgentsOptions,
  buildUpstreamUrl,
  closeAgents,
  createAgents,
  sendUpstream,
  type UpstreamRequest,
} from "../../../../src/server/gateway/upstream/send-upstream.ts";
import type { UpstreamError } from "../../../../src/server/gateway/upstream/upstream-error.ts";

/** Limits that no test reaches by chance. */
export const limits = { connectMs: 5_000, firstByteMs: 5_000 };

/** Sends to one server over its own connections. */
export function sender(url: string, options: AgentsOptions = {}) {
  const agents = createAgents(options);
  onTestFinished(() => closeAgents(agents));
  return (request: Partial<UpstreamRequest> & { readonly text?: string } = {}) => {
    const body = request.body ?? (request.text === undefined ? [] : [Buffer.from(request.text)]);
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    return sendUpstream({
      agents,
      url: buildUpstreamUrl({ baseUrl: url }, "/v1/messages", "?beta=true"),
      method: "POST",
      rawHeaders: ["Host", "upstream", "Content-Length", String(length)],
      limits,
      ...request,
      body,
    });
  };
}

/** The reason of a failed send. */
export const reasonOf = (sent: Promise<unknown>) =>
  sent.then(
    () => "nothing",
    (error: UpstreamError) => error.reason,
  );
