import type { Log } from "../../log/log.ts";
import type { MemoryStore, StoredChunk } from "../../log/store/memory-store.ts";
import { formatEntryId, type SessionId } from "../../model/entry.ts";
import type { ToolResultPart } from "../../model/part.ts";
import { nameProgram, normalizeTrouble } from "../../window/compact/work-steps.ts";
import { isCommitCommand } from "../../window/effects/commit.ts";
import { findTouches } from "../../window/effects/find-touches.ts";
import type { Fix, FixStep } from "../hit-details.ts";
import type { ChunkTexts } from "../index/chunk-texts.ts";
import { readPartText } from "../index/entry-texts.ts";
import type { CandidateSet } from "../index/find-candidates.ts";
import type { RankedChunk } from "../make-hits.ts";
import { EVIDENCE } from "../text/evidence.ts";
import { readWork, readWorkMessages } from "./read-work.ts";
import { listParts, type WorkMessage } from "./work-stretch.ts";

/** A fix with the chunk of its error, from which the chunks of its steps are found. */
interface FoundFix {
  readonly fix: Fix;
  readonly chunk: StoredChunk;
}

interface FixDeps {
  readonly log: Log;
  readonly texts: ChunkTexts;
  /** False for an entry that must not be shown. */
  readonly isShown: (session: SessionId, seq: number) => Promise<boolean>;
}

