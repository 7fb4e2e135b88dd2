import { createHash } from "node:crypto";
import type { FreedCounts } from "../../kernel/faces/log.ts";
import {
  isLonghaulError,
  type Json,
  type Kernel,
  LonghaulError,
  type SessionId,
} from "../../kernel/index.ts";
import { computeDigest } from "../../model/base/digest.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { isTerminal, TASK_STATES } from "../../model/task.ts";
import {
  type ErasedCounts,
  type ErasedSession,
  type ErasureCertificate,
  signCertificate,
} from "./erasure-certificate.ts";

/** A person, and the places where the person's content is stored. */
export interface ErasedPerson {
  readonly name: string;
  /** All session ids of the person begin with one of these. */
  readonly prefixes: readonly string[];
  /** The agent whose memories belong to the person. */
  readonly memoryAgent: string;
}

const PAGE_SESSIONS = 1_000;
const PAGE_ENTRIES = 500;
/** A request in flight may store its reply while its conversation is erased. */
const MAX_ROUNDS = 5;
const DIGEST = /"digest":"([0-9a-f]{64})"/g;

/** A session of a person, with the blobs, memories and tasks that go with it. */
interface SessionFacts {
  readonly erased: ErasedSession;
  readonly blobs: readonly string[];
  readonly memories: number;
  readonly tasks: number;
}

/**
 * The record of an erasure, written before each step: everything in it is gone, or about to go. The certificate is
 * made from it, by whichever process comes to the end.
 */
interface ErasureJournal {
  readonly person: ErasedPerson;
  readonly by: string;
  readonly startedAt: number;
  readonly tokens: number;
  readonly budgets: number;
  /** Sessions that are gone. */
  readonly gone: readonly SessionFacts[];
  /** Sessions that are being deleted. */
  readonly going: readonly SessionFacts[];
  readonly scrubbed: boolean;
  /** Present from the time when only tokens and budgets are left. */
  readonly certificate?: ErasureCertificate;
}

/** Begins the id of the record of a person's erasure. */
const JOURNAL_PREFIX = "person ";

async function readJournal(kernel: Kernel, name: string): Promise<ErasureJournal | undefined> {
  return (await kernel.maintenance.readErasure(JOURNAL_PREFIX + name)) as unknown as
    | ErasureJournal
    | undefined;
}

async function writeJournal(kernel: Kernel, journal: ErasureJournal): Promise<ErasureJournal> {
  await kernel.maintenance.writeErasure(JOURNAL_PREFIX + journal.person.name, journal as unknown as Json);
  return journal;
}

/** Counts the content that `erasePerson` would erase, and the content that an interrupted run of it has erased. */
async function countPersonContent(kernel: Kernel, person: ErasedPerson): Promise<ErasedCounts> {
  const begun = await readJournal(kernel, person.name);
  const journal = begun && (await settleJournal(kernel, begun));
  const facts = [...(journal?.gone ?? [])];
  for (const id of await listPersonSessions(kernel, person))
    facts.push(await readSession(kernel, person, id));
  const { tokens, budgets } = journal ?? (await countRights(kernel, person.name));
  const blobs = new Set(facts.flatMap((one) => one.blobs));
  return { ...sumFacts(facts), blobs: blobs.size, tokens, budgets };
}

/** Counts the content of a person; throws PERSON_NOT_FOUND if there is neither the person nor any content. */
export async function requireErasable(kernel: Kernel, person: ErasedPerson): Promise<ErasedCounts> {
  const counts = await countPersonContent(kernel, person);
  const isKnown = (await kernel.team.find(person.name)) !== undefined;
  if (isKnown || counts.sessions > 0 || counts.budgets > 0 || (await readJournal(kernel, person.name)))
    return counts;
  throw new LonghaulError(
    "PERSON_NOT_FOUND",
    `There is no person ${JSON.stringify(person.name)}, and no conversation of one; "longhaul token list" lists people.`,
    { details: { person: person.name } },
  );
}

/** How a person is erased. */
interface EraseOptions {
  readonly by: string;
  /** Keeps the certificate; until it has, a repetition returns the same one. */
  readonly deliver?: (certificate: ErasureCertificate) => Promise<void> | void;
}

/**
 * Erases a person: revokes the tokens, then deletes conversations, memories, tasks, and blobs that nobody else refers
 * to, with their entries in the index; then removes tokens and budgets. The audit log keeps the certificate's digest.
 * Every step is recorded first, so that a repetition goes on where a crash has stopped it, and its certificate names all.
 * Throws TASK_CONFLICT while a task of the person runs.
 */
export async function erasePerson(
  kernel: Kernel,
  person: ErasedPerson,
  { by, deliver }: EraseOptions,
): Promise<ErasureCertificate> {
  const certificate = await advance(kernel, person, by);
  await deliver?.(certificate);
  await kernel.maintenance.endErasure(JOURNAL_PREFIX + person.name);
  return certificate;
}

