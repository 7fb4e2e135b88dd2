import { ADVICE_SHARE, countPromptTokens } from "../../window-entry.ts";
import type { Exchange } from "../exchange/exchange-state.ts";
import { formatAdvice, formatAnnouncement } from "../observe/edit-announcement.ts";

/** Tells people of a new edit: in the trace, and as a note in the conversation unless nothing was changed. */
export async function announceEdit({ call, thread, trace, services }: Exchange): Promise<void> {
  const { plan } = call.fitted ?? {};
  if (!plan) return;
  const { overlay, receipt } = plan;
  const { tokens, breakEvenCalls, isForced } = receipt;
  const session = thread.session.id;
  const edit = { session, tokensBefore: tokens.without, tokensAfter: tokens.with, breakEvenCalls, isForced };
  const text = formatAnnouncement({ ...edit, overlay: call.request.isDryRun ? undefined : overlay });
  trace.announcement = text;
  if (call.request.isDryRun || !call.isEdited) return;
  await thread.conversation.note(text).catch(services.onStoreFailure);
}

/** The fact of a conversation whose person was advised to begin a new one. */
const ADVISED = "advised";

/** Advises a person once to begin a new conversation, if nothing more can leave the window of this one. */
export async function adviseNewConversation(exchange: Exchange): Promise<void> {
  const { services, thread, trace } = exchange;
  const share = findSettledShare(exchange);
  if (share === undefined || share < ADVICE_SHARE || thread.kind !== "main" || thread.isAdvised) return;
  thread.isAdvised = true;
  try {
    const { session } = thread;
    if (await session.facts.get(ADVISED)) return;
    await session.facts.set(ADVISED, true);
    const text = formatAdvice(session.id, share);
    trace.advice = text;
    await thread.conversation.note(text);
  } catch (error) {
    services.onStoreFailure(error);
  }
}

/** Share of the window that can never leave it; undefined if that is little, or if an experiment must stay as it is. */
function findSettledShare({ call, services, target, trace }: Exchange): number | undefined {
  const { fitted, request } = call;
  if (request.isControl || request.isDryRun) return undefined;
  if (request.policy !== "none") return fitted?.advice?.share;
  const { window } = services.modelLimits.getLimits(target, services.config().threshold);
  return trace.usage && countPromptTokens(trace.usage) / window;
}