/** Shorter lines, such as "FAIL", are printed for any reason. */
const MIN_LINE_CHARACTERS = 16;
/** Lines of a pasted error to look for, and places to look at for each. */
const MAX_LINES = 3;
const MAX_PLACES = 5;
const MAX_FIXES = 3;
/** Messages before an output in which its call is, and after it in which the fix is. */
const MESSAGES_BEFORE = 12;
const MESSAGES_AFTER = 80;
const MAX_STEPS = 15;
/** Programs that show text; a line in their output is not an error of theirs. */
const SHOWING = /^(?:grep|rg|cat|sed|awk|ls|find|git|head|tail|gh|echo|less|wc|diff|curl)\b/;
const SIGNS_OF_ERROR =
  /\b(?:errors?|exception|panic|fatal|traceback|fail(?:s|ed|ure|ing)?|cannot|can['’]t|could not|unable|undefined|unexpected|expected|unknown|unused|missing|invalid|denied|refused|not found|mismatch|no such|warning)\b|Error\b|Exception\b|错误|失败|異常/i;

/**
 * Finds fixes of the error that a question quotes, newest first: places of the index whose output has the line, and the
 * work after each up to the next run of the same program without it.
 */
export async function findFixes(
  { log, texts, isShown }: FixDeps,
  question: string,
  { chunks, sources }: Pick<CandidateSet, "chunks" | "sources">,
): Promise<FoundFix[]> {
  const lines = listErrorLines(question);
  if (lines.length === 0) return [];
  const outputs = [...chunks.values()]
    .filter(({ author, source }) => author === "tool" && sources.get(source)?.kind === "session")
    .sort((left, right) => right.at - left.at);
  const found = new Map<string, FoundFix>();
  for (const line of lines) {
    let looked = 0;
    for (const chunk of outputs) {
      if (looked >= MAX_PLACES || found.size >= MAX_FIXES) break;
      const printed = findLine((await texts.read(chunk)) ?? "", line);
      const session = sources.get(chunk.source)?.name ?? "";
      if (printed === undefined || !(await isShown(session, chunk.seq))) continue;
      looked++;
      const fix = await readFix(log, session, chunk.seq, printed, line);
      if (!fix) continue;
      const steps: FixStep[] = [];
      for (const step of fix.steps) if (await isShown(session, step.seq)) steps.push(step);
      // Of several sightings before one fix, the first has all of its steps.
      if (steps.length > 0) found.set(fix.confirmed, { fix: { ...fix, steps }, chunk });
    }
  }
  return [...found.values()].sort((left, right) => right.fix.at - left.fix.at);
}

/** The lines of a question that may be a program's complaint, in the form in which they are compared. */
function listErrorLines(question: string): readonly string[] {
  const lines = question.split("\n").filter((line) => SIGNS_OF_ERROR.test(line) || /\d:\d/.test(line));
  const normal = lines.map(normalizeTrouble).filter((line) => line.length >= MIN_LINE_CHARACTERS);
  return [...new Set(normal)].slice(0, MAX_LINES);
}

/** The line of a text that a normalized line is, or is a part of. */
function findLine(text: string, normal: string): string | undefined {
  return text
    .split("\n")
    .find((line) => normalizeTrouble(line).includes(normal))
    ?.trim();
}

async function readFix(
  log: Log,
  session: SessionId,
  seq: number,
  error: string,
  normal: string,
): Promise<Fix | undefined> {
  const read = (order: "ascending" | "descending", limit: number) =>
    readWorkMessages(log, session, { seq: seq + 1, order }, undefined, limit);
  const messages = [
    ...(await read("descending", MESSAGES_BEFORE)).toReversed(),
    ...(await read("ascending", MESSAGES_AFTER)),
  ];
  const commands = new Map<string, string>();
  for (const { part } of listParts(messages, "tool-call")) {
    const command = findTouches(part).find((touch) => touch.command !== undefined)?.command;
    if (command !== undefined) commands.set(part.callId, command);
  }
  const hasLine = async (part: ToolResultPart) => {
    for (const output of part.output)
      if (findLine(await readPartText(output, (own) => log.blobs.restore(own)), normal) !== undefined)
        return true;
    return false;
  };
  let program: string | undefined;
  for (const part of messages.find((one) => one.seq === seq)?.message.parts ?? []) {
    if (part.type !== "tool-result") continue;
    const command = commands.get(part.callId);
    if (command !== undefined && (await hasLine(part))) program = nameProgram(command);
  }
  if (program === undefined || SHOWING.test(program)) return undefined;
  const edits: (FixStep & { readonly at: number })[] = [];
  const runs: (FixStep & { readonly at: number })[] = [];
  for (const { seq: at, message, at: time } of messages.filter((one) => one.seq > seq)) {
    for (const part of message.parts) {
      const place = { entry: formatEntryId(session, at), seq: at, at: time };
      if (part.type === "tool-call") {
        for (const { kind, path, command } of findTouches(part)) {
          if ((kind === "edit" || kind === "write") && path !== undefined) edits.push({ ...place, path });
          else if (kind === "run" && command !== undefined && !isCommitCommand(command))
            if (nameProgram(command) !== program) runs.push({ ...place, command });
        }
      }
      if (part.type !== "tool-result") continue;
      const command = commands.get(part.callId);
      if (command === undefined || nameProgram(command) !== program || (await hasLine(part))) continue;
      const own = (edits.length > 0 ? edits : runs).slice(-MAX_STEPS);
      const last = own.at(-1);
      if (!last) return undefined;
      const files = [...new Set(own.flatMap(({ path }) => path ?? []))];
      const { commit } = await readWork(log, session, last.seq);
      return {
        error,
        program,
        session,
        seen: formatEntryId(session, seq),
        confirmed: place.entry,
        at: last.at,
        steps: own.reverse().map(({ at: _, ...step }) => step),
        files,
        ...(commit && { commit }),
        changedSince: listChanged(
          messages.filter((one) => one.seq > at),
          files,
        ),
      };
    }
  }
  return undefined;
}

function listChanged(messages: readonly WorkMessage[], files: readonly string[]): readonly string[] {
  const touches = listParts(messages, "tool-call").flatMap(({ part }) => findTouches(part));
  const changed = touches.filter(({ kind }) => kind === "edit" || kind === "write").map(({ path }) => path);
  return files.filter((path) => changed.includes(path));
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
