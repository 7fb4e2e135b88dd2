import { createHash } from "node:crypto";
import { isLonghaulError, type Kernel, LonghaulError, type SessionId } from "../../kernel/index.ts";
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

/** Counts the content that `erasePerson` would erase. */
async function countPersonContent(kernel: Kernel, person: ErasedPerson): Promise<ErasedCounts> {
  const ids = await listPersonSessions(kernel, person);
  const blobs = new Set<string>();
  let entries = 0;
  for (const id of ids) {
    const session = await readSession(kernel, id);
    entries += session.erased.entries;
    for (const digest of session.blobs) blobs.add(digest);
  }
  return { ...(await countRecords(kernel, person, ids)), sessions: ids.length, entries, blobs: blobs.size };
}

/** Counts the content of a person; throws PERSON_NOT_FOUND if there is neither the person nor any content. */
export async function requireErasable(kernel: Kernel, person: ErasedPerson): Promise<ErasedCounts> {
  const counts = await countPersonContent(kernel, person);
  const isKnown = (await kernel.team.find(person.name)) !== undefined;
  if (isKnown || counts.sessions > 0 || counts.budgets > 0) return counts;
  throw new LonghaulError(
    "PERSON_NOT_FOUND",
    `There is no person ${JSON.stringify(person.name)}, and no conversation of one; "longhaul token list" lists people.`,
    { details: { person: person.name } },
  );
}

/**
 * Erases a person: revokes the tokens, then deletes conversations, memories, tasks, and blobs that nobody else refers
 * to, with their entries in the index; then removes tokens and budgets. The audit log keeps the certificate's digest.
 * Throws TASK_CONFLICT while a task of the person runs.
 */
export async function erasePerson(
  kernel: Kernel,
  person: ErasedPerson,
  { by }: { readonly by: string },
): Promise<ErasureCertificate> {
  const startedAt = Date.now();
  const { name } = person;
  await refuseRunningTasks(kernel, await listPersonSessions(kernel, person));
  if (await kernel.team.find(name)) await kernel.team.revoke(name, { by });
  const sessions: ErasedSession[] = [];
  const mentioned = new Set<string>();
  let counts = { memories: 0, tasks: 0 };
  let scrubbed = true;
  const { tokens, budgets } = await countRecords(kernel, person, []);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const ids = await listPersonSessions(kernel, person);
    if (ids.length === 0) break;
    const { memories, tasks } = await countRecords(kernel, person, ids);
    counts = { memories: counts.memories + memories, tasks: counts.tasks + tasks };
    for (const id of ids) {
      const { erased, blobs } = await readSession(kernel, id);
      sessions.push(erased);
      for (const digest of blobs) mentioned.add(digest);
    }
    for (const id of ids) scrubbed = (await deleteIfPresent(kernel, id)) && scrubbed;
  }
  const blobs: string[] = [];
  for (const digest of mentioned) if (!(await hasBlob(kernel, digest))) blobs.push(digest);
  const certificate = signCertificate({
    person: name,
    by,
    startedAt,
    finishedAt: Date.now(),
    removed: {
      ...counts,
      sessions: sessions.length,
      entries: sessions.reduce((sum, { entries }) => sum + entries, 0),
      blobs: blobs.length,
      tokens,
      budgets,
    },
    sessions,
    blobs: blobs.toSorted(),
    sharedBlobs: mentioned.size - blobs.length,
    scrubbed,
  });
  const details = { certificate: certificate.digest, ...certificate.removed };
  await kernel.team.remove(name, { by, details });
  return certificate;
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

async function countRecords(kernel: Kernel, { name, memoryAgent }: ErasedPerson, ids: readonly SessionId[]) {
  const own = new Set(ids);
  const [tokens, budgets] = [await kernel.team.tokens(name), await kernel.team.budgets(name)];
  const stored = kernel.memories(memoryAgent);
  const memories = own.has(`memory:${memoryAgent}`)
    ? await countPages((page) => stored.list({ ...page, validAt: "ever", trust: "rejected" }))
    : 0;
  let tasks = 0;
  for (const session of own) tasks += await countPages((page) => kernel.tasks.list({ ...page, session }));
  return {
    memories,
    tasks,
    tokens: tokens.length,
    budgets: budgets.filter(({ person }) => person === name).length,
  };
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
  id: SessionId,
): Promise<{ readonly erased: ErasedSession; readonly blobs: ReadonlySet<string> }> {
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
  return { erased: { id: computeDigest(id), entries, firstAt, lastAt, digest: hash.digest("hex") }, blobs };
}

/** Deletes a session with its children, unless it went with its parent already; true if no old page is left. */
async function deleteIfPresent(kernel: Kernel, id: SessionId): Promise<boolean> {
  try {
    return (await kernel.deleteSession(id, { recursive: true })).scrubbed;
  } catch (error) {
    if (isLonghaulError(error, "SESSION_NOT_FOUND")) return true;
    throw error;
  }
}
