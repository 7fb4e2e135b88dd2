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

/** Turns that decide whether a session is a transcript, and the fewest that do. */
export const MAX_TRANSCRIPT_TURNS = 12;
const MIN_TURNS = 4;
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
