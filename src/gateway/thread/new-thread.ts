import type { Kernel, Session } from "../../index.ts";
import type { ThreadKind } from "../identity/choose-thread.ts";
import { getLastUserText } from "../identity/request-facts.ts";
import { findFreeChildId } from "../identity/session-ids.ts";
import { addArm, chooseOwnArm, findArm } from "./family-arm.ts";
import type { FamilyRoots } from "./family-roots.ts";
import { buildThreadMeta } from "./new-thread-meta.ts";
import { findClosestThread, findForkOrigin } from "./related-threads.ts";
import type { Thread } from "./thread.ts";
import type { ThreadLookup } from "./thread-lookup.ts";
import { encodeThreadMeta, type ThreadMeta } from "./thread-meta.ts";
import { buildTitle } from "./thread-title.ts";

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
  if (kind === "main") main?.demote();
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
