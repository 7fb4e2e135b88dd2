import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type EntryId,
  isLonghaulError,
  type Json,
  type Kernel,
  type MessageInput,
  type Session,
  type SessionId,
  type SessionRecord,
} from "../../../kernel/index.ts";
import { clipEnd } from "../../../model/base/clip-end.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { toObject } from "../../../wire/fields.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import {
  buildRootId,
  type CallerIdentity,
  findFreeChildId,
  findOrdinal,
} from "../identity/conversation-keys.ts";
import { findProject } from "../identity/find-project.ts";
import { listPersonIds } from "../identity/person-ids.ts";
import { getLastUserText, getMessageText, isSameShape } from "../identity/request-kind.ts";
import {
  type ControlArm,
  chooseArm,
  copyShown,
  encodeThreadMeta,
  parseThreadMeta,
  type Thread,
  type ThreadMeta,
} from "../thread/thread.ts";
import {
  type ClosestThread,
  findClosestThread,
  findForkOrigin,
  findQuotedConversation,
  type ThreadLookup,
} from "./compare-threads.ts";

/** The surroundings of a new conversation. */
interface NewThreadDeps {
  readonly kernel: Kernel;
  /** The conversations that the request was compared with, most recently used first. */
  readonly threads: readonly Thread[];
  /** When the gateway was started, in milliseconds. */
  readonly startedAt: number;
  readonly controlShare: number;
  readonly toStoredTitle: (title: string | undefined) => string | undefined;
}

/** The session of a new conversation. */
interface NewThread {
  readonly session: Session;
  readonly meta: ThreadMeta;
}

/**
 * Creates the session of a new conversation; undefined if another gateway has just begun one under the same id. One that
 * repeats replies of another conversation keeps its memories, context and tools, which the provider has cached.
 */
export async function openNewThread(
  request: ThreadLookup,
  kind: ThreadKind,
  deps: NewThreadDeps,
): Promise<NewThread | undefined> {
  const closest = kind === "compaction" ? await findClosestThread(deps.threads, request.keys) : undefined;
  const repeated = await findRepeated(deps.kernel, request);
  const opened = await createThread(request, buildThreadMeta(request, kind, repeated?.meta), deps, closest);
  if (!opened || !repeated) return opened;
  await using origin = await deps.kernel.session(repeated.id);
  await copyShown(origin, opened.session);
  return opened;
}

/** The conversation of the same agent in which the latest reply of a request was given, wherever it has gone on since. */
async function findRepeated(kernel: Kernel, request: ThreadLookup) {
  for (const { session: id } of await kernel.places.find(request.places.findPaths(), MAX_NEWEST)) {
    const meta = parseThreadMeta((await kernel.find(id))?.meta);
    if (meta && isSameShape(meta.shape, request.shape)) return { id, meta };
  }
  return undefined;
}

async function createThread(
  request: ThreadLookup,
  plain: ThreadMeta,
  deps: NewThreadDeps,
  closest: ClosestThread | undefined,
): Promise<NewThread | undefined> {
  const { kernel, threads } = deps;
  const { firstKey, facts, caller } = request;
  const { kind } = plain;
  if (closest && kind === "compaction") {
    const { session } = closest.thread;
    const meta = { ...addArm(plain, closest.thread.meta.arm), main: session.id };
    const id = await findFreeChildId(kernel, session.id, kind, firstKey);
    return { session: await session.fork({ id, at: closest.last, meta: encodeThreadMeta(meta) }), meta };
  }
  if (caller.explicit === undefined) return openRoot(request, plain, deps);
  const main = findMain(threads);
  const isRoot = kind === "main" && !main;
  const known = await findNamedRoot(kernel, caller);
  if (isRoot && !known) return createNamedRoot(request, plain, deps);
  const root = await kernel.session(known ?? buildRootId(caller, "", 1));
  const meta = addArm(plain, await findArm(root, isRoot ? undefined : main, deps.controlShare));
  if (isRoot) {
    const named = deps.toStoredTitle(buildTitle(facts.messages));
    await root.update((known) => ({
      meta: { ...known.meta, ...encodeThreadMeta(meta) },
      ...dropUndefined({ title: known.title ?? named }),
    }));
    return { session: root, meta };
  }
  const id = await findFreeChildId(kernel, root.id, kind, firstKey);
  if (kind === "main") {
    const child = await root.child({ id, meta: encodeThreadMeta(meta) });
    await main?.marks.set({ kind: "aside", main: id });
    await root.update(({ meta: known }) => ({
      meta: { ...known, gateway: { ...toObject(known?.gateway), main: id } as Json },
    }));
    return { session: child, meta };
  }
  const own = { ...meta, main: kind === "title" ? root.id : (main?.session.id ?? root.id) };
  return { session: await root.child({ id, meta: encodeThreadMeta(own) }), meta: own };
}