/** Carries out all steps of an erasure that are left; its record stays until the certificate is delivered. */
async function advance(kernel: Kernel, person: ErasedPerson, by: string): Promise<ErasureCertificate> {
  const { name } = person;
  await refuseRunningTasks(kernel, await listPersonSessions(kernel, person));
  const begun = await readJournal(kernel, name);
  let journal =
    (begun && (await reopen(kernel, await settleJournal(kernel, begun)))) ??
    (await writeJournal(kernel, {
      ...{ person, by, startedAt: Date.now(), gone: [], going: [], scrubbed: true },
      ...(await countRights(kernel, name)),
    }));
  if (!journal.certificate) {
    if (await kernel.team.find(name)) await kernel.team.revoke(name, { by: journal.by });
    for (let round = 0; round < MAX_ROUNDS; round++) {
      // Forks and children begin with the id of their parent, and go before it, so that each is counted by itself.
      const ids = [...(await listPersonSessions(kernel, person))].sort(
        (one, other) => other.length - one.length,
      );
      if (ids.length === 0) break;
      const going: SessionFacts[] = [];
      for (const id of ids) going.push(await readSession(kernel, person, id));
      journal = await writeJournal(kernel, { ...journal, going });
      let { scrubbed } = journal;
      for (const [index, id] of ids.entries()) {
        const freed = await deleteIfPresent(kernel, id);
        scrubbed = (freed?.scrubbed ?? true) && scrubbed;
        // A reply that came after the session was read went with it.
        const facts = going[index] as SessionFacts;
        const entries = Math.max(facts.erased.entries, freed?.entries ?? 0);
        going[index] = { ...facts, erased: { ...facts.erased, entries } };
      }
      journal = await writeJournal(kernel, {
        ...{ ...journal, gone: [...journal.gone, ...going], going: [], scrubbed },
      });
    }
    journal = await writeJournal(kernel, {
      ...journal,
      certificate: await buildCertificate(kernel, journal),
    });
  }
  const certificate = journal.certificate as ErasureCertificate;
  const details = { certificate: certificate.digest, ...certificate.removed };
  // Repeated after a crash only if the audit log does not know the certificate.
  if (!(await isRecorded(kernel, certificate)))
    await kernel.team.remove(name, { by: certificate.by, details });
  return certificate;
}

/** Goes on with the erasures of people that a crash has interrupted, and returns their certificates. */
export async function resumePersonErasures(kernel: Kernel): Promise<readonly ErasureCertificate[]> {
  const certificates: ErasureCertificate[] = [];
  for (const id of await kernel.maintenance.listErasures(JOURNAL_PREFIX)) {
    const journal = await readJournal(kernel, id.slice(JOURNAL_PREFIX.length));
    // Repeating the erasure returns the certificate.
    if (journal && !journal.certificate) certificates.push(await advance(kernel, journal.person, journal.by));
  }
  return certificates;
}

/** The journal, with the sessions that a process was deleting when it died among those that are gone, if they are. */
async function settleJournal(kernel: Kernel, journal: ErasureJournal): Promise<ErasureJournal> {
  if (journal.going.length === 0) return journal;
  const left = new Set((await listPersonSessions(kernel, journal.person)).map((id) => computeDigest(id)));
  const gone = journal.going.filter(({ erased }) => !left.has(erased.id));
  return { ...journal, gone: [...journal.gone, ...gone], going: [] };
}

/** A journal that is to go on, because the person has content or rights again that its certificate does not name. */
async function reopen(kernel: Kernel, journal: ErasureJournal): Promise<ErasureJournal> {
  const { certificate, ...open } = journal;
  if (!certificate) return journal;
  const { person } = journal;
  const isOver = await isRecorded(kernel, certificate);
  const isBack = isOver && (await kernel.team.find(person.name)) !== undefined;
  if (!isBack && (await listPersonSessions(kernel, person)).length === 0) return journal;
  const rights = isOver ? await countRights(kernel, person.name) : { tokens: 0, budgets: 0 };
  return { ...open, tokens: open.tokens + rights.tokens, budgets: open.budgets + rights.budgets };
}

async function buildCertificate(kernel: Kernel, journal: ErasureJournal): Promise<ErasureCertificate> {
  const { person, by, startedAt, tokens, budgets, gone, scrubbed } = journal;
  const mentioned = new Set(gone.flatMap((one) => one.blobs));
  const blobs: string[] = [];
  for (const digest of mentioned) if (!(await hasBlob(kernel, digest))) blobs.push(digest);
  return signCertificate({
    person: person.name,
    by,
    startedAt,
    finishedAt: Date.now(),
    removed: { ...sumFacts(gone), blobs: blobs.length, tokens, budgets },
    sessions: gone.map(({ erased }) => erased),
    blobs: blobs.toSorted(),
    sharedBlobs: mentioned.size - blobs.length,
    scrubbed,
  });
}

function sumFacts(facts: readonly SessionFacts[]) {
  const sum = (count: (one: SessionFacts) => number) => facts.reduce((total, one) => total + count(one), 0);
  return {
    sessions: facts.length,
    entries: sum(({ erased }) => erased.entries),
    memories: sum(({ memories }) => memories),
    tasks: sum(({ tasks }) => tasks),
  };
}

