import type { Session } from "../index.ts";

const MAX_ENTRIES = 100;

/**
 * The model named by the latest usage report or assistant message; undefined if none of the latest entries names one.
 */
export async function findLastModel(session: Session): Promise<string | undefined> {
  const { entries } = await session.page({ kinds: ["usage", "message"], limit: MAX_ENTRIES });
  for (const entry of entries.toReversed()) {
    const model = entry.kind === "usage" ? entry.model : entry.kind === "message" ? entry.message.model : "";
    if (isModel(model)) return model;
  }
  return undefined;
}

/** Some tools write a word in angle brackets for messages that no model produced. */
function isModel(model: string | undefined): model is string {
  return model !== undefined && model !== "" && !model.startsWith("<");
}
