import { type Entry, formatEntryId, type Session } from "../../src/kernel/index.ts";
import { Random } from "../conversation/random.ts";
import { formatCount } from "../format.ts";
import { timed } from "../stopwatch.ts";
import { expect, type Tour } from "../tour.ts";

/** Average time of a lookup. */
export interface LookUpFigures {
  readonly byIdMs: number;
  readonly bySeqMs: number;
  readonly byTimeMs: number;
}

const LOOK_UPS = 200;

/** Looks up random entries by id, seq and time. */
export async function lookUp(session: Session, tour: Tour): Promise<LookUpFigures> {
  tour.terminal.heading(
    "3. Look things up",
    `Any entry is found at once, wherever it lies in the log; ${LOOK_UPS} random ones each.`,
  );
  const { seq: head, at: headAt } = await session.head();
  const { at: firstAt } = (await session.entry(1)) as Entry;
  const random = new Random(head);
  const average = async (label: string, find: (seq: number) => Promise<boolean>): Promise<number> => {
    tour.step();
    let found = 0;
    const { ms } = await timed(async () => {
      for (let count = 0; count < LOOK_UPS; count++) if (await find(1 + random.below(head))) found++;
    });
    expect(found === LOOK_UPS, `every entry is found ${label}`);
    tour.terminal.fact(label, `${found} found among ${formatCount(head)}`, ms / LOOK_UPS);
    return ms / LOOK_UPS;
  };
  return {
    byIdMs: await average("by id", async (seq) => {
      const id = formatEntryId(session.id, seq);
      return (await session.entry(id))?.id === id;
    }),
    bySeqMs: await average("by seq", async (seq) => (await session.entry(seq))?.seq === seq),
    byTimeMs: await average("by time", async (seq) => {
      const at = firstAt + ((headAt - firstAt) * seq) / head;
      const entry = await session.entryAt(at);
      return entry !== undefined && entry.at <= at;
    }),
  };
}
