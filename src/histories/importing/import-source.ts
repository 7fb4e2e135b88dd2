import {
  type Json,
  type Kernel,
  LonghaulError,
  type MessageInput,
  type Session,
  type SessionId,
} from "../../kernel/index.ts";
import { SESSION_DELETED } from "../../model/audit.ts";
import { clipEnd } from "../../model/base/clip-end.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { buildTagPattern, WRAPPER_TAGS } from "../../model/message-tags.ts";
import type { HistoryPlace } from "../../model/session-origin.ts";
import type { FoundSource } from "../find-sources.ts";
import type { ImportSource } from "../port/format.ts";
import { isDamageError } from "../reading/damage-error.ts";
import { Input } from "../reading/input.ts";
import type { Item, ProblemItem, RecordItem, SessionItem } from "../reading/item.ts";
import type { ReadLimits } from "../reading/read-limits.ts";
import type { DatabaseCopies } from "../reading/source-database.ts";
import type { ConversationCopy, CopyRegister } from "./copies.ts";
import type { ImportOptions } from "./import-options.ts";
import { addCounts, NO_COUNTS, type SourceReport } from "./import-report.ts";
import { keepOriginals } from "./originals.ts";
import { SessionImport } from "./session-import.ts";
import type { SessionImportItem } from "./session-import-item.ts";
import {
  deriveSessionId,
  findSessionId,
  findSourcePath,
  listSourceSessions,
  nameIntake,
} from "./source-identity.ts";
import { isTracked, SourceTrust } from "./source-trust.ts";
import { OpenCalls } from "./tally.ts";

const MAX_CHARACTERS = 80;
const WRAPPER = new RegExp(`^\\s*<(${buildTagPattern(WRAPPER_TAGS, "title")})>`);

export interface SourceOptions {
  readonly isLive?: boolean;
  /** Also keep the bytes of the conversation's files. */
  readonly withOriginals?: boolean;
  readonly limits?: Partial<ReadLimits>;
  readonly signal?: AbortSignal;
  readonly databases?: DatabaseCopies;
  /** Knows the copies that longhaul wrote: their records are those of the conversation. */
  readonly copies?: CopyRegister;
  /** Tells where a history lies; by default, by the folders of this computer's agents. */
  readonly trust?: SourceTrust;
  readonly mayImportTree?: ImportOptions["mayImportTree"];
  /** Conversations to leave out. */
  readonly isDeleted?: ((source: ImportSource) => Promise<boolean>) | undefined;
  readonly onBytes?: (count: number) => void;
  readonly onMessage?: () => void;
  readonly onProblem?: (problem: ProblemItem) => void;
}

const BATCH_ITEMS = 500;
const BATCH_BYTES = 1024 * 1024;
const MAX_ACTS = 1_000;

/**
 * Returns a test of whether a conversation was deleted from the store, as the audit log has it at that moment, and has not
 * changed since; one that its agent went on with is new.
 */
export function createDeletionTest(kernel: Pick<Kernel, "find" | "team">) {
  const times = new Map<SessionId, number>();
  let after = 0;
  return async (source: ImportSource): Promise<boolean> => {
    for (let isMore = true; isMore; ) {
      const acts = await kernel.team.audit({ after, limit: MAX_ACTS });
      for (const { act, target, at } of acts) if (act === SESSION_DELETED) times.set(target, at);
      after = acts.at(-1)?.seq ?? after;
      isMore = acts.length === MAX_ACTS;
    }
    for (const id of listSourceSessions(source)) {
      if (await kernel.find(id)) return false;
      if (source.modifiedAt <= (times.get(id) ?? Number.NEGATIVE_INFINITY)) return true;
    }
    return false;
  };
}

/** Imports one source: new records go into its session and those of its sub-agents. */
export async function importSource(
  kernel: Kernel,
  found: FoundSource,
  options: SourceOptions = {},
): Promise<SourceReport> {
  const { trust = new SourceTrust() } = options;
  const place = await trust.place(found);
  const copy = await options.copies?.find(found.source);
  const original = copy && (await kernel.find(copy.session));
  const run = new SourceImport(kernel, {
    found: { ...found, place },
    own: await findSessionId(kernel, found.source),
    options,
    copied: copy && { copy, isThere: original !== undefined },
  });
  const bulkhead = kernel.maintenance.bulkhead("import");
  const item = `${found.source.format} ${found.source.path}`;
  let failure: unknown;
  const read = async () => {
    try {
      await run.read();
      return "done";
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      await run.close();
    }
  };
  try {
    const isOld = copy && !original && found.source.modifiedAt <= copy.until;
    if (isOld || (await options.isDeleted?.(found.source))) return run.report("forgotten");
    if (await isRefused(found, place, { ...options, trust })) return run.report("refused");
    if ((await bulkhead.run(item, read)) === "done") return run.report("done");
  } catch (error) {
    failure = error;
  }
  return run.report(options.signal?.aborted ? "stopped" : "failed", failure);
}

