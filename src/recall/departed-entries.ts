import { toEntry } from "../log/entry-body.ts";
import type { Log } from "../log/log.ts";
import { BoundedMap } from "../model/base/caches.ts";
import type { LineBody, SessionId } from "../model/entry.ts";
import { buildLineAfter, changeLine, closeLine, hasSeq, listSeqs, type SeqRange } from "../model/line.ts";
import { isInRanges, joinRanges, type NumberRange, subtractRanges } from "../model/number-ranges.ts";

/** Sessions whose ranges are cached. */
const MAX_SESSIONS = 1_000;
const LINES_PER_PAGE = 500;
/** Forks that are searched for an entry that their trunk took back. */
const MAX_FORKS = 100;

/** The entries of a session by its line and by the reasons for which others left it. */
interface SessionLine {
  readonly createdAt: number;
  readonly lineSeq: number;
  /** Ranges of all sessions, the open one last. */
  readonly line: readonly SeqRange[];
  /** Seqs of the session's own entries that are not on the line. */
  readonly takenBack: readonly NumberRange[];
  readonly trimmed: readonly NumberRange[];
}

/** Knows which entries have left their session's line and why. Line entries never change, so only new ones are read. */
export class DepartedEntries {
  readonly #log: Log;
  readonly #known = new BoundedMap<SessionId, SessionLine>({ max: MAX_SESSIONS });

  constructor(log: Log) {
    this.#log = log;
  }

  /** The state of all lines for one recall, each read once. */
  look(): DepartureView {
    const sessions = new Map<SessionId, Promise<SessionLine | undefined>>();
    const read = (session: SessionId) => {
      const reading = sessions.get(session) ?? this.#read(session);
      sessions.set(session, reading);
      return reading;
    };
    return {
      isTakenBack: async (session, seq) => {
        const own = await read(session);
        if (!own || !isInRanges(own.takenBack, seq)) return false;
        return !(await this.#isOnFork(session, seq, read));
      },
      isOffLine: async (session, seq) => {
        const own = await read(session);
        return !own || (!hasSeq(own.line, { session, seq }) && !isInRanges(own.trimmed, seq));
      },
    };
  }

  /** True if a fork, or a fork of it, still has an entry on its line. */
  async #isOnFork(
    session: SessionId,
    seq: number,
    read: (session: SessionId) => Promise<SessionLine | undefined>,
  ): Promise<boolean> {
    const trunks = [session];
    for (let searched = 0; trunks.length > 0 && searched < MAX_FORKS; searched++) {
      const children = await this.#log.store.sessions.list({
        parent: trunks.shift() as SessionId,
        limit: MAX_FORKS,
      });
      for (const { id, relation } of children) {
        if (relation !== "fork") continue;
        const fork = await read(id);
        if (fork && hasSeq(fork.line, { session, seq })) return true;
        trunks.push(id);
      }
    }
    return false;
  }

  async #read(session: SessionId): Promise<SessionLine | undefined> {
    const { sessions, entries } = this.#log.store;
    const record = await sessions.get(session);
    if (!record) return undefined;
    const { createdAt, lineSeq } = record;
    const known = this.#known.use(session);
    let state =
      known?.createdAt === createdAt && known.lineSeq <= lineSeq
        ? known
        : { createdAt, lineSeq: 0, line: buildLineAfter(session, 0, []), takenBack: [], trimmed: [] };
    while (state.lineSeq < lineSeq) {
      const page = await entries.read(session, {
        from: state.lineSeq + 1,
        to: lineSeq,
        limit: LINES_PER_PAGE,
        order: "ascending",
        kinds: ["line"],
      });
      for (const stored of page) {
        const entry = toEntry(session, stored);
        if (entry.kind === "line") state = applyLine(state, session, entry);
      }
      // A damaged line entry changes nothing.
      if (page.length < LINES_PER_PAGE) state = { ...state, lineSeq };
    }
    this.#known.set(session, state);
    return state;
  }
}

/** The lines as one recall sees them. */
interface DepartureView {
  /** True if an entry was taken back and no fork has it on its line. */
  readonly isTakenBack: (session: SessionId, seq: number) => Promise<boolean>;
  /** True if an entry left its line for another reason than to save room. */
  readonly isOffLine: (session: SessionId, seq: number) => Promise<boolean>;
}

function applyLine(
  state: SessionLine,
  session: SessionId,
  { seq, previousEnd, departure, removed, inserted, ...entry }: LineBody & { readonly seq: number },
): SessionLine {
  const previous = closeLine(state.line, previousEnd);
  const ranges = removed ? changeLine(previous, { removed, inserted }) : entry.ranges;
  const present = listSeqs(ranges, session);
  const departed = subtractRanges(listSeqs(previous, session), present);
  const add = (known: readonly NumberRange[], isAdded: boolean) =>
    subtractRanges(isAdded ? joinRanges([...known, ...departed]) : known, present);
  const takenBack = add(state.takenBack, departure === "taken-back");
  return {
    createdAt: state.createdAt,
    lineSeq: seq,
    line: buildLineAfter(session, seq, ranges),
    takenBack,
    trimmed: subtractRanges(add(state.trimmed, departure === "trimmed"), takenBack),
  };
}
