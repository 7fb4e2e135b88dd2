import type { Log } from "../../log/log.ts";
import type { MemoryStore, StoredChunk } from "../../log/store/memory-store.ts";
import { formatEntryId, type SessionId } from "../../model/entry.ts";
import {
  findEnding,
  matchTrouble,
  nameProgram,
  readTrouble,
  type Trouble,
  weighWords,
} from "../../window/compact/ended-errors.ts";
import { findTroubles, listWorkSteps, type WorkStep } from "../../window/compact/work-steps.ts";
import type { Fix, FixStep } from "../hit-details.ts";
import type { ChunkTexts } from "../index/chunk-texts.ts";
import { readPartText } from "../index/entry-texts.ts";
import type { CandidateSet } from "../index/find-candidates.ts";
import type { RankedChunk } from "../make-hits.ts";
import { EVIDENCE } from "../text/evidence.ts";
import { readWorkMessages } from "./read-work.ts";

/** A fix with the chunk of its error, from which the chunks of its steps are found. */
interface FoundFix {
  readonly fix: Fix;
  /** How well it fits, from 0 to 1. */
  readonly score: number;
  readonly chunk: StoredChunk;
  /** True if the error came back, so that it leads to the work but counts as no fix. */
  readonly hasReturned: boolean;
}

interface FixDeps {
  readonly log: Log;
  readonly texts: ChunkTexts;
  /** False for an entry that must not be shown. */
  readonly isShown: (session: SessionId, seq: number) => Promise<boolean>;
}

/** Places to look at, best first, and fixes to return. */
const MAX_PLACES = 8;
const MAX_FIXES = 3;
/** Messages before an output in which its call is, and after it in which the fix is, and its commit. */
const MESSAGES_BEFORE = 12;
const MESSAGES_AFTER = 120;
const MAX_STEPS = 15;

/**
 * Finds fixes of the error that a question quotes, best first and then newest first: places of the index whose output has the line, and the
 * work after each up to the next run of the same program without it.
 */
