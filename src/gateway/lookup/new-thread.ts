import type { Kernel, MessageInput, Session, SessionId } from "../../index.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { findProject } from "../identity/find-project.ts";
import { getLastUserText, getMessageText } from "../identity/request-kind.ts";
import { findFreeChildId } from "../identity/session-ids.ts";
import type { Thread } from "../thread/thread.ts";
import {
  type ControlArm,
  chooseArm,
  encodeThreadMeta,
  parseThreadMeta,
  type ThreadMeta,
} from "../thread/thread-meta.ts";
import type { ThreadLookup } from "./decide-thread.ts";
import type { FamilyRoots } from "./family-roots.ts";
import { findClosestThread, findForkOrigin } from "./stored-threads.ts";

/** The family of a new conversation. */
interface NewThreadDeps {
  readonly kernel: Kernel;
  readonly roots: FamilyRoots;
  readonly threads: readonly Thread[];
  readonly main: Thread | undefined;
  readonly isExplicit: boolean;
  readonly controlShare: number;
  readonly toStoredTitle: (title: string | undefined) => string | undefined;
  /** Finds the conversation of another family that a text quotes. */
  readonly quoted: (words: string) => Promise<Thread | undefined>;
}

/** The session of a new conversation, and the conversation that it belongs to. */
interface NewThread {
  readonly session: Session;
  readonly meta: ThreadMeta;
  readonly main?: Thread | undefined;
}

/** Creates the session of a new conversation; undefined if another gateway has just begun one under the same id. */
export async function openNewThread(
  request: ThreadLookup,
  kind: ThreadKind,
  deps: NewThreadDeps,
): Promise<NewThread | undefined> {
  const { keys, firstKey, facts } = request;
  const plain = buildThreadMeta(request, kind);
  const whole = kind === "compaction" ? await findClosestThread(deps.threads, keys) : undefined;
  if (whole) {
    const meta = addArm(plain, whole.thread.meta.arm);
    const { session } = whole.thread;
    const id = await findFreeChildId(deps.kernel, session.id, kind, firstKey);
    const fork = await session.fork({ id, at: whole.last, meta: encodeThreadMeta(meta) });
    return { session: fork, meta, main: whole.thread };
  }
  if (!deps.isExplicit) return openRoot(request, plain, deps);
  const { main } = deps;
  const isRoot = kind === "main" && !main;
  const created = isRoot ? await createOnlyRoot(request, plain, deps) : undefined;
  if (created) return created;
  const root = await deps.roots.open();
  const meta = addArm(plain, await findArm(root, isRoot ? undefined : main, deps.controlShare));
  if (isRoot) {
    const { title = deps.toStoredTitle(buildTitle(facts.messages)) } = await root.record();
    await root.update({ meta: encodeThreadMeta(meta), ...(title !== undefined && { title }) });
    return { session: root, meta };
  }
  const id = await findFreeChildId(deps.kernel, root.id, kind, firstKey);
  const child = await root.child({ id, meta: encodeThreadMeta(meta) });
  if (kind === "main") main?.marks.demote();
  return { session: child, meta, main };
}

/**
 * Creates the root of an explicit id as the main conversation: a fork if its client has copied another one; undefined if
 * the root exists already.
 */
async function createOnlyRoot(
  request: ThreadLookup,
  plain: ThreadMeta,
  { kernel, roots, controlShare, toStoredTitle }: NewThreadDeps,
): Promise<NewThread | undefined> {
  const origin = await findForkOrigin(kernel, request);
  const title = origin?.title ?? toStoredTitle(buildTitle(request.facts.messages));
  let meta = plain;
  const session = await roots.createOnly((id) => {
    meta = addArm(plain, origin ? origin.meta.arm : chooseOwnArm(id, controlShare));
    return { meta: encodeThreadMeta(meta), ...(title !== undefined && { title }) };
  }, origin);
  return session && { session, meta };
}

/** A conversation without an explicit id is a root of its own. */
async function openRoot(
  { facts }: ThreadLookup,
  plain: ThreadMeta,
  { roots, main, controlShare, toStoredTitle, quoted }: NewThreadDeps,
): Promise<NewThread | undefined> {
  const id = await roots.findFreeId();
  const meta = addArm(plain, chooseOwnArm(id, controlShare));
  const session = await roots.create(id, meta, toStoredTitle(buildTitle(facts.messages)));
  const isElsewhere = meta.kind === "compaction" && !main;
  return (
    session && {
      session,
      meta,
      main: isElsewhere ? await quoted(getLastUserText(facts.messages)) : undefined,
    }
  );
}

/** The metadata of a new thread. Some agents state their project in the first messages instead of the system prompt. */
function buildThreadMeta(
  { shape, firstKey, caller, facts, opening }: ThreadLookup,
  kind: ThreadKind,
): ThreadMeta {
  const { agent } = caller;
  const project = facts.project ?? findProject(opening().map(getMessageText));
  return {
    kind,
    shape,
    firstKey,
    ...(facts.client !== undefined && { client: facts.client }),
    ...(agent !== undefined && { agent }),
    ...(project !== undefined && { project }),
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
    const title = own.length > MAX_CHARACTERS ? `${own.slice(0, MAX_CHARACTERS - 1)}…` : own;
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