/** The main conversation among threads, most recently used first. */
function findMain(threads: readonly Thread[]): Thread | undefined {
  return threads.find(({ kind }) => kind === "main");
}

/** The id of the session that a client's own id names, which may have a former id of its person. */
async function findNamedRoot(
  kernel: Pick<Kernel, "find">,
  caller: CallerIdentity,
): Promise<SessionId | undefined> {
  for (const person of listPersonIds(caller.principal)) {
    const id = buildRootId(caller, "", 1, person);
    if (await kernel.find(id)) return id;
  }
  return undefined;
}

/**
 * Creates the session that a client's own id names, as a fork if the client has copied another conversation; undefined
 * if another gateway has just begun it.
 */
async function createNamedRoot(
  request: ThreadLookup,
  plain: ThreadMeta,
  { kernel, controlShare, toStoredTitle }: NewThreadDeps,
): Promise<NewThread | undefined> {
  const id = buildRootId(request.caller, "", 1);
  const origin = await findForkOrigin(kernel, request);
  const title = origin?.title ?? toStoredTitle(buildTitle(request.facts.messages));
  const { arm, hasRecallTools } = origin?.meta ?? { arm: chooseOwnArm(id, controlShare) };
  const meta = addArm({ ...plain, ...dropUndefined({ hasRecallTools }) }, arm);
  const options = { meta: encodeThreadMeta(meta), ...dropUndefined({ title }) };
  if (origin) {
    await using trunk = await kernel.session(origin.session);
    const fork = trunk.fork({ id, at: origin.last, keepsEdits: true, ...options });
    await fork
      .then((forked) => copyShown(trunk, forked))
      .catch((error: unknown) => {
        // Another gateway has taken the id, or the origin has left the entry since: the conversation begins unrelated.
        const isTaken = isLonghaulError(error, "POSITION_CONFLICT") || isLonghaulError(error, "NOT_ON_LINE");
        if (!isTaken) throw error;
      });
  }
  const session = await kernel.session(id, options);
  if (isDeepStrictEqual((await session.record()).meta, options.meta)) return { session, meta };
  await session.close();
  return undefined;
}

/** A conversation without an id from its client is a separate root. */
async function openRoot(
  request: ThreadLookup,
  plain: ThreadMeta,
  deps: NewThreadDeps,
): Promise<NewThread | undefined> {
  const { kernel, controlShare, toStoredTitle } = deps;
  const { facts, caller } = request;
  const id = await findFreeId(request, deps);
  const isElsewhere = plain.kind === "compaction" && !findMain(deps.threads);
  const main = isElsewhere
    ? await findQuotedConversation(kernel, caller, getLastUserText(facts.messages))
    : undefined;
  const meta = addArm({ ...plain, ...dropUndefined({ main }) }, chooseOwnArm(id, controlShare));
  const title = toStoredTitle(buildTitle(facts.messages));
  const claim = randomUUID();
  const options = { meta: encodeThreadMeta(meta, claim), ...dropUndefined({ title }) };
  const session = await kernel.session(id, options);
  const stored = await session.record();
  if ((stored.meta?.gateway as { readonly claim?: unknown } | undefined)?.claim !== claim) {
    // One that was begun and never filled is taken over; any other belongs to the gateway that was faster.
    if (!(await isAbandoned(stored, deps))) {
      await session.close();
      return undefined;
    }
    await session.update((known) => ({ ...options, meta: { ...known.meta, ...options.meta } }));
  }
  return { session, meta };
}

const MAX_NEWEST = 100;

/**
 * The id of the next conversation with this first message, which people begin with again and again: after the newest one.
 * Ids of deleted conversations are free again.
 */
async function findFreeId(request: ThreadLookup, deps: NewThreadDeps): Promise<SessionId> {
  const { kernel } = deps;
  const { caller, firstKey } = request;
  const first = buildRootId(caller, firstKey, 1);
  let ordinal = 1;
  for (const { session } of await kernel.places.find(request.places.findOpenings(), MAX_NEWEST)) {
    ordinal = Math.max(ordinal, findOrdinal(session, first));
  }
  for (; ; ordinal++) {
    const id = buildRootId(caller, firstKey, ordinal);
    const known = await kernel.find(id);
    if (!known || (await isAbandoned(known, deps))) return id;
  }
}

/**
 * True for a session that was begun before this gateway and has no entry: the gateway that began it was killed. In a
 * store that gateways share, another one may be about to fill it.
 */
async function isAbandoned(
  { id, createdAt, meta }: SessionRecord,
  { kernel, startedAt }: NewThreadDeps,
): Promise<boolean> {
  if (createdAt >= startedAt || kernel.maintenance.sharedStates || !parseThreadMeta(meta)) return false;
  return (await kernel.head(id)).seq === 0;
}

