/** Words of a run: as many in a row are hardly ever the same by chance. */
const RUN_WORDS = 8;
/** Of long texts, one run in so many is compared: the same ones on both sides. */
const SAMPLE = 16;
/** Runs by which a summary is found, those with the smallest hashes. */
const MAX_RUNS = 32;
/** A summary with fewer sampled runs is found by others too, in messages that are not too long. */
const MIN_SAMPLED = 4;
const MAX_SHORT_MESSAGE = 1_000;
const MAX_TINY_MESSAGE = 100;
/** Words of a request that are searched for summaries. */
const MAX_WORDS = 100_000;

/** The words of a text in lower case, without tags, formatting marks and repeated white space. */
export function simplifyWords(text: string): string {
  return text
    .replace(/<\/?[a-z][\w-]*>/gi, " ")
    .replace(/[#*_`>|-]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

/** Runs of words by which a summary is found again in a request that quotes most of it; `text` is normalized. */
export function listSummaryRuns(text: string): readonly string[] {
  if (text === "") return [];
  const words = text.split(" ");
  const runs = listRuns(words, Math.min(RUN_WORDS, words.length)).toSorted(
    (one, other) => one.hash - other.hash,
  );
  const sampled = runs.filter(isSampled).slice(0, MAX_RUNS);
  const few = sampled.length < MIN_SAMPLED ? runs.slice(0, MIN_SAMPLED) : [];
  return [...sampled.map(({ text }) => `long ${text}`), ...few.map(({ text }) => `short ${text}`)];
}

/** Runs under which the summaries are found that some normalized texts quote. */
export function listQuotedRuns(texts: readonly string[]): readonly string[] {
  const found = new Set<string>();
  let left = MAX_WORDS;
  for (const text of texts) {
    const words = text.split(" ", left);
    left -= words.length;
    const runs = listRuns(words, RUN_WORDS);
    for (const run of runs) if (isSampled(run)) found.add(`long ${run.text}`);
    if (words.length <= MAX_SHORT_MESSAGE) for (const run of runs) found.add(`short ${run.text}`);
    if (words.length > MAX_TINY_MESSAGE) continue;
    for (let length = 1; length < RUN_WORDS; length++)
      for (const run of listRuns(words, length)) found.add(`short ${run.text}`);
  }
  return [...found];
}

interface Run {
  readonly text: string;
  readonly hash: number;
}

function isSampled({ hash }: Run): boolean {
  return hash % SAMPLE === 0;
}

function listRuns(words: readonly string[], length: number): readonly Run[] {
  const hashes = words.map(hashWord);
  const runs: Run[] = [];
  for (let from = 0; from + length <= words.length; from++) {
    let hash = 0;
    for (let at = from; at < from + length; at++)
      hash = (Math.imul(hash ^ (hashes[at] as number), 0x01000193) + 0x9e3779b9) >>> 0;
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
    runs.push({ text: words.slice(from, from + length).join(" "), hash: (hash ^ (hash >>> 12)) >>> 0 });
  }
  return runs;
}

function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
