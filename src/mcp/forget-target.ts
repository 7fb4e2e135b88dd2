import { fenceWithMark } from "../base/fence.ts";
import { isLonghaulError, parseEntryId } from "../index.ts";
import { quoteLines, sanitizeName } from "../memory/text/sanitize-text.ts";
import { renderMessageText } from "./message-text.ts";
import type { McpCall } from "./tool-definition.ts";

/** A memory or an entry that a call may delete. */
interface ForgetTarget {
  readonly cite: string;
  /** The beginning of its text between fences, for a model. */
  readonly preview: string;
  /** The question for the user. */
  readonly question: string;
  readonly forget: () => Promise<unknown>;
}

const MAX_PREVIEW = 300;

/** Finds the target of a citation; a sentence for the model if there is none that the caller may delete. */
export async function findForgetTarget(
  { service, caller }: McpCall,
  cite: string,
): Promise<ForgetTarget | string> {
  const { kernel } = service;
  const place = parseCitation(cite);
  if (!place) {
    const isSession = (await service.getState(caller).conversations.list()).some(({ id }) => id === cite);
    return isSession
      ? `A whole conversation is forgotten only by the user: longhaul forget ${JSON.stringify(cite)}`
      : `${JSON.stringify(cite.slice(0, 80))} is no citation; use one that recall has shown, like chat-7#12.`;
  }
  const memories = kernel.memories(caller.agent);
  if (place.session === memories.session) {
    const memory = await memories.get(cite);
    if (!memory) return `There is no memory ${cite}.`;
    return buildTarget(cite, memory.text, "the memory", () => memories.forget(cite, { by: "user" }));
  }
  const isOwn = caller.prefixes?.some((prefix) => place.session.startsWith(prefix)) ?? true;
  const [entry] =
    isOwn && !place.session.startsWith("memory:") && (await kernel.find(place.session))
      ? await kernel.memory.expand(cite, { around: 0 })
      : [];
  if (entry?.kind !== "message") return `There is no message ${cite}.`;
  return buildTarget(cite, renderMessageText(entry.message), "the message", async () => {
    await using session = await kernel.session(place.session);
    return await session.redact(place.seq, "forgotten");
  });
}

function buildTarget(cite: string, text: string, what: string, forget: () => Promise<unknown>): ForgetTarget {
  const beginning = text.length > MAX_PREVIEW ? `${text.slice(0, MAX_PREVIEW).toWellFormed()} …` : text;
  const preview = fenceWithMark("memory-data", `[${sanitizeName(cite)}]\n${quoteLines(beginning)}`);
  const question = `Delete ${what} ${sanitizeName(cite)} for good? It says:\n${quoteLines(beginning)}`;
  return { cite, preview, question, forget };
}

function parseCitation(cite: string): ReturnType<typeof parseEntryId> | undefined {
  try {
    return parseEntryId(cite);
  } catch (error) {
    if (isLonghaulError(error, "ARGUMENT_INVALID")) return undefined;
    throw error;
  }
}