async function countRights(kernel: Kernel, name: string) {
  const [tokens, budgets] = [await kernel.team.tokens(name), await kernel.team.budgets(name)];
  return { tokens: tokens.length, budgets: budgets.filter(({ person }) => person === name).length };
}

const AUDIT_PAGE = 1_000;

/** True if the audit log knows a certificate. */
export async function isRecorded(kernel: Kernel, { digest }: ErasureCertificate): Promise<boolean> {
  for (let after = 0; ; ) {
    const page = await kernel.team.audit({ after, limit: AUDIT_PAGE });
    if (page.some(({ act, details }) => act === "person.erase" && details.certificate === digest))
      return true;
    after = page.at(-1)?.seq ?? after;
    if (page.length < AUDIT_PAGE) return false;
  }
}

/** The sessions of a person, that of the memories included. */
export async function listPersonSessions(
  kernel: Kernel,
  { prefixes, memoryAgent }: ErasedPerson,
): Promise<readonly SessionId[]> {
  const memories = `memory:${memoryAgent}`;
  const ids: SessionId[] = (await kernel.find(memories)) ? [memories] : [];
  for (const prefix of prefixes)
    for (let before: SessionId | undefined; ; ) {
      const page = await kernel.sessions({ prefix, limit: PAGE_SESSIONS, ...dropUndefined({ before }) });
      ids.push(...page.map(({ id }) => id));
      before = page.at(-1)?.id;
      if (page.length < PAGE_SESSIONS) break;
    }
  return ids;
}

/** True if the store has a blob. */
export async function hasBlob(kernel: Kernel, digest: string): Promise<boolean> {
  try {
    for await (const _ of kernel.blobs.stream(digest as Parameters<Kernel["blobs"]["stream"]>[0]))
      return true;
    return true;
  } catch (error) {
    if (isLonghaulError(error, "BLOB_NOT_FOUND")) return false;
    if (isLonghaulError(error, "BLOB_CORRUPT")) return true;
    throw error;
  }
}

async function countMemories(kernel: Kernel, agent: string): Promise<number> {
  const stored = kernel.memories(agent);
  return countPages((page) => stored.list({ ...page, validAt: "ever", trust: "rejected" }));
}

/** Counts a list that is read page by page. */
async function countPages<Id extends string>(
  read: (page: { readonly limit: number; readonly before?: Id }) => Promise<readonly { readonly id: Id }[]>,
): Promise<number> {
  let count = 0;
  for (let before: Id | undefined; ; ) {
    const page = await read({ limit: PAGE_SESSIONS, ...dropUndefined({ before }) });
    count += page.length;
    before = page.at(-1)?.id;
    if (page.length < PAGE_SESSIONS) return count;
  }
}

const UNENDED = TASK_STATES.filter((state) => !isTerminal(state));

async function refuseRunningTasks(kernel: Kernel, ids: readonly SessionId[]): Promise<void> {
  for (const session of ids)
    for (const { id: task, state } of await kernel.tasks.list({ session, states: UNENDED, limit: 1 }))
      throw new LonghaulError(
        "TASK_CONFLICT",
        `The task ${task} of this person is ${state}; end it first: longhaul task kill ${task}`,
        { details: { task } },
      );
}

/** The facts about a session that the certificate keeps, and the digests of the blobs that its entries name. */
async function readSession(
  kernel: Kernel,
  { memoryAgent }: ErasedPerson,
  id: SessionId,
): Promise<SessionFacts> {
  const hash = createHash("sha256");
  const blobs = new Set<string>();
  let [entries, firstAt, lastAt] = [0, 0, 0];
  await using session = await kernel.session(id);
  for (let from = 1; ; ) {
    const page = await session.read({ from, limit: PAGE_ENTRIES });
    for (const entry of page) {
      const text = JSON.stringify(entry);
      hash.update(`${text}\n`);
      for (const [, digest] of text.matchAll(DIGEST)) if (digest !== undefined) blobs.add(digest);
      entries++;
      firstAt ||= entry.at;
      lastAt = Math.max(lastAt, entry.at);
      from = entry.seq + 1;
    }
    if (page.length < PAGE_ENTRIES) break;
  }
  return {
    erased: { id: computeDigest(id), entries, firstAt, lastAt, digest: hash.digest("hex") },
    blobs: [...blobs],
    memories: id === `memory:${memoryAgent}` ? await countMemories(kernel, memoryAgent) : 0,
    tasks: await countPages((page) => kernel.tasks.list({ ...page, session: id })),
  };
}

/** Deletes a session with its children; undefined if it went with its parent already. */
async function deleteIfPresent(kernel: Kernel, id: SessionId): Promise<FreedCounts | undefined> {
  try {
    return await kernel.deleteSession(id, { recursive: true });
  } catch (error) {
    if (isLonghaulError(error, "SESSION_NOT_FOUND")) return undefined;
    throw error;
  }
}