export async function findFixes(
  { log, texts, isShown }: FixDeps,
  question: string,
  { chunks, sources }: Pick<CandidateSet, "chunks" | "sources">,
): Promise<FoundFix[]> {
  const asked = findTroubles(question).map(readTrouble);
  if (asked.length === 0) return [];
  const printed: { readonly chunk: StoredChunk; readonly trouble: Trouble }[] = [];
  for (const chunk of chunks.values()) {
    if (chunk.author !== "tool" || sources.get(chunk.source)?.kind !== "session") continue;
    const lines = findTroubles((await texts.read(chunk)) ?? "");
    printed.push(...lines.map((line) => ({ chunk, trouble: readTrouble(line) })));
  }
  const weigh = weighWords(printed.map(({ trouble }) => trouble.words));
  const places = printed
    .map((one) => ({ ...one, score: matchTrouble(asked, one.trouble, weigh) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || right.chunk.at - left.chunk.at);
  const found = new Map<string, FoundFix>();
  let looked = 0;
  for (const { chunk, trouble, score } of places) {
    if (looked >= MAX_PLACES) break;
    const session = sources.get(chunk.source)?.name ?? "";
    if (!(await isShown(session, chunk.seq))) continue;
    looked++;
    const fix = await readFix({ log, isShown }, session, chunk.seq, trouble, score);
    // Of several sightings before one fix, the first has all of its steps.
    if (fix) found.set(fix.fix.confirmed, { ...fix, chunk });
  }
  const best = [...found.values()].sort(
    (left, right) => right.score - left.score || right.fix.at - left.fix.at,
  );
  return best.slice(0, MAX_FIXES);
}

async function readFix(
  { log, isShown }: Omit<FixDeps, "texts">,
  session: SessionId,
  seq: number,
  trouble: Trouble,
  match: number,
): Promise<Omit<FoundFix, "chunk"> | undefined> {
  const steps = await readSteps({ log, isShown }, session, seq);
  const seen = formatEntryId(session, seq);
  const step = steps.find(({ result, troubles }) => result === seen && troubles.includes(trouble.line));
  const ending = step && findEnding(steps, step, trouble, match);
  if (!ending) return undefined;
  const own: FixStep[] = [];
  for (const { entry, seq: at, kind, paths, text } of ending.steps.slice(0, MAX_STEPS)) {
    if (kind === "command") own.push({ entry, seq: at, command: text });
    else own.push(...paths.map((path) => ({ entry, seq: at, path })));
  }
  const [first] = own;
  if (!first) return undefined;
  const files = [...new Set(own.flatMap(({ path }) => path ?? []))];
  const later = steps.filter((one) => one.seq > first.seq);
  const { seq: at, commit } = later.find((one) => one.commit) ?? {};
  const after = later.filter((one) => one.seq > ending.confirmed.seq).flatMap(({ paths }) => paths);
  const fix: Fix = {
    error: trouble.line,
    program: nameProgram(step.key),
    session,
    seen,
    confirmed: ending.confirmed.result,
    at: Math.max(...ending.steps.map((one) => one.at)),
    steps: own,
    files,
    ...(commit && at !== undefined && { commit: { seq: at, ...commit } }),
    changedSince: files.filter((path) => after.includes(path)),
  };
  return { fix, score: ending.score, hasReturned: ending.hasReturned };
}

/** The steps of work around an entry that may be shown, with all of their output. */
async function readSteps(
  { log, isShown }: Omit<FixDeps, "texts">,
  session: SessionId,
  seq: number,
): Promise<readonly WorkStep[]> {
  const read = (order: "ascending" | "descending", limit: number) =>
    readWorkMessages(log, session, { seq: seq + 1, order }, undefined, limit);
  const messages = [
    ...(await read("descending", MESSAGES_BEFORE)).toReversed(),
    ...(await read("ascending", MESSAGES_AFTER)),
  ];
  // An attempt that was taken back ended nothing, and must not hide the one that did.
  const shown = await Promise.all(messages.map((one) => isShown(session, one.seq)));
  const whole = messages
    .filter((_, index) => shown[index])
    .map(async ({ seq: own, at, message }) => {
      const parts = message.parts.map(async (part) => {
        if (part.type !== "tool-result") return part;
        const output = part.output.map((one) => readPartText(one, (blob) => log.blobs.restore(blob)));
        return {
          ...part,
          output: (await Promise.all(output)).map((text) => ({ type: "text", text }) as const),
        };
      });
      return {
        seq: own,
        at,
        message: { ...message, parts: await Promise.all(parts) },
        cite: formatEntryId(session, own),
      };
    });
  return listWorkSteps(await Promise.all(whole));
}

/** Steps of each fix that come first, and chunks of a turn in which a step is looked for. */
const FIRST_STEPS = 3;
const CHUNKS_OF_TURN = 8;

/** Puts the steps of fixes before all other chunks, with the best score: the last step of each fix, then those before. */
export async function putFixesFirst(
  store: Pick<MemoryStore, "turns">,
  fixes: readonly FoundFix[],
  ranked: readonly RankedChunk[],
): Promise<readonly RankedChunk[]> {
  if (fixes.length === 0) return ranked;
  const first = new Map<number, RankedChunk>();
  const score = ranked[0]?.score ?? 1;
  const steps = fixes.map(({ fix }) => [...new Set(fix.steps.map(({ seq }) => seq))]);
  const after = await store.turns(
    fixes.map(({ chunk: { source, turn } }) => ({ source, from: turn + 1, to: turn + MESSAGES_AFTER })),
    CHUNKS_OF_TURN,
  );
  for (let place = 0; place < FIRST_STEPS; place++) {
    for (const [index, { fix, chunk }] of fixes.entries()) {
      const isStep = fix.files.length > 0 ? EVIDENCE.edit : EVIDENCE.call;
      const own = after.find(
        (one) =>
          one.source === chunk.source && one.seq === steps[index]?.[place] && (one.traits & isStep) !== 0,
      );
      if (own && !first.has(own.number)) first.set(own.number, { chunk: own, score, parts: { work: score } });
    }
  }
  const placeOf = ({ chunk }: RankedChunk) => `${chunk.source} ${chunk.turn}`;
  const turns = new Set([...first.values()].map(placeOf));
  return [...first.values(), ...ranked.filter((one) => !turns.has(placeOf(one)))];
}
