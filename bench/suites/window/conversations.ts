import { join } from "node:path";
import { asConversation, type Kernel, openKernel, type SaidMessage } from "longhaul";
import { importSources } from "longhaul/formats";

/** Real conversations with at least so many requests, every nth of them; loaded one at a time. */
export async function* realConversations(
  dataFolder: string,
  { least, every }: { readonly least: number; readonly every: number },
): AsyncGenerator<readonly SaidMessage[]> {
  await using kernel = await openKernel({ path: ":memory:" });
  const { sources } = await importSources(kernel, [join(dataFolder, "transcripts")]);
  let index = 0;
  for (const id of new Set(sources.map(({ session }) => session))) {
    const conversation = await conversationOf(kernel, id);
    const requests = conversation.filter(({ message }, at) => message.role === "assistant" && at > 0).length;
    if (requests >= least && index++ % every === 0) yield conversation;
  }
}

async function conversationOf(kernel: Kernel, id: string): Promise<readonly SaidMessage[]> {
  await using session = await kernel.session(id);
  const said: SaidMessage[] = [];
  for (const { from, to } of (await session.lines(1))[0]?.ranges ?? []) {
    for (let next = from; next <= to; ) {
      const entries = await session.read({ from: next, to, limit: 500, kinds: ["message"] });
      for (const entry of entries)
        if (entry.kind === "message")
          said.push({ seq: entry.seq, at: timeOf(entry), message: entry.message });
      const last = entries.at(-1);
      if (!last) break;
      next = last.seq + 1;
    }
  }
  return [...asConversation(said)];
}

function timeOf({ at, message }: { readonly at: number; readonly message: SaidMessage["message"] }): number {
  const own = message.meta?.at;
  return typeof own === "number" ? own : at;
}
