import type { Exchange } from "../exchange/exchange-state.ts";
import { formatAnnouncement } from "../observe/edit-announcement.ts";

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
