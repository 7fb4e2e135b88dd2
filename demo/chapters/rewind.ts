import type { Session } from "../../src/kernel/index.ts";
import { formatCount } from "../format.ts";
import { timed } from "../stopwatch.ts";
import { expect, type Tour } from "../tour.ts";

/** Time to rewind, and to undo it. */
export interface RewindFigures {
  readonly rewindMs: number;
  readonly undoMs: number;
}

/** Rewinds to the middle of the conversation, and undoes it. */
export async function rewindAndUndo(session: Session, tour: Tour): Promise<RewindFigures> {
  const { terminal } = tour;
  terminal.heading(
    "4. Rewind, and undo it",
    "Going back deletes nothing: the session only chooses other ranges of its log.",
  );
  const end = (await session.page({ limit: 1 })).entries.at(-1);
  const middle = Math.floor(tour.length.messages / 2);
  const rewind = await timed(() => session.rewind(middle));
  terminal.fact("rewind", `the conversation now ends at ${formatCount(middle)}`, rewind.ms);
  const rewound = (await session.page({ limit: 1 })).entries.at(-1);
  expect(rewound?.seq === middle, "a rewound conversation ends where it was rewound to");

  tour.step();
  const [, earlier] = await session.lines(2);
  const undo = await timed(() => session.choose(earlier?.seq ?? 0));
  const undone = (await session.page({ limit: 1 })).entries.at(-1);
  terminal.fact("undo", `it ends at ${formatCount(undone?.seq ?? 0)} again`, undo.ms);
  expect(undone?.id === end?.id, "an undone rewind leaves the conversation as it was");
  return { rewindMs: rewind.ms, undoMs: undo.ms };
}