/** True for a history in a working tree that came with the repository, or that the person does not want. */
async function isRefused(
  { source: { path } }: FoundSource,
  place: HistoryPlace,
  { trust, mayImportTree }: Pick<SourceOptions, "mayImportTree"> & { readonly trust: SourceTrust },
): Promise<boolean> {
  if (place !== "working-tree" || !mayImportTree) return false;
  const tree = (await trust.findTree(path)) ?? path;
  return (await isTracked(path)) || !(await mayImportTree(path, tree));
}

/** Records on their way to one session. */
interface SessionLane {
  readonly child: string | undefined;
  facts: Omit<SessionItem, "type" | "child">;
  items: SessionImportItem[];
  sessionImport: SessionImport | undefined;
  /** The person's first request: the title if the tool has none. */
  firstRequest: string | undefined;
}

/** A source that longhaul wrote as a copy, and whether the conversation is still in the store. */
interface CopiedSource {
  readonly copy: ConversationCopy;
  readonly isThere: boolean;
}

/** A source with the place where it lies. */
interface PlacedSource extends FoundSource {
  readonly place: HistoryPlace;
}

interface SourceImportParts {
  readonly found: PlacedSource;
  readonly own: SessionId;
  readonly options: SourceOptions;
  readonly copied: CopiedSource | undefined;
}

class SourceImport {
  readonly #kernel: Kernel;
  readonly #found: PlacedSource;
  /** The id by which the source itself is known. */
  readonly #own: SessionId;
  readonly #options: SourceOptions;
  /** The file that the session was last imported from, if that is another one. */
  #otherPath: string | undefined;
  readonly #lanes = new Map<string | undefined, SessionLane>();
  readonly #openCalls = new OpenCalls();
  readonly #copied: CopiedSource | undefined;
  /** True once a record of the copy is later than the copying: all that follow are new. */
  #isPastCopy = false;
  #main: Session | undefined;
  /**
   * The last checkpoint that is not stored yet. It may be older than the stored records: these are then read again and
   * recognized.
   */
  #state: Json | undefined;
  #pendingItems = 0;
  #pendingBytes = 0;
  #bytesRead = 0;
  #copiedBytes = 0;
  #lost = 0;
  #damaged = 0;

  constructor(kernel: Kernel, { found, own, options, copied }: SourceImportParts) {
    this.#kernel = kernel;
    this.#found = found;
    this.#own = own;
    this.#options = options;
    this.#copied = copied;
  }

