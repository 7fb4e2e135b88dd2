import type { Page, PageOptions } from "../../log/view/page.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { chooseStartFactor } from "../../window/tokens/start-factor.ts";
import { readFrameTokens } from "../../window/usage/usage-meta.ts";

/** The latest model call of a session, as its log describes it. */
export interface LastCall {
  /** Undefined if none of the latest entries names a model. */
  readonly model?: string;
  /** Tokens of system prompt and tools, as window options take them; undefined if no report tells them. */
  readonly system?: number;
  readonly tools?: number;
  /** The agent whose memories went with it. */
  readonly memories?: string;
}

/** The part of a session that finding its latest call needs. */
interface PagedSession {
  page(options: PageOptions): Promise<Page>;
}

/** Model of a session that names none. */
export const UNKNOWN_MODEL = "unknown";

const MAX_ENTRIES = 100;

/** Finds the model and the frame of the latest call, so that every caller opens the same window for the next one. */
export async function findLastCall(session: PagedSession): Promise<LastCall> {
  const { entries } = await session.page({ kinds: ["usage", "message"], limit: MAX_ENTRIES });
  const newest = entries.toReversed();
  const models = newest.flatMap((entry) => {
    const model = entry.kind === "usage" ? entry.model : entry.kind === "message" ? entry.message.model : "";
    return isModel(model) ? [model] : [];
  });
  const frames = newest.flatMap((entry) =>
    entry.kind === "usage" ? [{ model: entry.model ?? "", frame: readFrameTokens(entry) }] : [],
  );
  const [model] = models;
  const { frame, model: countedBy = "" } = frames.find((one) => one.frame) ?? {};
  const factor = chooseStartFactor(countedBy);
  return {
    ...dropUndefined({ model }),
    ...(frame && { system: frame.system * factor, tools: frame.tools * factor }),
    ...(frame?.memories && { memories: frame.memories.agent }),
  };
}

/** Some tools write a word in angle brackets for messages that no model produced. */
function isModel(model: string | undefined): model is string {
  return model !== undefined && model !== "" && !model.startsWith("<");
}
