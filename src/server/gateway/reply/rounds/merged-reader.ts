import { computeReportCost, type ModelFactsLookup } from "../../../../kernel/faces/window.ts";
import type { Kernel, MessageInput, Usage } from "../../../../kernel/index.ts";
import type { ReplyReader, Wire, WireEvent, WireObject } from "../../../../wire/wire.ts";

/**
 * A reader of the reply that the client sees for several rounds. Its usage is that of the first round sent with the
 * current window, with the output tokens and cost of all rounds.
 */
export function createMergedReader(
  api: Wire,
  kernel: Pick<Kernel, "modelFacts">,
  rounds: { readonly usages: readonly WireObject[]; readonly windowRound: number },
): ReplyReader {
  const reader = api.createReader();
  const get = (): Usage | undefined => {
    const { usages, windowRound } = rounds;
    if (usages.length <= 1) return reader.usage;
    const reports = usages.map((usage) => api.parseUsage(usage));
    return sumUsage(reports, windowRound, reader.model, (model) => kernel.modelFacts(model));
  };
  return new MergedReader(reader, get);
}

/** A reader whose usage is computed elsewhere. */
class MergedReader implements ReplyReader {
  readonly #reader: ReplyReader;
  readonly #getUsage: () => Usage | undefined;

  constructor(reader: ReplyReader, getUsage: () => Usage | undefined) {
    this.#reader = reader;
    this.#getUsage = getUsage;
  }

  take(event: WireEvent): void {
    this.#reader.take(event);
  }

  takeWhole(body: string): void {
    this.#reader.takeWhole(body);
  }

  message(): MessageInput | undefined {
    return this.#reader.message();
  }

  items(): readonly WireObject[] {
    return this.#reader.items?.() ?? [];
  }

  get usage(): Usage | undefined {
    return this.#getUsage();
  }

  get isComplete(): boolean {
    return this.#reader.isComplete;
  }

  get hasBegun(): boolean {
    return this.#reader.hasBegun;
  }

  get outputBytes(): number {
    return this.#reader.outputBytes;
  }

  get failure(): ReplyReader["failure"] {
    return this.#reader.failure;
  }

  get stopReason(): string | undefined {
    return this.#reader.stopReason;
  }

  get responseId(): string | undefined {
    return this.#reader.responseId;
  }

  get model(): string | undefined {
    return this.#reader.model;
  }

  get diagnosis(): WireObject | undefined {
    return this.#reader.diagnosis;
  }
}

function sumUsage(
  rounds: readonly (Usage | undefined)[],
  windowRound: number,
  model: string | undefined,
  factsOf: ModelFactsLookup,
): Usage | undefined {
  const usages = rounds.filter((usage) => usage !== undefined);
  const first = rounds[windowRound] ?? usages[0];
  if (!first) return undefined;
  const output = usages.map(({ outputTokens }) => outputTokens ?? 0);
  const costs = usages.map((usage) =>
    computeReportCost({ usage, ...(model !== undefined && { model }) }, factsOf),
  );
  const isPriced = costs.every((cost) => cost !== undefined);
  return {
    ...first,
    outputTokens: output.reduce((sum, tokens) => sum + tokens, 0),
    ...(isPriced && { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
  };
}
