import type { Blobs } from "../../kernel/faces/log.ts";
import { LonghaulError, type Session, type SessionWindowOptions } from "../../kernel/index.ts";
import type { RetrievalOptions } from "./retrieval.ts";

/** Options for using a session with an AI SDK model. */
export interface LonghaulModelOptions extends Omit<SessionWindowOptions, "model" | "system" | "tools"> {
  /** The session of the conversation: messages go into its log, and its window is sent to the model. */
  readonly session: Session;
  /** Model id used for window size and prices; defaults to the id of the wrapped model. */
  readonly model?: string;
  /**
   * Owner of the history. "caller" (default): every call receives the whole conversation; if it differs from the log,
   * the line is rewound. "session": calls receive only new messages, and the rest comes from the log.
   */
  readonly history?: "caller" | "session";
  /** The kernel's blobs, for logged media that the caller does not send again. */
  readonly blobs?: Pick<Blobs, "bytes">;
  /** Recalls memory related to a new user message and inserts it before the message; off by default. */
  readonly retrieval?: RetrievalOptions;
}

/**
 * The window options among them. Nobody in an agent's loop can shorten a message, so oversized ones are clipped by
 * default.
 */
export function toWindowOptions({
  session: _,
  history: __,
  blobs: ___,
  model: ____,
  retrieval: _____,
  ...options
}: LonghaulModelOptions): Omit<SessionWindowOptions, "model"> {
  return { oversize: "clip", ...options };
}

/** Returns the options if they are valid, else throws ARGUMENT_INVALID. */
export function checkModelOptions(options: LonghaulModelOptions): LonghaulModelOptions {
  const { session, history = "caller" } = options ?? {};
  if (typeof session?.window !== "function")
    throw createInvalidError("session", session, "an open session of a kernel");
  if (history !== "caller" && history !== "session")
    throw createInvalidError("history", history, '"caller" or "session"');
  return options;
}

function createInvalidError(name: string, value: unknown, wanted: string): LonghaulError {
  return new LonghaulError(
    "ARGUMENT_INVALID",
    `${name} is ${JSON.stringify(value)}; it has to be ${wanted}.`,
    {
      details: { argument: name },
    },
  );
}
