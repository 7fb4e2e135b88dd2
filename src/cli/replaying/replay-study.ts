import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type SessionId, textOfMessage } from "../../index.ts";
import {
  POLICIES,
  type Policy,
  PROTOCOL,
  type Protocol,
  type RecordedMessage,
  type ReplayedRequest,
  replay,
} from "../../window-entry.ts";
import { drawReplayPicture, type PictureCurve } from "./draw-replay-picture.ts";
import { type ComparedScore, type ReplayTotals, sumReplays } from "./replay-totals.ts";

/** Replays conversations one after another and collects their scores. */
export class ReplayStudy {
  readonly #policies: readonly Policy[];
  readonly #windows: readonly number[];
  readonly #folders: { readonly dump?: string; readonly picture?: string };
  readonly #scores = new Map<string, ComparedScore[]>();

  constructor(
    policies: readonly Policy[],
    windows: readonly number[],
    folders: { readonly dump?: string; readonly picture?: string },
  ) {
    this.#policies = policies;
    this.#windows = windows;
    this.#folders = folders;
  }

  /** Replays a conversation; `tokenPrice` is in US dollars per uncached input token. */
  async replay(
    id: SessionId,
    conversation: readonly RecordedMessage[],
    { tokenPrice, protocol = PROTOCOL }: { readonly tokenPrice?: number; readonly protocol?: Protocol } = {},
  ): Promise<void> {
    const none = POLICIES.find(({ name }) => name === "none") as Policy;
    const unbounded = replay(conversation, none, Number.POSITIVE_INFINITY, { protocol });
    for (const window of this.#windows) {
      const courses: PictureCurve[] = [];
      for (const policy of this.#policies) {
        const requests: ReplayedRequest[] = [];
        const keeps = this.#folders.dump !== undefined || this.#folders.picture !== undefined;
        const onRequest = (request: ReplayedRequest) => {
          if (keeps) requests.push(request);
        };
        const score = replay(conversation, policy, window, { protocol, onRequest });
        const key = `${policy.name}\n${window}`;
        this.#scores.set(key, [...(this.#scores.get(key) ?? []), { score, unbounded, tokenPrice }]);
        courses.push({ name: policy.name, points: requests });
        await this.#dump(id, policy.name, window, requests);
      }
      await this.#draw(id, window, courses);
    }
  }

  totals(): readonly ReplayTotals[] {
    return [...this.#scores].map(([key, compared]) => {
      const [policy = "", window] = key.split("\n");
      return sumReplays(policy, Number(window), compared);
    });
  }

  async #dump(
    id: SessionId,
    policy: string,
    window: number,
    requests: readonly ReplayedRequest[],
  ): Promise<void> {
    const { dump } = this.#folders;
    if (dump === undefined) return;
    await mkdir(dump, { recursive: true });
    const lines = requests.map(({ window: slots, ...facts }) => {
      const shown = slots.map(({ seq, isNote, message }) => ({
        entry: `${id}#${seq}`,
        ...(isNote && { isNote }),
        role: message.role,
        parts: message.parts,
        text: textOfMessage(message),
      }));
      return JSON.stringify({ ...facts, window: shown });
    });
    await writeFile(join(dump, `${toFileName(id)}.${policy}.${window}.jsonl`), `${lines.join("\n")}\n`);
  }

  async #draw(id: SessionId, window: number, courses: readonly PictureCurve[]): Promise<void> {
    const { picture } = this.#folders;
    if (picture === undefined) return;
    await mkdir(picture, { recursive: true });
    await writeFile(join(picture, `${toFileName(id)}.${window}.svg`), drawReplayPicture(id, courses));
  }
}

function toFileName(id: SessionId): string {
  return id.replace(/[^\w.-]+/g, "_").slice(0, 120);
}
