import { setImmediate } from "node:timers/promises";
import { loadConversation } from "../../conversation/load-conversation.ts";
import { type Kernel, POLICIES, type ReplayScore, type Retention, replay } from "../../index.ts";
import type { PageAnswer } from "./answer.ts";
import { checkMethod, noSession, type PageQuestion, sessionArgument, wholeArgument } from "./asked.ts";
import { PageFault, wrongArgument } from "./page-fault.ts";

const WINDOW = { otherwise: 64_000, max: 10_000_000 };
/** A replay takes the processor from requests that pass through: longer conversations are for the command line. */
const MOST_MESSAGES = 2_000;

/** Replays one conversation at a time. */
export class Replays {
  readonly #kernel: Kernel;
  #isBusy = false;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** What a session would have cost and kept under each policy. */
  async page(asked: PageQuestion): Promise<PageAnswer> {
    checkMethod(asked, "GET", "HEAD");
    const id = sessionArgument(asked);
    const window = wholeArgument(asked, "window", WINDOW);
    const policies = policiesOf(asked.query.get("policy"));
    const found = await this.#kernel.find(id);
    if (!found) throw noSession(id);
    await this.#checkLength(id);
    if (this.#isBusy)
      throw new PageFault(429, "BUSY", "Another replay runs; try again in a moment.", { "retry-after": "2" });
    this.#isBusy = true;
    try {
      const conversation = await loadConversation(this.#kernel, id);
      const none = POLICIES.filter(({ name }) => name === "none");
      const [unbounded] = none.map((policy) => replay(conversation, policy, Number.POSITIVE_INFINITY));
      const scores: object[] = [];
      for (const policy of policies) {
        await setImmediate();
        if (asked.signal.aborted) break;
        scores.push({ policy: policy.name, ...scoreJson(replay(conversation, policy, window), unbounded) });
      }
      return { json: { session: id, window, messages: conversation.length, unbounded, policies: scores } };
    } finally {
      this.#isBusy = false;
    }
  }

  async #checkLength(id: string): Promise<void> {
    await using session = await this.#kernel.session(id);
    const [line] = await session.lines(1);
    const length = (line?.ranges ?? []).reduce((sum, { from, to }) => sum + Math.max(0, to - from + 1), 0);
    if (length <= MOST_MESSAGES) return;
    const message = `The session has ${length} entries, more than ${MOST_MESSAGES}; "longhaul replay" replays it.`;
    throw new PageFault(413, "SESSION_TOO_LONG", message);
  }
}

function policiesOf(names: string | null) {
  if (names === null) return POLICIES.filter(({ name }) => name !== "none");
  return names.split(",").map((name) => {
    const policy = POLICIES.find((one) => one.name === name.trim());
    if (policy) return policy;
    throw wrongArgument("policy", name, `one of ${POLICIES.map((one) => one.name).join(", ")}`);
  });
}

function scoreJson(score: ReplayScore, unbounded: ReplayScore | undefined): object {
  const { identifiers, lines, ...rest } = score;
  const share = ({ used, kept }: Retention) => (used === 0 ? 1 : kept / used);
  return {
    ...rest,
    costShare: score.cost / Math.max(1, unbounded?.cost ?? 1),
    identifiers: share(identifiers),
    lines: share(lines),
  };
}
