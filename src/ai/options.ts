import { type Blobs, LonghaulError, type Session, type SessionWindowOptions } from "../index.ts";
import type { RetrievalOptions } from "./retrieval.ts";

/** How a session and the calls of an AI SDK model go together. */
export interface LonghaulModelOptions extends Omit<SessionWindowOptions, "model" | "system" | "tools"> {
  /** The conversation. What is said goes into its log, and its window is what the model is sent. */
  readonly session: Session;
  /** Whose window and prices hold; the id of the model by default. */
  readonly model?: string;
  /**
   * Who keeps the history. "caller" (default): every call is given the whole conversation; where it differs from the log,
   * the line is rewound. "session": calls are given what is new, and the rest comes from the log.
   */
  readonly history?: "caller" | "session";
  /** The kernel's blobs, for media of the log that the caller does not send again. */
  readonly blobs?: Pick<Blobs, "bytes">;
  /** Looks in memory for what a new message of the user refers to, and puts it before the message; off by default. */
  readonly retrieval?: RetrievalOptions;
}

/** The options of a session's window among them. An agent's loop has nobody to shorten a message, so ours does. */
export function windowOptionsOf({
  session: _,
  history: __,
  blobs: ___,
  model: ____,
  retrieval: _____,
  ...options
}: LonghaulModelOptions): Omit<SessionWindowOptions, "model"> {
  return { oversize: "clip", ...options };
}

/** Returns the options if they can be followed, else throws ARGUMENT_INVALID. */
export function checked(options: LonghaulModelOptions): LonghaulModelOptions {
  const { session, history = "caller" } = options ?? {};
  if (typeof session?.window !== "function") throw invalid("session", session, "an open session of a kernel");
  if (history !== "caller" && history !== "session")
    throw invalid("history", history, '"caller" or "session"');
  return options;
}

function invalid(name: string, value: unknown, wanted: string): LonghaulError {
  return new LonghaulError(
    "ARGUMENT_INVALID",
    `${name} is ${JSON.stringify(value)}; it has to be ${wanted}.`,
    {
      details: { argument: name },
    },
  );
}
