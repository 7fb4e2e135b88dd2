import type { Lines } from "../../log/lines.ts";
import type { Log } from "../../log/log.ts";
import type { NewSession } from "../../log/store/session-store.ts";
import { checkFields } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { checkSessionId, type Place, type SessionId } from "../../model/entry.ts";
import type { Json } from "../../model/json.ts";
import type { Lifetime } from "../../model/lifetime.ts";

/** Options of a child or fork. */
export interface DescendantOptions {
  readonly id?: SessionId;
  readonly title?: string;
  readonly meta?: { readonly [key: string]: Json };
  /** When the conversation began, if it was imported; now by default. */
  readonly createdAt?: number;
}

/** Expected kinds of the options of a new session. */
export const SESSION_FIELDS = { title: "text?", meta: "json?", createdAt: "number?" } as const;

/** A session to open or create. */
export type SessionSpec = Omit<NewSession, "createdAt"> & Partial<Pick<NewSession, "createdAt">>;

/** Opens a session of the same kernel, owned by a lifetime. */
export type OpenSession<Session> = (session: SessionSpec, lifetime: Lifetime) => Promise<Session>;

/** Parent, children and forks of a session. */
export class Family<Session> {
  readonly open: OpenSession<Session>;
  readonly #log: Log;
  readonly #lines: Lines;
  readonly #session: SessionId;

  constructor(log: Log, lines: Lines, session: SessionId, open: OpenSession<Session>) {
    this.#log = log;
    this.#lines = lines;
    this.#session = session;
    this.open = open;
  }

  /** Creates or opens a child. */
  async child(options: DescendantOptions, lifetime: Lifetime): Promise<Session> {
    const id = checkFields("options", options, SESSION_FIELDS).id ?? this.#log.ids.next();
    return this.open({ ...pickDescription(options), id, parent: this.#session, relation: "child" }, lifetime);
  }

  /** Creates a session whose line begins with this one's, up to a place or to the current end. */
  async fork(
    options: DescendantOptions,
    { at, keepsEdits }: { readonly at: Place | undefined; readonly keepsEdits: boolean },
    lifetime: Lifetime,
  ): Promise<Session> {
    checkFields("options", options, SESSION_FIELDS);
    const id = checkSessionId(options.id ?? this.#log.ids.next());
    const create: NewSession = {
      createdAt: this.#log.clock.now(),
      ...pickDescription(options),
      id,
      parent: this.#session,
      relation: "fork",
    };
    await this.#lines.forkInto(create, at, keepsEdits);
    return this.open(create, lifetime);
  }
}

function pickDescription(
  options: DescendantOptions,
): Partial<Pick<NewSession, "title" | "meta" | "createdAt">> {
  const { title, meta, createdAt } = options;
  return dropUndefined({ title, meta, createdAt });
}