/** The metadata of a new thread. Some agents state their project in the first messages instead of the system prompt. */
function buildThreadMeta(
  { shape, firstKey, caller, facts, opening }: ThreadLookup,
  kind: ThreadKind,
  { hasRecallTools }: Partial<ThreadMeta> = {},
): ThreadMeta {
  const { agent } = caller;
  const project = facts.project ?? findProject(opening().map(getMessageText));
  return {
    kind,
    shape,
    firstKey,
    ...dropUndefined({ client: facts.client, agent, project, hasRecallTools }),
  };
}

/**
 * The arm of a conversation under a root: that of its main conversation, or that of the root if it has begun; else one
 * of its own. A conversation that began without an arm gets none later.
 */
async function findArm(
  root: Session,
  main: Thread | undefined,
  controlShare: number,
): Promise<ControlArm | undefined> {
  if (main) return main.meta.arm;
  const known = parseThreadMeta((await root.record()).meta);
  if (known) return known.arm;
  return chooseOwnArm(root.id, controlShare);
}

/** The arm of a new conversation. */
function chooseOwnArm(session: SessionId, controlShare: number): ControlArm | undefined {
  return controlShare > 0 ? chooseArm(session, controlShare) : undefined;
}

function addArm(meta: ThreadMeta, arm: ControlArm | undefined): ThreadMeta {
  return arm === undefined ? meta : { ...meta, arm };
}

const MAX_CHARACTERS = 80;
const MAX_READ = 20_000;

/** Beginnings of the messages by which clients carry a summary into a new conversation. */
const CARRIED =
  /^(?:This session is being continued from a previous conversation|Another language model started to solve|The conversation history before this point was compacted|Here is a summary of (?:our|the) (?:previous )?conversation)/i;

/**
 * A title for a conversation: the beginning of the first user message, without the client's additions. A conversation
 * that is joined in the middle begins with a summary, so its title is the next message of the user.
 */
export function buildTitle(list: readonly MessageInput[]): string | undefined {
  let carried: string | undefined;
  for (const { role, text, parts = [] } of list) {
    if (role !== "user") continue;
    const texts = [text ?? "", ...parts.flatMap((part) => (part.type === "text" ? [part.text] : []))];
    const own = texts.map(removeTags).find((words) => words !== "" && !words.startsWith("<"));
    if (own === undefined) continue;
    const title = clipEnd(own, MAX_CHARACTERS);
    if (!CARRIED.test(own)) return title;
    carried ??= title;
  }
  return carried;
}

/** Maximum number of distinct unclosed tags to search for. */
const MAX_UNCLOSED = 64;

/** Removes tagged elements, which clients add themselves. */
function removeTags(text: string): string {
  const read = text.slice(0, MAX_READ);
  const lower = read.toLowerCase();
  const unclosed = new Set<string>();
  const opening = /<([a-z][\w-]{0,63})(?![\w-])[^<>]*>/gi;
  let kept = "";
  let at = 0;
  for (let tag = opening.exec(read); tag && unclosed.size < MAX_UNCLOSED; tag = opening.exec(read)) {
    const close = `</${tag[1]?.toLowerCase()}>`;
    const end = unclosed.has(close) ? -1 : lower.indexOf(close, opening.lastIndex);
    if (end < 0) unclosed.add(close);
    else {
      kept += `${read.slice(at, tag.index)} `;
      at = end + close.length;
      opening.lastIndex = at;
    }
  }
  return (kept + read.slice(at)).replace(/\s+/g, " ").trim();
}

/** Concurrent forks of the same thread take other ids. */
const MAX_TRIES = 50;

/** Forks a thread's session at an entry, and returns it with the metadata for its own thread. */
export async function forkThread(
  kernel: Pick<Kernel, "find">,
  { session, conversation, meta }: Thread,
  at: EntryId,
): Promise<{ readonly session: Session; readonly meta: ThreadMeta }> {
  const own: ThreadMeta = { ...meta, kind: "agent" };
  for (let tries = 1; ; tries++) {
    const id = await findFreeChildId(kernel, session.id, own.kind, own.firstKey);
    try {
      const forked = await conversation.runInTurn(async () => {
        await conversation.ensureOnLine(at);
        return session.fork({ id, at, keepsEdits: true, meta: encodeThreadMeta(own) });
      });
      await copyShown(session, forked);
      return { session: forked, meta: own };
    } catch (error) {
      const isTaken = isLonghaulError(error, "POSITION_CONFLICT") || isLonghaulError(error, "NOT_ON_LINE");
      if (!isTaken || tries >= MAX_TRIES) throw error;
    }
  }
}