  async read(): Promise<void> {
    const { source, format, root } = this.#found;
    const { limits, signal, isLive, databases } = this.#options;
    const known = await this.#kernel.find(this.#session);
    const path = known && !this.#copied?.isThere ? findSourcePath(known) : undefined;
    if (path !== source.path) this.#otherPath = path;
    // Another file is read from its beginning, to tell whether it holds the same conversation.
    const isKnown = known !== undefined && this.#otherPath === undefined;
    const resume = isKnown ? (await this.#openImport(this.#lane(undefined))).state : undefined;
    const input = new Input({
      root,
      paths: source.paths,
      ...dropUndefined({ resume, limits, signal, databases, isLive }),
      onBytes: (count) => this.#countBytes(count),
    });
    try {
      for await (const item of format.read(source, input)) {
        signal?.throwIfAborted();
        await this.#handle(item);
      }
    } catch (error) {
      if (!isDamageError(error)) throw error;
      this.#reportProblem({
        type: "problem",
        path: source.path,
        severity: "lost",
        reason: describeError(error),
      });
    } finally {
      // Records before a failure are valid.
      if (!signal?.aborted) await this.#flush();
    }
    // A copy says nothing about the whole conversation, and its bytes would bring erased words back.
    if (this.#copied) return;
    for (const lane of this.#lanes.values()) await this.#finish(lane);
    const main = this.#lanes.get(undefined)?.sessionImport;
    if (this.#options.withOriginals && main) await keepOriginals(main.session, this.#found, input);
  }

  report(outcome: "done" | "forgotten" | "refused" | "stopped" | "failed", error?: unknown): SourceReport {
    const { source } = this.#found;
    const targets = [...this.#lanes.values()].flatMap(({ sessionImport: target }) => target ?? []);
    const sum = (of: "found" | "added") =>
      targets.map((target) => target[of]).reduce((total, counts) => addCounts(total, counts), NO_COUNTS);
    const children = [...this.#lanes.keys()].filter((child) => child !== undefined).length;
    const added = sum("added");
    const isNew = Object.values(added).some((count) => count !== 0);
    return {
      format: source.format,
      id: source.id,
      path: source.path,
      session: this.#session,
      sizeBytes: source.sizeBytes,
      status: outcome !== "done" ? outcome : isNew ? "imported" : "unchanged",
      found: { ...sum("found"), children },
      added,
      bytesRead: this.#bytesRead,
      copiedBytes: this.#copiedBytes,
      openCalls: this.#openCalls.count,
      lost: this.#lost,
      damaged: this.#damaged,
      ...(outcome === "failed" && { error: describeError(error) }),
    };
  }

  async close(): Promise<void> {
    for (const { sessionImport: target } of this.#lanes.values()) await target?.session.close();
    await this.#main?.close();
  }

  async #handle(item: Item): Promise<void> {
    switch (item.type) {
      case "problem":
        return this.#reportProblem(item);
      case "copy":
        this.#copiedBytes += item.bytes;
        return;
      case "session": {
        const lane = this.#lane(item.child);
        const { type: _, child: _child, ...facts } = item;
        lane.facts = { ...lane.facts, ...facts, meta: { ...lane.facts.meta, ...facts.meta } };
        return;
      }
      case "checkpoint":
        this.#state = item.state;
        return;
      default:
        if (this.#copied) {
          if (item.type !== "record" || !this.#isNew(item, this.#copied.copy)) return;
          const { parent: _, ...rest } = item;
          return this.#add(rest);
        }
        return this.#add(item);
    }
  }

  /** True for a record that the agent added to a copy. */
  #isNew({ at }: RecordItem, { until }: ConversationCopy): boolean {
    this.#isPastCopy ||= at !== undefined && at > until;
    return this.#isPastCopy;
  }

  async #add(item: SessionImportItem & { readonly child?: string }): Promise<void> {
    this.#lane(item.child).items.push(item);
    if (item.type === "record" && item.body.kind === "message") {
      this.#openCalls.addMessage(item.body.message);
      this.#lane(item.child).firstRequest ??= findFirstRequest(item.body.message);
      this.#options.onMessage?.();
    }
    if (++this.#pendingItems >= BATCH_ITEMS || this.#pendingBytes >= BATCH_BYTES) await this.#flush();
  }

  /** The session of the source: that of the conversation for a copy of one that is still there. */
  get #session(): SessionId {
    return this.#copied?.isThere ? this.#copied.copy.session : this.#own;
  }

  /** Flushes sub-agents first: the source's checkpoint must never be ahead of their records. */
  async #flush(): Promise<void> {
    const state = this.#state;
    this.#state = undefined;
    this.#pendingItems = 0;
    this.#pendingBytes = 0;
    const main = this.#lane(undefined);
    for (const lane of this.#lanes.values()) if (lane !== main) await this.#appendItems(lane);
    await this.#appendItems(main, state);
  }

  async #appendItems(lane: SessionLane, state?: Json): Promise<void> {
    if (lane.items.length === 0 && state === undefined) return;
    const items = lane.items;
    lane.items = [];
    const at = items.find((item) => item.type === "record" && item.at !== undefined);
    if (lane.facts.createdAt === undefined && at?.type === "record" && at.at !== undefined)
      lane.facts = { ...lane.facts, createdAt: at.at };
    await (await this.#openImport(lane)).appendItems(items, state);
  }

  async #finish(lane: SessionLane): Promise<void> {
    if (!lane.sessionImport) return;
    await lane.sessionImport.chooseLine();
    const { session } = lane.sessionImport;
    const record = await session.record();
    const { title = record.title === undefined ? lane.firstRequest : undefined, meta } = lane.facts;
    // The time of the last change tells later whether the store has all of the conversation.
    const source = lane.child === undefined ? { source: describeSource(this.#found) } : {};
    const nextMeta = { ...record.meta, ...meta, ...source };
    const isSame =
      (title === undefined || title === record.title) &&
      JSON.stringify(nextMeta) === JSON.stringify(record.meta ?? {});
    if (!isSame)
      await session.update((known) => ({
        meta: { ...known.meta, ...meta, ...source },
        ...dropUndefined({ title }),
      }));
  }

  async #openImport(lane: SessionLane): Promise<SessionImport> {
    if (lane.sessionImport) return lane.sessionImport;
    const { source } = this.#found;
    const id = this.#buildId(lane.child);
    const own = lane.child === undefined ? source.title : undefined;
    const { title = own ?? lane.firstRequest, createdAt, meta } = lane.facts;
    const options = dropUndefined({
      meta: { source: omitTime(describeSource(this.#found)), ...meta },
      title,
      createdAt: createdAt ?? source.modifiedAt,
    });
    const session = await this.#openSession(id, lane.child, options);
    // A copy has an intake of its own in the session of its conversation.
    const intake = nameIntake(lane.child === undefined ? this.#own : id);
    lane.sessionImport = await SessionImport.open(session, intake, source.format, {
      ...dropUndefined({ otherPath: this.#otherPath }),
      path: source.path,
      onProblem: (reason, severity) =>
        this.#reportProblem({ type: "problem", path: source.path, severity, reason }),
      onCopied: (bytes) => {
        this.#copiedBytes += bytes;
      },
    });
    return lane.sessionImport;
  }

  async #openSession(
    id: SessionId,
    child: string | undefined,
    options: { title?: string; createdAt: number; meta: { readonly [key: string]: Json } },
  ): Promise<Session> {
    const { source } = this.#found;
    if (await this.#kernel.find(id)) return this.#kernel.session(id);
    const parentId =
      child !== undefined
        ? this.#session
        : source.parent === undefined
          ? undefined
          : deriveSessionId({ format: source.format, id: source.parent });
    if (parentId === undefined || parentId === id) return this.#kernel.session(id, options);
    if (child !== undefined) await this.#openImport(this.#lane(undefined));
    else if (!(await this.#kernel.find(parentId))) return this.#kernel.session(id, options);
    this.#main ??= await this.#kernel.session(parentId);
    return this.#main.child({ ...options, id });
  }

  #buildId(child: string | undefined): SessionId {
    if (child === undefined) return this.#session;
    const { format } = this.#found.source;
    return deriveSessionId({ format, id: this.#own.slice(format.length + 1) }, child);
  }

  #lane(child: string | undefined): SessionLane {
    const known = this.#lanes.get(child);
    if (known) return known;
    const lane: SessionLane = {
      child,
      facts: {},
      items: [],
      sessionImport: undefined,
      firstRequest: undefined,
    };
    this.#lanes.set(child, lane);
    return lane;
  }

  #reportProblem(problem: ProblemItem): void {
    if (problem.severity === "lost") this.#lost++;
    else this.#damaged++;
    this.#options.onProblem?.(problem);
  }

  #countBytes(count: number): void {
    this.#bytesRead += count;
    this.#pendingBytes += count;
    this.#options.onBytes?.(count);
  }
}

function describeError(error: unknown): string {
  if (error instanceof LonghaulError) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Leaves the time out while the conversation is not imported completely. */
function omitTime({ modifiedAt: _, ...facts }: ReturnType<typeof describeSource>) {
  return facts;
}

/** The part of a source that its session keeps. */
function describeSource({ source: { format, id, path, cwd, modifiedAt }, place }: PlacedSource) {
  return dropUndefined({ format, id, path, cwd, modifiedAt, place });
}

/** Returns the first line of a person's request; undefined for messages that tools wrote in the person's name. */
function findFirstRequest(message: MessageInput): string | undefined {
  if (message.role !== "user") return undefined;
  const texts =
    message.text === undefined ? (message.parts ?? []) : [{ type: "text" as const, text: message.text }];
  for (const part of texts) {
    if (part.type !== "text") continue;
    const words = part.text.replace(WRAPPER, "").trim();
    // Leading tags and headings mark instructions and context from the tool; a bare command says nothing.
    if (words === "" || /^(?:[<#[{]|\/[\w:-]+$)/.test(words)) continue;
    const line = (words.split("\n", 1)[0] as string).replace(/<\/\w+>\s*$/, "").trim();
    return clipEnd(line.endsWith(":") ? words.replace(/\s+/g, " ") : line, MAX_CHARACTERS);
  }
  return undefined;
}
