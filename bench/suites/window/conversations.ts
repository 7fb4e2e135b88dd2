import { join } from "node:path";
import { importSources } from "../../../src/histories/index.ts";
import { loadConversation } from "../../../src/kernel/calls/load-conversation.ts";
import type { RecordedMessage } from "../../../src/kernel/faces/window.ts";
import { openKernel } from "../../../src/kernel/index.ts";

/** Real conversations with at least `least` requests, every nth of them; loaded one at a time. */
export async function* realConversations(
  dataFolder: string,
  { least, every }: { readonly least: number; readonly every: number },
): AsyncGenerator<readonly RecordedMessage[]> {
  await using kernel = await openKernel({ path: ":memory:" });
  const { sources } = await importSources(kernel, [join(dataFolder, "transcripts")]);
  let index = 0;
  for (const id of new Set(sources.map(({ session }) => session))) {
    const conversation = await loadConversation(kernel, id);
    const requests = conversation.filter(({ message }, at) => message.role === "assistant" && at > 0).length;
    if (requests >= least && index++ % every === 0) yield conversation;
  }
}
