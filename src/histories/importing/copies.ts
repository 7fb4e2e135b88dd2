import type { Kernel, SessionId } from "../../kernel/index.ts";
import { SESSION_COPIED } from "../../model/audit.ts";
import { toNumber, toText } from "../../wire/fields.ts";
import { findSources } from "../find-sources.ts";
import { FORMATS } from "../formats.ts";
import type { ImportSource } from "../port/format.ts";
import { listSourceSessions } from "./source-identity.ts";

/** A copy of a conversation that longhaul wrote for an agent, or into a file. */
export interface ConversationCopy {
  /** The conversation that it is a copy of; it may have been deleted since. */
  readonly session: SessionId;
  /** The copy as an import finds it. */
  readonly format: string;
  readonly id: string;
  readonly path: string;
  /** Records of the copy up to this time are the conversation's own; later ones are its continuation. */
  readonly until: number;
}

const MAX_ACTS = 1_000;
/** Messages of a copy may be dated some seconds ahead, one millisecond each. */
const AHEAD_MS = 5_000;

/**
 * The copies that longhaul wrote, as the audit log has them: most agents keep no foreign field in their files, and the
 * record has to outlive the conversation. Imports, `forget` and erasures look here for everything that has to follow.
 */
export class CopyRegister {
  readonly #kernel: Pick<Kernel, "team">;
  readonly #copies = new Map<string, ConversationCopy>();
  #after = 0;

  constructor(kernel: Pick<Kernel, "team">) {
    this.#kernel = kernel;
  }

  /** The copy that a source is; undefined if longhaul did not write it. */
  async find({ format, id }: Pick<ImportSource, "format" | "id">): Promise<ConversationCopy | undefined> {
    await this.#read();
    return this.#copies.get(buildKey(format, id));
  }

  /** The copies of a conversation, oldest first. */
  async of(session: SessionId): Promise<readonly ConversationCopy[]> {
    await this.#read();
    return [...this.#copies.values()].filter((copy) => copy.session === session);
  }

  async #read(): Promise<void> {
    for (let isMore = true; isMore; ) {
      const acts = await this.#kernel.team.audit({ after: this.#after, limit: MAX_ACTS });
      for (const { act, target, details } of acts) {
        const [format, id, path] = [toText(details.format), toText(details.id), toText(details.path)];
        if (act !== SESSION_COPIED || format === undefined || id === undefined || path === undefined)
          continue;
        const until = toNumber(details.until) ?? 0;
        this.#copies.set(buildKey(format, id), { session: target, format, id, path, until });
      }
      this.#after = acts.at(-1)?.seq ?? this.#after;
      isMore = acts.length === MAX_ACTS;
    }
  }
}

/** Records files that were just written as copies of a conversation, under the ids by which an import finds them. */
export async function recordCopies(
  kernel: Pick<Kernel, "team">,
  session: SessionId,
  paths: readonly string[],
  { by, now = Date.now() }: { readonly by: string; readonly now?: number },
): Promise<void> {
  for await (const found of findSources(paths, FORMATS)) {
    if (!("source" in found)) continue;
    const { format, id, path } = found.source;
    // The conversation itself, back in the place of its agent.
    if (listSourceSessions(found.source).includes(session)) continue;
    const details = { format, id, path, until: now + AHEAD_MS };
    await kernel.team.record({ actor: by, act: SESSION_COPIED, target: session, details });
  }
}

function buildKey(format: string, id: string): string {
  return `${format}\n${id}`;
}
