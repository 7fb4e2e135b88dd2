import { parseEntryId, type Session } from "../../index.ts";
import type { Thread } from "./thread.ts";

/** What a client has made of its own conversation, to go on with that instead. */
export interface ClientSummary {
  readonly text: string;
  /** The conversation that it was made of. */
  readonly of: Thread;
}

/**
 * Writes down what a client's own summary stands in place of: an overlay on the line as it was, so that `expand` brings
 * everything back, and a note for people. The overlay is taken back at once: a client that comes back to that line says
 * itself what it wants to be sent.
 */
export async function linkSummary({ text, of }: ClientSummary, client: string): Promise<void> {
  const { session } = of;
  const line = await of.line();
  const [first, last] = [line[0], line.at(-1)].map((message) => message && parseEntryId(message.id));
  if (!first || !last) return;
  const ranges =
    first.session === last.session
      ? [{ session: first.session, from: first.seq, to: last.seq }]
      : [{ session: session.id, from: 1, to: last.seq }];
  const { seq } = await session.overlays.add(
    { type: "summarize", ranges, messages: [{ role: "user", text }] },
    "the client compacted its conversation",
    client,
  );
  await session.overlays.revert(seq);
  await noteSummary(session, client, line.length, seq);
}

async function noteSummary(session: Session, client: string, messages: number, seq: number): Promise<void> {
  await session.note(
    `${client} compacted ${messages} messages by itself and goes on with its summary; expand #${seq} to read them.`,
  );
}
