import { toEntry } from "../../log/entry-body.ts";
import type { EntryStore } from "../../log/store/entry-store.ts";
import type { Entry, SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import { type EntryText, findSpeaker } from "./entry-texts.ts";

/** Turns that decide whether a session is a transcript, and the fewest that do. */
const MAX_TRANSCRIPT_TURNS = 12;
const MIN_TURNS = 4;
/** Messages to read for the first turns; others are tool results. */
const MAX_MESSAGES = 2 * MAX_TRANSCRIPT_TURNS;

/** A text of an entry, and the range of it to index. */
interface SpokenText extends EntryText {
  readonly body?: { readonly from: number; readonly to: number };
}

/** One of the first turns of a session. */
interface FirstTurn {
  readonly seq: number;
  readonly text: string;
}

/** The texts of an entry and their speaker, if one is known. */
interface SpokenTexts {
  readonly texts: readonly SpokenText[];
  readonly speaker?: string;
}

/**
 * Names the speakers of a session: as the metadata of messages say or, if the session is a transcript, as its texts do.
 * Its first turns decide.
 */
export class SessionSpeakers {
  readonly #turns: readonly FirstTurn[];

  private constructor(turns: readonly FirstTurn[]) {
    this.#turns = turns;
  }

  static async read(entries: EntryStore, session: SessionId): Promise<SessionSpeakers> {
    const stored = await entries.read(session, {
      from: 1,
      to: Number.POSITIVE_INFINITY,
      limit: MAX_MESSAGES,
      order: "ascending",
      kinds: ["message"],
    });
    const turns = stored.flatMap((one) => {
      const text = findTurnText(readSound(() => toEntry(session, one)));
      return text === undefined ? [] : [{ seq: one.seq, text }];
    });
    return new SessionSpeakers(turns);
  }

  /** True if the entries up to a seq are a transcript. */
  isTranscriptUpTo(seq: number): boolean {
    return isTranscript(this.#turns.filter((turn) => turn.seq <= seq).map(({ text }) => text));
  }

  /** Adds the speaker to the texts of an entry; the words after a name in the text are indexed without it. */
  name(entry: Entry, texts: readonly EntryText[], isInTranscript: boolean): SpokenTexts {
    const stated = findSpeaker(entry);
    if (stated !== undefined) return { texts, speaker: stated };
    const [first, ...others] = texts;
    const own = isInTranscript ? findTurnText(entry) : undefined;
    const line = first && own === first.text ? parseTranscriptLine(own) : undefined;
    if (!first || !line) return { texts };
    return {
      texts: [{ ...first, body: { from: line.from, to: line.to } }, ...others],
      speaker: line.speaker,
    };
  }
}

/** The text of a message of a person or a model that begins with it and names no speaker; undefined for others. */
function findTurnText(entry: Entry | undefined): string | undefined {
  if (entry?.kind !== "message" || findSpeaker(entry) !== undefined) return undefined;
  const { role, parts } = entry.message;
  const [first] = parts;
  return (role === "user" || role === "assistant") && first?.type === "text" ? first.text : undefined;
}

function readSound(read: () => Entry): Entry | undefined {
  try {
    return read();
  } catch (error) {
    if (isLonghaulError(error, "STORE_CORRUPT")) return undefined;
    throw error;
  }
}

/** A line of a transcript: the name of the speaker, and the range of the words in the text. */
interface TranscriptLine {
  readonly speaker: string;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** A name of up to three words, in any script. */
const WORD = String.raw`[\p{Lu}\p{Lt}\p{Lo}][\p{L}\p{M}\p{N}'’._-]*`;
const NAME = `${WORD}(?: ${WORD}){0,2}`;
const MAX_NAME = 40;
const LABELED = new RegExp(String.raw`^\s*(?:\*\*(${NAME})(?::\*\*|\*\*:)|(${NAME})[:：])\s*(?=\S)`, "u");
const QUOTED = new RegExp(
  String.raw`^\s*(${NAME}) (?:said|says|asked|asks|replied|replies|answered|wrote)[,:] ?["“]([\s\S]*)["”]\s*$`,
  "u",
);
/** Labels of roles, which are not names of people. */
const ROLE = /^(?:user|human|assistant|ai|bot|model|system|developer|tool|function|q|a|question|answer)$/i;

/** Parses `Name: words` and `Name said, "words"`; undefined for any other text. */
export function parseTranscriptLine(text: string): TranscriptLine | undefined {
  const labeled = LABELED.exec(text);
  const speaker = labeled?.[1] ?? labeled?.[2];
  if (labeled && speaker !== undefined)
    return isName(speaker) ? { speaker, from: labeled[0].length, to: text.length } : undefined;
  const quoted = QUOTED.exec(text);
  const [, name = "", words = ""] = quoted ?? [];
  if (!quoted || !isName(name) || words.trim() === "") return undefined;
  const from = text.indexOf(words, name.length);
  return { speaker: name, from, to: from + words.length };
}

function isName(name: string): boolean {
  return name.length <= MAX_NAME && !ROLE.test(name);
}

const MIN_SHARE = 0.8;
const MIN_SPEAKERS = 2;

/**
 * True if the first turns of a session are lines of a transcript: nearly all begin with a name, there are several names,
 * and names recur, as labels of notes or errors do not.
 */
export function isTranscript(texts: readonly string[]): boolean {
  const first = texts.slice(0, MAX_TRANSCRIPT_TURNS);
  if (first.length < MIN_TURNS) return false;
  const lines = first.flatMap((text) => parseTranscriptLine(text) ?? []);
  const speakers = Map.groupBy(lines, ({ speaker }) => speaker);
  const recurring = [...speakers.values()].filter(({ length }) => length > 1);
  return (
    lines.length >= MIN_SHARE * first.length &&
    recurring.length >= MIN_SPEAKERS &&
    speakers.size <= lines.length / MIN_SPEAKERS
  );
}
