import type { ChildProcess } from "node:child_process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { CommandInput } from "./command.ts";

/** Writes a program's input as fast as it reads, and closes it; a program that does not read it has its reasons. */
export function feed(child: ChildProcess, input: CommandInput | undefined): void {
  if (input === undefined || !child.stdin) return;
  const source = typeof input === "string" || input instanceof Uint8Array ? [input] : input;
  pipeline(Readable.from(source, { objectMode: true }), child.stdin).catch(() => child.stdin?.destroy());
}
