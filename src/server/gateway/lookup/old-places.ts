import { setImmediate } from "node:timers/promises";
import { Conversation } from "../../../kernel/calls/conversation.ts";
import { isLonghaulError, type Kernel, type SessionId } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { getConversationId, getPerson } from "../../../model/session-key.ts";
import { WIRES } from "../../../wire/wires.ts";
import { getMessageKey } from "../identity/canonical-key.ts";
import {
  buildOpeningPlace,
  buildPathPlaces,
  buildReplyPlace,
  buildRootId,
  buildUnnamedScope,
  type CallerIdentity,
  isUnnamed,
} from "../identity/conversation-keys.ts";
import { listPersonIds } from "../identity/person-ids.ts";
import { parseThreadMeta } from "../thread/thread.ts";

const PAGE_SESSIONS = 100;
/** Number of the newest conversations with the same beginning that get their places before they are looked up. */
const MAX_FAMILY = 100;
/** Families that were looked up while the store was being filled. */
const MAX_FAMILIES = 10_000;
const PLACES_PER_STEP = 500;

/** Progress with the conversations of a store that was written by an earlier version. */
interface FillProgress {
  /** Conversations that have their places. */
  readonly filled: number;
  readonly isDone: boolean;
}

/**
 * Gives conversations of earlier versions their places, in the background. It can be stopped at any time and continues
 * with those that have none. Until it is done, the conversations that a request may continue are filled first.
 */
export class OldPlaces {
  readonly #kernel: Kernel;
  readonly #report: (progress: FillProgress) => void;
  readonly #families = new BoundedMap<string, true>({ max: MAX_FAMILIES });
  #filled = 0;
  #isDone = false;
  #isClosed = false;
  #running: Promise<void> | undefined;

  /** `report` is called after each hundred conversations and in the end. */
  constructor(kernel: Kernel, report: (progress: FillProgress) => void) {
    this.#kernel = kernel;
    this.#report = report;
  }

  /** Begins to fill; failures go to `onError`, and the next start of a gateway tries again. */
  start(onError: (error: unknown) => void): void {
    this.#running = this.#fill().catch((error) => {
      if (!this.#isClosed) onError(error);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  /** Fills the conversations that a request with this first message may continue, unless all are filled. */
  async fillFamily(caller: CallerIdentity, firstKey: string): Promise<void> {
    if (this.#isDone) return;
    for (const person of listPersonIds(caller.principal)) {
      const prefix = buildRootId(caller, firstKey, 1, person);
      if (this.#families.has(prefix)) continue;
      for (const { id } of await this.#kernel.sessions({ prefix, limit: MAX_FAMILY }))
        if ((await this.#kernel.places.ofSession(id)).length === 0) await fillSession(this.#kernel, id);
      this.#families.set(prefix, true);
    }
  }

  async #fill(): Promise<void> {
    const bulkhead = this.#kernel.maintenance.bulkhead("places");
    for (let after = 0; ; ) {
      const page = await this.#kernel.places.listUnplaced({ after, limit: PAGE_SESSIONS });
      const before = this.#filled;
      for (const { session, place } of page) {
        if (this.#isClosed) return;
        if (await bulkhead.run(session, () => fillSession(this.#kernel, session))) this.#filled++;
        after = place;
        await setImmediate();
      }
      if (page.length < PAGE_SESSIONS) break;
      if (this.#filled > before) this.#report({ filled: this.#filled, isDone: false });
    }
    this.#isDone = true;
    this.#families.clear();
    if (this.#filled > 0) this.#report({ filled: this.#filled, isDone: true });
  }
}

/** Writes the places of a conversation; false if it has none. */
async function fillSession(kernel: Kernel, id: SessionId): Promise<boolean> {
  try {
    const meta = parseThreadMeta((await kernel.find(id))?.meta);
    if (!meta) return false;
    await using session = await kernel.session(id);
    const line = await new Conversation(session, getMessageKey).readLine();
    const first = line.messages.find(({ seq }) => seq !== undefined);
    if (!first) return false;
    const scopes = listScopes(id);
    const opening = line.keys[0] as string;
    // The key without the context that the client added for one request, which the messages do not show.
    const keys = [meta.firstKey, ...line.keys.slice(1)];
    const found = scopes.flatMap((scope) => [
      ...[...new Set([meta.firstKey, opening])].map((key) => ({
        key: buildOpeningPlace(scope, key),
        seq: first.seq as number,
      })),
      ...line.messages.flatMap(({ role, key, seq }) =>
        role === "assistant" && seq !== undefined ? [{ key: buildReplyPlace(scope, key), seq }] : [],
      ),
    ]);
    const person = getPerson(id);
    for (const scope of [...scopes, person]) {
      const paths = buildPathPlaces(scope, keys);
      for (const [index, { role, seq }] of line.messages.entries())
        if (role === "assistant" && seq !== undefined) found.push({ key: paths[index] as string, seq });
    }
    for (let from = 0; from < found.length; from += PLACES_PER_STEP)
      await kernel.places.put(
        found.slice(from, from + PLACES_PER_STEP).map((place) => ({ ...place, session: id })),
      );
    return true;
  } catch (error) {
    // Deleted meanwhile, or too long to be compared.
    if (isLonghaulError(error)) return false;
    throw error;
  }
}

/** The owners of the places of a session: the API of an unnamed conversation is not stored, so any may be meant. */
function listScopes(id: SessionId): readonly string[] {
  const root = getConversationId(id);
  const person = getPerson(root);
  return isUnnamed(root) ? [root, ...WIRES.map(({ name }) => buildUnnamedScope(person, name))] : [root];
}
