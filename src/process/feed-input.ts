import type { ChildProcess } from "node:child_process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { CommandInput } from "./command.ts";

/** Pipes the input to a program and closes it; errors are ignored, because a program may stop reading. */
export function feedInput(child: ChildProcess, input: CommandInput | undefined): void {
  if (input === undefined || !child.stdin) return;
  const source = typeof input === "string" || input instanceof Uint8Array ? [input] : input;
  pipeline(Readable.from(source, { objectMode: true }), child.stdin).catch(() => child.stdin?.destroy());
}
