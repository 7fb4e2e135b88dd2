import { toArray, toObject } from "../../../wire/fields.ts";
import { getWire } from "../../../wire/wires.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { findThread } from "../lookup/find-thread.ts";
import { relayResponse } from "../reply/relay/relay-response.ts";
import { type ParsedRequest, readRequest } from "../request/read-request.ts";
import { findNamedModels } from "../request/stream-usage.ts";
import { checkReferenceAccess } from "../upstream/check-ownership.ts";
import { sendRequest } from "../upstream/send-request.ts";
import { checkTargetAllowed, chooseTarget, type Target } from "../upstream/target.ts";
import { replaceModel } from "./pass-through.ts";

/** Larger replies are relayed, but not recorded. */
const MAX_RECORDED_BYTES = 32 * 1_024 * 1_024;

/**
 * Forwards a request for OpenAI's own compaction unchanged, except for the model's name, and records its usage in the
 * conversation that it compacts. Returns false for an odd body that only the provider can judge.
 */
export async function compactResponses(incoming: Incoming, services: Services): Promise<boolean> {
  const request = await readRequest(incoming, services);
  if (!request) return false;
  const target = chooseTarget(request, incoming, services);
  const { upstream, model, clientModel } = target;
  const findNamed = () => findNamedModels(request);
  checkTargetAllowed(incoming.principal, target, findNamed);
  await incoming.spending.checkUnmeasured({ project: undefined, models: [model, ...findNamed()] });
  await checkReferenceAccess(incoming, services, upstream);
  const changed = model === clientModel ? undefined : replaceModel(incoming.body, model);
  const { response, raw, signal, trace } = incoming;
  const answer = await sendRequest(incoming, services, {
    upstream,
    body: changed ?? [raw],
    isBodyChanged: changed !== undefined,
  });
  trace.status = answer.status;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const tap = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_RECORDED_BYTES) chunks.push(Buffer.from(chunk));
    else chunks.length = 0;
  };
  const { idleMs } = services.config().limits;
  const startedAt = trace.startedMs;
  const relayed = await relayResponse({ answer, response, signal, idleMs, startedAt, tap });
  trace.ending = relayed.ending;
  trace.bytesOut = relayed.bytes;
  if (relayed.firstByteMs !== undefined) trace.firstByteMs = relayed.firstByteMs;
  if (answer.status === 200 && relayed.failure === undefined && chunks.length > 0)
    await record(request, target, incoming, services, Buffer.concat(chunks).toString("utf8")).catch((error) =>
      services.onStoreFailure(error),
    );
  return true;
}

/** Stores a note for people and the usage of a compaction; the client has its reply already. */
async function record(
  request: ParsedRequest,
  { model }: Target,
  incoming: Incoming,
  services: Services,
  text: string,
): Promise<void> {
  const reply = toObject(JSON.parse(text));
  if (!reply) return;
  const { trace } = incoming;
  const { thread } = await findThread(request, incoming, services);
  try {
    const { session } = thread;
    trace.session = session.id;
    trace.kind = thread.kind;
    const [before, after] = [request.messages.cut.elements.length, toArray(reply.output).length];
    const id = typeof reply.id === "string" ? reply.id : undefined;
    await session.note(
      `The provider compacted the conversation for the client: ${before} items became ${after}${id === undefined ? "" : ` (${id})`}. The log keeps all messages.`,
    );
    const usage = getWire("openai-responses").parseUsage(reply.usage);
    if (!usage) return;
    trace.usage = usage;
    await session.window({ model }).report(usage, id === undefined ? {} : { request: id });
  } finally {
    thread.progress.recordEnd(true);
  }
}
