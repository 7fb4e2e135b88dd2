import { join } from "node:path";
import { importSources } from "../../../src/histories/index.ts";
import { type Entry, type Kernel, openKernel, type SessionId } from "../../../src/kernel/index.ts";
import { estimateMessage } from "../../../src/window/tokens/estimate.ts";
import { promptTokensOf } from "./prompt-tokens.ts";

/** A request of a real session: our estimate of its messages, and the provider's count. */
export interface CountedRequest {
  readonly format: string;
  readonly model: string;
  /** Without system prompt and tools, which transcripts do not contain. */
  readonly estimated: number;
  readonly counted: number;
}

const PAGE_ENTRIES = 500;
const MAX_SESSIONS = 1_000;

/** The requests that a provider reported on, session by session. */
export async function* countedSessions(dataFolder: string): AsyncGenerator<readonly CountedRequest[]> {
  await using kernel = await openKernel({ path: ":memory:" });
  await importSources(kernel, [join(dataFolder, "transcripts")]);
  // Includes sessions of nested agents, which have no file of their own.
  for (const { id } of await kernel.sessions({ limit: MAX_SESSIONS })) {
    const requests = await requestsOf(kernel, id);
    if (requests.length > 0) yield requests;
  }
}

async function requestsOf(kernel: Kernel, id: SessionId): Promise<readonly CountedRequest[]> {
  const requests: (CountedRequest & { readonly request: string | undefined })[] = [];
  const format = id.split("/")[0] ?? "";
  let estimated = 0;
  let atRequest = 0;
  let isReplying = false;
  for await (const entry of entriesOf(kernel, id)) {
    if (entry.kind === "message") {
      const isReply = entry.message.role === "assistant";
      if (isReply && !isReplying) atRequest = estimated;
      isReplying = isReply;
      estimated += estimateMessage(entry.message);
    }
    if (entry.kind !== "usage") continue;
    isReplying = false;
    const counted = promptTokensOf(entry.usage);
    const last = requests.at(-1);
    const isAgain =
      last && (entry.request === undefined ? last.counted === counted : last.request === entry.request);
    if (counted > 0 && entry.model !== undefined && !isAgain)
      requests.push({ format, model: entry.model, estimated: atRequest, counted, request: entry.request });
  }
  return requests;
}

async function* entriesOf(kernel: Kernel, id: SessionId): AsyncGenerator<Entry> {
  await using session = await kernel.session(id);
  const [line] = await session.lines(1);
  for (const { from, to, session: owner } of line?.ranges ?? []) {
    await using other = owner === id ? undefined : await kernel.session(owner);
    for (let next = from; next <= to; ) {
      const entries = await (other ?? session).read({ from: next, to, limit: PAGE_ENTRIES });
      yield* entries;
      const last = entries.at(-1);
      if (!last) break;
      next = last.seq + 1;
    }
  }
}
