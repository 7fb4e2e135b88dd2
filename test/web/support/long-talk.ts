import type { Kernel, Session } from "../../../src/kernel/index.ts";

interface LongTalkOptions {
  readonly id?: string;
  readonly entries: number;
}

const BATCH = 1_000;

/** A conversation of any number of messages. */
export async function writeLongTalk(
  kernel: Kernel,
  { id = "long", entries }: LongTalkOptions,
): Promise<Session> {
  const session = await kernel.session(id, { title: `A conversation of ${entries} messages` });
  for (let from = 0; from < entries; from += BATCH)
    await session.appendAll(
      Array.from({ length: Math.min(BATCH, entries - from) }, (_, index) => {
        const number = from + index + 1;
        const isUser = number % 2 === 1;
        return {
          role: isUser ? ("user" as const) : ("assistant" as const),
          text: isUser
            ? `Question ${number}: is berth B${number % 40} free at the *evening* tide?`
            : `Yes, until ${number % 24}:00.\n\n- \`ship-${number % 97}\` leaves first\n- the pilot is **on board**\n\n${"The log of the harbor says more. ".repeat(number % 9)}`,
        };
      }),
    );
  return session;
}

/** The address of a conversation on a gateway. */
export function linkTo(url: string, session: string): string {
  return `${url}/sessions/${encodeURIComponent(session)}`;
}
