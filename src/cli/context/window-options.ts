import { POLICIES } from "../../kernel/faces/window.ts";
import type { Session, SessionWindow, SessionWindowOptions } from "../../kernel/index.ts";
import type { OptionSpecs, OptionValues } from "../cli-command.ts";
import { findNamed } from "../find-named.ts";
import { parseTokensOption } from "../terminal/tokens.ts";

/** Options that describe a model call: model, window, policy, system prompt and tools. */
export const WINDOW_OPTIONS = {
  model: { type: "string", value: "NAME", help: "model of the call (default: the session's last model)" },
  window: {
    type: "string",
    value: "TOKENS",
    help: "context window of the model, such as 128k (default: from the model catalog)",
  },
  policy: { type: "string", value: "NAME", help: "window policy (default: longhaul)" },
  system: {
    type: "string",
    value: "TOKENS",
    help: "size of the system prompt (default: as in the last call)",
  },
  tools: {
    type: "string",
    value: "TOKENS",
    help: "size of the tool definitions (default: as in the last call)",
  },
} as const satisfies OptionSpecs;

/** A session window with the model and policy in use. */
export interface DescribedWindow {
  readonly window: SessionWindow;
  /** Undefined if neither the session nor the command line names a model. */
  readonly model: string | undefined;
  readonly policy: string;
  /** The agent whose memories went with the session's last call. */
  readonly memoriesOf: string | undefined;
}

const MIN_WINDOW_TOKENS = 100;

/** Opens the window of a session for the model of the command line, else for the session's last model. */
export async function openDescribedWindow(
  session: Session,
  given: OptionValues<typeof WINDOW_OPTIONS>,
): Promise<DescribedWindow> {
  const policy = findNamed("policy", given.policy ?? "longhaul", POLICIES).name;
  const { model: lastModel, ...frame } = await session.lastCall();
  const model = given.model ?? lastModel;
  const options: SessionWindowOptions = {
    ...frame,
    model: model ?? "unknown",
    policy,
    ...(given.system !== undefined && { system: parseTokensOption("system", given.system) }),
    ...(given.tools !== undefined && { tools: parseTokensOption("tools", given.tools) }),
    ...(given.window !== undefined && {
      models: { "*": { window: parseTokensOption("window", given.window, MIN_WINDOW_TOKENS) } },
    }),
  };
  return { window: session.window(options), model, policy, memoriesOf: frame.memories };
}
